import CPlatform
import OperationJobs
import Primitives
import Scheduling
import Synchronization

/// The pool itself, kept alive by its threads.
///
/// The files beside this one hold what a thread does, each behind its step: `Submitting`, `Finding` with its `Steps`,
/// `Working`, `Sleep`, `Blocking`, `Shutdown`. They say what the default strategy does. `ByStrategy` holds what only
/// another strategy does.
final class StealingPool: @unchecked Sendable {
  // Sendable: the fields are atomics, or guarded by `sleepLock`, or only ever appended to and
  // published by `madeCount` (`workers`).

  typealias JobInjector = Injector<JobNode>

  /// The pool's threads as a whole: their number, limit, monitor and end.
  let threads: PoolThreads
  let fairnessInterval: Int
  /// The strategy, and what follows from it.
  let rules: StealingRules
  /// Work from outside: an injector for each level, in each place.
  let injectors: UnsafeMutablePointer<PaddedPointer<JobInjector>>
  /// How many jobs went to a place, when there are several.
  let placed = PaddedPointer(Atomic<Int>(0))
  /// All jobs, when the strategy has them in a multi-queue; without lists otherwise.
  let multiQueue: MultiQueue
  /// One bit for each level: some worker or injector may have a job of that level. Every worker reads the hint for
  /// every job. The hint is written when a level comes or goes. The hint is only for order: no job depends on it.
  let levelHint = PaddedPointer(Atomic<UInt32>(0))
  /// The number of threads, and what they do.
  let sleepWord = PaddedPointer(Atomic<UInt64>(0))
  /// The number of workers plus the monitor's bonus: see `activeLimit`.
  let placeCount: Atomic<Int>
  /// How many workers have no CPU now.
  let withheld: Atomic<Int>

  let sleepLock = Locked(Sleepers())

  let workers: UnsafeMutablePointer<Unmanaged<Worker>>
  /// How many of `workers` there are.
  let madeCount = Atomic<Int>(0)

  let stopping = Atomic<Bool>(false)

  /// How many threads of others are in joins on this pool.
  let guests = Atomic<Int>(0)
  /// A job came that found every place taken, one by a guest: the last guest looks for it.
  let lacksPlaceForJob = Atomic<Bool>(false)
  /// How many threads may search, when the strategy adapts that number.
  let adaptedSearchers = Atomic<Int>(1)
  /// For `statistics`.
  let wakes = Atomic<UInt64>(0)
  let replacements = Atomic<UInt64>(0)

  init(workers number: WorkerNumber, fairnessInterval: Int, threadLimit: Int, strategy: StealingStrategy) {
    rules = StealingRules(strategy, workers: number.most)
    multiQueue = MultiQueue(
      lists: rules.multiQueueLists, stickiness: strategy.priorities.stickiness, fairnessInterval: fairnessInterval)
    threads = PoolThreads(
      poolName: "work-stealing", monitorName: "steal-monitor", workers: number, limit: threadLimit)
    self.fairnessInterval = fairnessInterval
    workers = .allocate(capacity: threads.limit)
    injectors = .allocate(capacity: rules.placeCount * Job.levels)
    for list in 0..<rules.placeCount * Job.levels { (injectors + list).initialize(to: PaddedPointer(JobInjector())) }
    placeCount = Atomic(number.most)
    withheld = Atomic(number.withheld)
  }

  deinit {
    dropTickets()
    for index in 0..<workersMade { workers[index].release() }
    workers.deallocate()
    for list in 0..<rules.placeCount * Job.levels { injectors[list].deallocate() }
    injectors.deallocate()
    placed.deallocate()
    levelHint.deallocate()
    sleepWord.deallocate()
  }

  /// The level at which a job is queued.
  @inline(__always)
  func level(of job: Job) -> Int { rules.hasLevels ? job.level : Job.middleLevel }

  var strategy: StealingStrategy { rules.strategy }
  var threadsCreated: Int { threads.createdCount }

  /// Those of the workers for which there is a CPU now.
  @inline(__always)
  var workersWithCPU: Int { workerCount - withheld.load(ordering: .relaxed) }

  /// At most this many threads are active. Guests count as active. One place is always left for a worker.
  @inline(__always)
  var activeLimit: Int {
    let places = placeCount.load(ordering: .relaxed)
    let withheld = withheld.load(ordering: .relaxed)
    return withheld == 0 ? places : places - max(0, min(withheld, workerCount - 1 - guests.load(ordering: .relaxed)))
  }

  var sleepNow: SleepWord { SleepWord(bits: sleepWord.pointer.pointee.load(ordering: .sequentiallyConsistent)) }

  /// The worker whose thread is the calling one; nil outside of the pool.
  @inline(__always)
  var currentWorker: Unmanaged<Worker>? { WorkerLocal.current(of: self, as: Worker.self) }
}
