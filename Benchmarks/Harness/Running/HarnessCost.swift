import Glibc
import HarnessMeasuring
import HarnessWords

/// What the harness itself costs in a timed region, measured with a benchmark that has no queue.
package struct HarnessCost: Sendable {
  package let scenario: Scenario
  package let nsPerOp: Double
  package let voluntarySwitchesPerOp: Double
  /// Nil when nothing can count allocations.
  package let allocationsPerOp: Double?

  package init(_ scenario: Scenario, nsPerOp: Double, voluntarySwitchesPerOp: Double, allocationsPerOp: Double?) {
    (self.scenario, self.nsPerOp) = (scenario, nsPerOp)
    (self.voluntarySwitchesPerOp, self.allocationsPerOp) = (voluntarySwitchesPerOp, allocationsPerOp)
  }

  /// Whether the harness does without an allocation and without a lock per operation: an operation must cost less than
  /// one uncontended lock. What a value allocates for its own readings, after the clock has stopped, is thousandths per
  /// operation.
  package func passes(lockNanoseconds: Double) -> Bool {
    nsPerOp < lockNanoseconds && voluntarySwitchesPerOp < 0.001 && (allocationsPerOp ?? 0) < 0.01
  }

  /// How long taking and releasing an uncontended lock takes on this machine, in nanoseconds.
  package static func lockNanoseconds() -> Double {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    defer { mutex.deallocate() }
    pthread_mutex_init(mutex, nil)
    defer { pthread_mutex_destroy(mutex) }
    let rounds = 100_000
    var best = UInt64.max
    for _ in 0..<20 {
      let start = Clock.now()
      for _ in 0..<rounds {
        pthread_mutex_lock(mutex)
        pthread_mutex_unlock(mutex)
      }
      best = min(best, Clock.now() - start)
    }
    return Double(best) / Double(rounds)
  }
}
