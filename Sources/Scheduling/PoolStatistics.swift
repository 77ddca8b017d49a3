/// What a pool's threads have done since the pool was made: a snapshot, for a metrics exporter or a benchmark.
///
/// Each worker counts for itself, with plain increments. A snapshot may be taken at any time and from any thread. The
/// numbers of a snapshot are not of one instant, because other threads go on counting. The numbers are exact once the
/// pool is idle. The sums over all workers only grow.
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
  /// What one worker has done. A worker of a work-stealing pool outlives its thread, and goes on counting with the next
  /// thread. A worker of a thread pool is one thread.
  public struct Worker: Hashable, Sendable {
    /// Jobs that the worker ran. An operation is one job. Two kinds of operations need not be: those that were
    /// cancelled before they started, and those that a waiting thread ran.
    public var jobs: UInt64 = 0
    /// Jobs that the worker took from the lists for jobs from outside.
    public var fromOutside: UInt64 = 0
    /// Jobs that the worker took from other workers.
    public var steals: UInt64 = 0
    /// Searches of the worker that found nothing. The worker then sleeps, unless a job comes just before.
    public var failedSearches: UInt64 = 0
    /// How often the worker went to sleep.
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

  /// The workers, in the order in which they were made. A thread pool removes the entry of a thread that has ended, and
  /// has one more entry at the end for all ended threads together.
  public var workers: [Worker]
  /// Sleeping threads that were woken because jobs came.
  public var wakes: UInt64
  /// Threads that were started.
  public var threadsStarted: UInt64
  /// How often a blocked thread gave its place up, so that another thread could run: the thread announced that it
  /// blocks, or the monitor noticed.
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
