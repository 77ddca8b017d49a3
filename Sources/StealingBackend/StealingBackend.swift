import OperationJobs
import Primitives
import Scheduling

/// The work-stealing pool: every worker has lock-free deques of its own, one per priority. Jobs from outside go
/// through a lock-free injector. A worker without jobs takes jobs from the others.
///
/// Threads start when needed, at most `workers` of them plus one for each that blocks. An idle pool uses no CPU.
/// Among all queues on the pool the most urgent job goes first, up to jobs that are being started on other workers.
/// The exception is the turn that `Fairness` gives the lowest level; each worker counts its jobs for that by itself.
/// A worker whose jobs add jobs looks outside once for every four of them, on the same level.
public final class StealingBackend: Backend {
  /// `stealing`; with a strategy also the decisions that differ from the default, such as `stealing(own=lifo)`.
  public let name: String
  /// How many threads run jobs at the same time now. A pool for which no number was chosen follows the CPUs that the
  /// process may use. It looks every 100 milliseconds while jobs wait for a thread. A thread that has no CPU any more
  /// finishes its job first. Such a pool also lends CPUs to the running threads of other backends. Fewer threads
  /// run jobs then, and this number stays.
  public var workerCount: Int { pool.threads.workers.now }
  /// How the pool schedules.
  public let strategy: StealingStrategy
  private let pool: StealingPool
  /// Written once, at the end of `init`.
  nonisolated(unsafe) package private(set) var home: BackendHome!

  /// - Parameters:
  ///   - workers: threads that run jobs at the same time; by default what OPERATIONS_WORKERS says, or else the CPUs
  ///     that this process may use (affinity mask and cgroup quota). The pool then follows the CPUs: see
  ///     `workerCount`. Traps when it is not positive.
  ///   - fairnessInterval: see `Fairness`. Traps when it is negative.
  ///   - strategy: how the pool schedules. Traps when a number in it is out of the range that the decision has.
  public convenience init(
    workers: Int? = nil, fairnessInterval: Int = Fairness.defaultInterval, strategy: StealingStrategy = .init()
  ) {
    self.init(workers: WorkerNumber(workers), fairnessInterval: fairnessInterval, strategy: strategy)
  }

  /// - Parameter threadLimit: the most threads that the pool may have, blocked threads included.
  package init(
    workers: WorkerNumber, fairnessInterval: Int = Fairness.defaultInterval,
    threadLimit: Int = ThreadShortage.threadLimit, strategy: StealingStrategy = .init()
  ) {
    self.strategy = strategy.checked
    name = strategy.name(of: "stealing")
    pool = StealingPool(
      workers: workers, fairnessInterval: Fairness.checked(fairnessInterval), threadLimit: threadLimit,
      strategy: strategy)
    home = BackendHome(self, host: pool, visibility: strategy.forks)
  }

  deinit { pool.stop() }

  /// The pool that `OperationQueue()` uses. The pool is never shut down.
  public static let shared = StealingBackend()

  public func submit(_ job: Job) { pool.submit(job) }

  public func submit(contentsOf jobs: consuming JobList) { pool.submit(jobs.takeAll()) }

  public func whileBlocked(_ body: () -> Void) { pool.whileBlocked(body) }

  public var replacesBlockedThreads: Bool { strategy.waiting == .givesPlace && !pool.lacksThreads }

  /// Threads started since the pool was made, spares included.
  public var threadsCreated: Int { pool.threadsCreated }

  /// What the pool's threads have done so far. Costs a look at each worker.
  ///
  /// In a pool with `priorities` `strict`, `fromOutside` holds jobs that workers added too, since all share one list.
  /// With a multi-queue `fromOutside` and `steals` are 0.
  public var statistics: PoolStatistics { pool.statistics }

  /// Runs the queued jobs and the jobs that they add, and waits for operations that have begun and go on elsewhere,
  /// such as asynchronous bodies that are asleep. Returns when every thread has ended. Submitting a job afterwards
  /// traps. Traps on the shared pool and inside one of the pool's jobs.
  ///
  /// The pool cannot know of tasks that prefer its `taskExecutor`, or of actors on a `serialExecutor()`, while no job
  /// of theirs is queued: end them first. Their next job traps.
  public func shutdown() {
    home.checkShutdown(isShared: self === Self.shared)
    pool.stop()
    pool.join()
  }
}

extension StealingBackend: SupervisedBackend {
  package var lacksThreads: Bool { pool.lacksThreads }
  package var report: BackendReport { pool.report }
  package var givenUpRows: [Int] { strategy.givenUpRows }
  package func countBegun() { pool.threads.begun.begin() }
  package func countEnded() { pool.threads.begun.end() }
}

extension Backend where Self == StealingBackend {
  /// The shared work-stealing pool.
  public static var stealing: StealingBackend { .shared }
  /// A new work-stealing pool.
  public static func stealing(
    workers: Int, fairnessInterval: Int = Fairness.defaultInterval, strategy: StealingStrategy = .init()
  ) -> StealingBackend {
    StealingBackend(workers: workers, fairnessInterval: fairnessInterval, strategy: strategy)
  }
}
