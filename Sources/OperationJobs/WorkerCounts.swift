import Scheduling
import Synchronization

/// What one worker counts of itself, besides its jobs. Only the worker's own thread writes. So an increment is one load
/// and one store.
package struct WorkerCounts: ~Copyable {
  package let fromOutside = Atomic<UInt64>(0)
  package let steals = Atomic<UInt64>(0)
  package let failedSearches = Atomic<UInt64>(0)
  package let sleeps = Atomic<UInt64>(0)

  package init() {}

  /// The counts at some instant.
  /// - Parameter jobs: the jobs that the thread has begun, which `WatchedThread` counts.
  package func now(jobs: Int) -> PoolStatistics.Worker {
    var worker = PoolStatistics.Worker()
    worker.jobs = UInt64(jobs)
    worker.fromOutside = fromOutside.load(ordering: .relaxed)
    worker.steals = steals.load(ordering: .relaxed)
    worker.failedSearches = failedSearches.load(ordering: .relaxed)
    worker.sleeps = sleeps.load(ordering: .relaxed)
    return worker
  }
}

extension Atomic where Value == UInt64 {
  /// Adds to a count that only the calling thread writes.
  @inlinable @inline(__always)
  package func count(_ more: UInt64 = 1) { store(load(ordering: .relaxed) &+ more, ordering: .relaxed) }
}
