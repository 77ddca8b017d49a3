import Synchronization

/// What a pool's threads have done since the pool was made: a snapshot, for a metrics exporter or a benchmark.
///
/// Each thread counts for itself, with plain increments. A snapshot may be taken at any time and from any thread. The
/// numbers of a snapshot are not of one instant: they are exact once the pool is idle. They only grow.
///
/// ```swift
/// let backend = StealingBackend(workers: 4)
/// let queue = OperationQueue(backend: backend)
/// let before = backend.statistics
/// queue.addOperation {}
/// queue.waitUntilAllOperationsAreFinished()
/// print(backend.statistics.jobs - before.jobs)
/// ```
public struct PoolStatistics: Hashable, Sendable {
  /// What one worker has done. A worker of a work-stealing pool outlives its threads.
  public struct Worker: Hashable, Sendable {
    /// Jobs that it ran. An operation is one job, unless it was cancelled before it started, or was run by a thread that
    /// waited for it.
    public var jobs: UInt64 = 0
    /// Jobs that it took from the lists for jobs from outside.
    public var fromOutside: UInt64 = 0
    /// Jobs that it took from other workers.
    public var steals: UInt64 = 0
    /// Searches that found nothing, after which it went to sleep.
    public var failedSearches: UInt64 = 0
    /// How often it went to sleep.
    public var sleeps: UInt64 = 0

    /// Nothing has been done.
    public init() {}

    /// Adds what another worker has done.
    package mutating func add(_ other: Worker) {
      jobs += other.jobs
      fromOutside += other.fromOutside
      steals += other.steals
      failedSearches += other.failedSearches
      sleeps += other.sleeps
    }
  }

  /// The workers, in the order in which they were made.
  public var workers: [Worker]
  /// Sleeping threads that were woken because jobs came.
  public var wakes: UInt64
  /// Threads that were started.
  public var threadsStarted: UInt64
  /// How often a blocked thread gave its place to another one: it said so, or the monitor noticed.
  public var replacements: UInt64

  /// Jobs that were run.
  public var jobs: UInt64 { sum(\.jobs) }
  /// Jobs that came from outside of the pool and were taken by a worker.
  public var fromOutside: UInt64 { sum(\.fromOutside) }
  /// Jobs that a worker took from another worker.
  public var steals: UInt64 { sum(\.steals) }
  /// Searches that found nothing.
  public var failedSearches: UInt64 { sum(\.failedSearches) }
  /// How often a thread went to sleep.
  public var sleeps: UInt64 { sum(\.sleeps) }

  package init(workers: [Worker], wakes: UInt64, threadsStarted: UInt64, replacements: UInt64) {
    self.workers = workers
    self.wakes = wakes
    self.threadsStarted = threadsStarted
    self.replacements = replacements
  }

  private func sum(_ count: (Worker) -> UInt64) -> UInt64 { workers.reduce(0) { $0 + count($1) } }
}

/// What one worker counts of itself, besides its jobs. Only the thread that is the worker writes, so an increment is a load and a store.
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
