import Glibc
import TestSupport

/// Stress of all backends in turn, in one process, for a long time: what accumulates shows.
public struct Soak {
  public static let secondsPerTurn = 5.0
  /// Threads of Dispatch linger longest: five seconds.
  private static let lingering = 10
  private static let patienceForThreads = 60

  private let backends: [TestBackend]
  private let seconds: Double
  private let seed: UInt64
  private let say: (String) -> Void
  private var done: [Totals]
  private var resident: [Int] = []

  /// One backend's part.
  private struct Totals {
    var rounds = 0
    var operations = 0
    /// At the end of its last turn.
    var footprint = ProcessFootprint(residentBytes: 0, threads: 0)
  }

  public init(_ backends: [TestBackend], seconds: Double, seed: UInt64, say: @escaping (String) -> Void) {
    (self.backends, self.seconds, self.seed, self.say) = (backends, seconds, seed, say)
    done = backends.map { _ in Totals() }
  }

  /// Every backend has a turn before anything is measured: what the process keeps for good has been made by then.
  /// - Returns: what is wrong, one line each; nothing when all is well.
  public mutating func run() -> [String] {
    for index in backends.indices {
      let failures = turn(index)
      guard failures.isEmpty else { return failures }
    }
    sleep(UInt32(Self.lingering))
    let base = ProcessFootprint.now.threads
    say("after one turn of each: \(FlatMemory.megabytes(ProcessFootprint.now.residentBytes)), \(base) threads")
    let start = ContinuousClock.now
    var minutes = 1
    while ContinuousClock.now < start + .seconds(seconds) {
      for index in backends.indices {
        let failures = turn(index)
        guard failures.isEmpty else { return failures }
        resident.append(ProcessFootprint.now.residentBytes)
        if ContinuousClock.now >= start + .seconds(60 * minutes) {
          report(minutes)
          minutes += 1
        }
      }
    }
    return [FlatMemory.objection(resident), threadsLeft(over: base)].compactMap { $0 }
  }

  private mutating func turn(_ index: Int) -> [String] {
    let settings = StressSettings(seconds: Self.secondsPerTurn, seed: seed &+ UInt64(done[index].rounds))
    let report = StressRun.run(backends[index], settings)
    done[index].rounds += report.rounds
    done[index].operations += report.ran + report.cancelled
    done[index].footprint = .now
    return report.failures
  }

  private func report(_ minutes: Int) {
    for (backend, total) in zip(backends, done) {
      say(
        "\(minutes) min, \(backend): \(total.rounds) rounds, \(total.operations) operations, "
          + "\(FlatMemory.megabytes(total.footprint.residentBytes)), \(total.footprint.threads) threads")
    }
  }

  /// Surplus threads live for a second without work.
  private func threadsLeft(over base: Int) -> String? {
    var threads = ProcessFootprint.now.threads
    for _ in 0..<Self.patienceForThreads where threads > base {
      sleep(1)
      threads = ProcessFootprint.now.threads
    }
    say("at the end: \(FlatMemory.megabytes(ProcessFootprint.now.residentBytes)), \(threads) threads")
    return threads > base
      ? "threads are left: \(threads) a minute after the end, \(base) at the beginning" : nil
  }
}
