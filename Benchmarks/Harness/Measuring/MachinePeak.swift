import Glibc
import Synchronization

/// What the CPUs can do at best when all of them spin at once. The peak is less than the sum of what each CPU can do
/// alone when two CPUs share a core or the clock drops.
package enum MachinePeak {
  private static let stretch = 1_000_000.0
  private static let stretches = 12

  /// Nominal nanoseconds of spinning that one of `threads` threads completes in a nanosecond. The best of several short
  /// stretches counts, so that a disturbance by other programs does not lower the peak. A stretch lasts from the start
  /// of the first thread to the end of the last thread, because threads that had to take turns on one CPU did not spin
  /// at once.
  package static func measure(threads: Int, spin: Spin) -> Double {
    let rounds = spin.rounds(nanoseconds: stretch)
    let shortest = PeakStretches(threads: threads, stretches: stretches, rounds: rounds).run().min()!
    return stretch / Double(shortest)
  }
}

/// Threads that begin each stretch of spinning together.
private final class PeakStretches: Sendable {
  private let threads: Int
  private let stretches: Int
  private let rounds: Int
  private let arrived = Atomic<Int>(0)
  /// The time from the start of the first thread to the end of the last, for each stretch. Each thread writes after its
  /// clock has stopped.
  private let spans: Mutex<[ClosedRange<UInt64>?]>

  init(threads: Int, stretches: Int, rounds: Int) {
    (self.threads, self.stretches, self.rounds) = (threads, stretches, rounds)
    spans = Mutex([ClosedRange<UInt64>?](repeating: nil, count: stretches))
  }

  /// How long each stretch took, in nanoseconds.
  func run() -> [UInt64] {
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
    return spans.withLock { $0.map { max(1, $0!.upperBound - $0!.lowerBound) } }
  }

  private func spin() {
    for stretch in 0..<stretches {
      arrived.wrappingAdd(1, ordering: .acquiringAndReleasing)
      while arrived.load(ordering: .acquiring) < threads * (stretch + 1) {}
      let start = Clock.now()
      Spin.run(rounds: rounds)
      let end = Clock.now()
      spans.withLock { spans in
        let span = spans[stretch] ?? start...end
        spans[stretch] = min(span.lowerBound, start)...max(span.upperBound, end)
      }
    }
  }
}
