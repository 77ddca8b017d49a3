import CMeasure
import Glibc
import HarnessStatistics
import HarnessWords

/// Processes that keep CPUs busy, as other programs do. Each comes and goes by a seed, and is there half of the time.
/// They end with this object, or with the thread that made it.
package final class BusyProcesses {
  private let shared: UnsafeMutablePointer<opbench_busy>
  private let stays: [[UInt64]]
  private var children: [Child] = []
  private var turn: Range<UInt64>?

  /// How long a process is there on average, and how long away, in nanoseconds.
  private static let meanStay = 20e6
  /// After how many stays the first one comes again: some forty seconds.
  private static let count = 2_048

  /// Starts `count` processes, which sleep. Throws one line where there can be none.
  package init(_ count: Int, seed: UInt64) throws {
    guard let shared = opbench_share_busy() else { throw Self.refusal }
    self.shared = shared
    stays = (0..<count).map { number in
      ServiceTimes.exponential.times(Self.count, mean: Self.meanStay, seed: seed &+ UInt64(number)).map { UInt64($0) }
    }
    for stays in stays {
      let identifier = opbench_start_busy(shared, stays, UInt32(stays.count))
      guard identifier > 0 else { throw Self.refusal }
      children.append(Child(identifier, watched: false))
    }
  }

  /// The processes, but for one whose end was noticed.
  var identifiers: [pid_t] { children.map(\.identifier) }

  private static var refusal: Complaint {
    Complaint(
      .unavailable, "no process can be started that keeps a CPU busy: \(String(cString: strerror(errno)))")
  }

  deinit {
    for child in children {
      child.kill()
      _ = child.collect()
    }
    opbench_forget_busy(shared)
  }

  /// From now on each process comes and goes, beginning with its first stay.
  /// - Parameter window: between which times of the monotonic clock, unless `end` is called earlier.
  package func begin(_ window: Range<UInt64> = Clock.now()..<UInt64.max) {
    precondition(turn == nil && window.lowerBound > 0, "a crowd that has begun begins again")
    turn = window
    opbench_begin_busy(shared, window.lowerBound, window.upperBound)
  }

  /// Ends what `begin` began.
  /// - Returns: how long the processes wanted a CPU, in nanoseconds over all of them.
  @discardableResult
  package func end() throws -> UInt64 {
    guard let turn else { return 0 }
    self.turn = nil
    opbench_end_busy(shared)
    if let ended = children.firstIndex(where: { $0.state == .hasEnded }) {
      let ending = children.remove(at: ended).collect().ending
      throw CheckFailed("a process of the crowd, which was to keep a CPU busy, \(ending.description)")
    }
    let passed = max(turn.lowerBound, min(Clock.now(), turn.upperBound)) - turn.lowerBound
    return stays.map { Self.busy($0, within: passed) }.reduce(0, +)
  }

  /// How much of the first nanoseconds of a process falls into its stays.
  static func busy(_ stays: [UInt64], within passed: UInt64) -> UInt64 {
    var (left, busy, place) = (passed, UInt64(0), 0)
    while left > 0 {
      let part = min(left, stays[place % stays.count])
      if place.isMultiple(of: 2) { busy += part }
      left -= part
      place += 1
    }
    return busy
  }
}
