import HarnessMeasuring
import OperationBackends
import Synchronization

/// The pools that this process has made for its subject, and what they count of themselves.
public enum MadeBackends {
  /// Of each pool what it has counted; nil once the pool is gone.
  private static let made = Mutex<[@Sendable () -> PoolStatistics?]>([])

  static func add(_ backend: StealingBackend) {
    made.withLock { $0.append { [weak backend] in backend?.statistics } }
  }

  static func add(_ backend: ThreadPoolBackend) {
    made.withLock { $0.append { [weak backend] in backend?.statistics } }
  }

  /// The sums over all pools that there are; nil when there is none that counts.
  package static func counts() -> SchedulerCounts? {
    let pools = made.withLock { $0 }.compactMap { $0() }
    guard !pools.isEmpty else { return nil }
    return pools.reduce(into: SchedulerCounts()) { sum, pool in
      sum.steals += pool.steals
      sum.failedSteals += pool.failedSearches
      sum.wakes += pool.wakes
    }
  }
}
