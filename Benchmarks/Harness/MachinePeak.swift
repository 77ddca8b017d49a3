import Glibc
import Synchronization

/// What the CPUs can do at best when all of them spin at once: less than the sum of what each can do alone where two
/// share a core or the clock drops.
public enum MachinePeak {
  private static let stretch = 2_000_000.0
  private static let stretches = 5

  /// Nominal nanoseconds of spinning that one of so many threads completes in a nanosecond; the best of several short
  /// stretches, so that it is the machine's and not that of whoever disturbed it.
  public static func measure(threads: Int, spin: Spin) -> Double {
    let rounds = spin.rounds(nanoseconds: stretch)
    return PeakStretches(threads: threads, stretches: stretches, rounds: rounds).run().max()! * stretch
  }
}

/// Threads that begin each stretch of spinning together.
private final class PeakStretches: Sendable {
  private let threads: Int
  private let stretches: Int
  private let rounds: Int
  private let arrived = Atomic<Int>(0)
  /// For each stretch the mean over the threads of one over the nanoseconds that it took; added to after the clock has
  /// stopped.
  private let rates: Mutex<[Double]>

  init(threads: Int, stretches: Int, rounds: Int) {
    self.threads = threads
    self.stretches = stretches
    self.rounds = rounds
    rates = Mutex([Double](repeating: 0, count: stretches))
  }

  func run() -> [Double] {
    var handles = [pthread_t](repeating: 0, count: threads)
    for index in 0..<threads {
      let status = pthread_create(
        &handles[index], nil,
        { argument in
          Unmanaged<PeakStretches>.fromOpaque(argument!).takeRetainedValue().spin()
          return nil
        }, Unmanaged.passRetained(self).toOpaque())
      precondition(status == 0, "cannot create a thread: error \(status)")
    }
    for handle in handles { pthread_join(handle, nil) }
    return rates.withLock { $0 }
  }

  private func spin() {
    for stretch in 0..<stretches {
      arrived.wrappingAdd(1, ordering: .acquiringAndReleasing)
      while arrived.load(ordering: .acquiring) < threads * (stretch + 1) {}
      let start = Clock.now()
      Spin.run(rounds: rounds)
      let taken = Clock.now() - start
      rates.withLock { $0[stretch] += 1 / Double(max(taken, 1)) / Double(threads) }
    }
  }
}
