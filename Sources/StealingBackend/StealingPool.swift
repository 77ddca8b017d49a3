import CPlatform
import OperationCore
import Primitives
import Scheduling
import Synchronization

/// The pool itself, kept alive by its threads. This file holds the ways by which jobs go in. The rest is in `Worker`,
/// `Sleep`, `Blocking`, `Shutdown`.
final class StealingPool: @unchecked Sendable {
  // Sendable: the fields are atomics, or guarded by `sleepLock`, or only ever appended to and
  // published by `workersMade` (`workers`).

  typealias JobInjector = Injector<JobNode>

  /// The pool's threads as a whole: their number, limit, monitor and end.
  let threads: PoolThreads
  let fairnessInterval: Int
  let strategy: StealingStrategy
  /// Whether the strategy is the default: then a job asks it nothing else.
  private let isUsual: Bool
  private let hasLevels: Bool
  let runsSuccessors: Bool
  let runLength: Int
  /// Whether jobs that workers add go to the lists that all share.
  private let sharesAll: Bool
  /// Whether each job of a batch goes to a list of its own choice.
  private let showsEach: Bool
  /// Whether a thief may take a worker's only job before it would otherwise sleep.
  let robsAll: Bool
  /// The most jobs that a worker without work takes from outside at once.
  let outsideBatch: Int
  /// The fewest jobs submitted together that call for more than one searching thread.
  private let batchThatWakes: Int
  /// Work from outside: an injector for each level, in each place.
  let injectors: UnsafeMutablePointer<PaddedPointer<JobInjector>>
  /// The number of places for work from outside: one, or as many as workers.
  let placeCount: Int
  /// How many jobs went to a place, when there are several.
  private let placed = PaddedPointer(Atomic<Int>(0))
  /// All jobs, when the strategy has them in a multi-queue; without lists otherwise.
  let multiQueue: MultiQueue
  /// One bit for each level: some worker or injector may have a job of that level. Every worker reads the hint for
  /// every job. The hint is written when a level comes or goes. The hint is only for order: no job depends on it.
  let levelHint = PaddedPointer(Atomic<UInt32>(0))
  /// The number of threads, and what they do.
  let sleepWord = PaddedPointer(Atomic<UInt64>(0))
  /// At most this many threads are active: the number of workers plus the monitor's bonus.
  let activeLimit: Atomic<Int>

  let sleepLock = Locked(Sleepers())

  let workers: UnsafeMutablePointer<Unmanaged<Worker>>
  let workersMade = Atomic<Int>(0)

  let stopping = Atomic<Bool>(false)

  /// How many threads may search, when the strategy adapts that number.
  let adaptedSearchers = Atomic<Int>(1)
  /// For `statistics`.
  let wakes = Atomic<UInt64>(0)
  let replacements = Atomic<UInt64>(0)

  init(workerCount: Int, fairnessInterval: Int, threadLimit: Int, strategy: StealingStrategy) {
    self.strategy = strategy
    isUsual = strategy == StealingStrategy()
    hasLevels = strategy.priorities != .ignored
    runsSuccessors = strategy.successor == .runs
    runLength = strategy.runLength
    sharesAll = strategy.priorities == .strict
    robsAll = strategy.leastJobs == 1
    outsideBatch = sharesAll ? 1 : strategy.outsideBatch
    placeCount = strategy.outsidePlace == .injector ? 1 : workerCount
    multiQueue = MultiQueue(
      lists: strategy.priorities.listsPerWorker * workerCount, stickiness: strategy.priorities.stickiness,
      fairnessInterval: fairnessInterval)
    showsEach = sharesAll || placeCount > 1 || multiQueue.isUsed
    batchThatWakes =
      (2...Self.largestBatchThatWakes).first { strategy.waking.searchersWanted(jobs: $0, workers: workerCount) > 1 }
      ?? .max
    threads = PoolThreads(
      poolName: "work-stealing", monitorName: "steal-monitor", workerCount: workerCount, limit: threadLimit)
    self.fairnessInterval = fairnessInterval
    workers = .allocate(capacity: threads.limit)
    injectors = .allocate(capacity: placeCount * Job.levels)
    for list in 0..<placeCount * Job.levels { (injectors + list).initialize(to: PaddedPointer(JobInjector())) }
    activeLimit = Atomic(workerCount)
  }

  deinit {
    for index in 0..<workersMade.load(ordering: .acquiring) { workers[index].release() }
    workers.deallocate()
    for list in 0..<placeCount * Job.levels { injectors[list].deallocate() }
    injectors.deallocate()
    placed.deallocate()
    levelHint.deallocate()
    sleepWord.deallocate()
  }

  /// No waking asks for fewer than one more thread for this number of jobs.
  private static let largestBatchThatWakes = 1_024

  /// The level at which a job is queued.
  @inline(__always)
  func level(of job: Job) -> Int { hasLevels ? job.level : Job.middleLevel }

  var workerCount: Int { threads.workerCount }
  var threadsCreated: Int { threads.createdCount }

  var sleepNow: SleepWord { SleepWord(bits: sleepWord.pointer.pointee.load(ordering: .sequentiallyConsistent)) }

  /// The worker whose thread is the calling one; nil outside of the pool.
  @inline(__always)
  var currentWorker: Unmanaged<Worker>? { WorkerLocal.current(of: self, as: Worker.self) }

  // MARK: - Submitting

  func submit(_ job: Job) {
    guard isUsual else { return submitByStrategy(job) }
    let level = job.level
    if let worker = currentWorker {
      worker._withUnsafeGuaranteedRef { $0.add(job.word, level: level) }
      // The fence stands between the push and the look at the sleepers. A thread that goes to sleep does the two the
      // other way round.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      hint(level)
    } else {
      if stopping.load(ordering: .relaxed), isRefused(job) { return }
      threads.checkNotForked()
      injectors[level].pointer.pointee.push(job.word)
      hint(level)
    }
    reactUsually()
  }

  /// Apart from `submit`, so that the default strategy costs nothing.
  @inline(never)
  private func submitByStrategy(_ job: Job) {
    guard mayEnter(job) else { return }
    show(job)
    reactByStrategy()
  }

  /// Whether a job may be submitted by this thread.
  private func mayEnter(_ job: Job) -> Bool {
    if currentWorker != nil { return true }
    if stopping.load(ordering: .relaxed), isRefused(job) { return false }
    threads.checkNotForked()
    return true
  }

  /// Makes a job visible where the strategy says. The last step is sequentially consistent.
  func show(_ job: Job) {
    let level = level(of: job)
    let worker = currentWorker
    if multiQueue.isUsed { return multiQueue.push(job.word, level: level, worker) }
    if let worker, !sharesAll {
      worker._withUnsafeGuaranteedRef { $0.add(job.word, level: level) }
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    } else {
      injectors[list(level: level)].pointer.pointee.push(job.word)
    }
    hint(level)
  }

  /// The injector for a job from outside.
  private func list(level: Int) -> Int {
    guard placeCount > 1 else { return level }
    let place = strategy.outsidePlace.list(
      of: placeCount, turn: placed.pointer.pointee.wrappingAdd(1, ordering: .relaxed).newValue & Int(Int32.max),
      random: { OutsideRandom.number(below: $0) },
      length: { place in
        let injector = injectors[place * Job.levels + level].pointer
        let waiting = injector.pointee.approximateCount + (injector.pointee.isEmpty ? 0 : 1)
        guard place < workersMade.load(ordering: .acquiring) else { return waiting }
        return waiting + workers[place]._withUnsafeGuaranteedRef { $0.count(level: level) }
      })
    return place * Job.levels + level
  }

  @inline(never)
  private func submitEach(_ jobs: consuming JobFIFO) {
    while case let job = jobs.popFirst(), job != 0 {
      if mayEnter(Job(word: job)) { show(Job(word: job)) }
    }
  }

  func submit(_ jobs: consuming JobFIFO) {
    let count = jobs.count
    if showsEach {
      submitEach(jobs)
    } else if let worker = currentWorker {
      var levels: UInt32 = 0
      worker._withUnsafeGuaranteedRef { worker in
        while case let job = jobs.popFirst(), job != 0 {
          let level = self.level(of: Job(word: job))
          worker.add(job, level: level)
          levels |= 1 << UInt32(level)
        }
      }
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      // Behind the fence. A hint that is read before the jobs are visible may be one that another worker is about to take
      // back, because that worker does not see the jobs yet.
      hint(levels: levels)
    } else {
      threads.checkNotForked()
      inject(jobs)
    }
    react()
    if count >= batchThatWakes { wakeMore(for: count) }
  }

  /// Several jobs were made visible, and somebody searches. The threads that sleep would otherwise wake one another in
  /// turn, and each takes 20 microseconds until it runs.
  @inline(never)
  private func wakeMore(for jobs: Int) {
    let wanted = strategy.waking.searchersWanted(jobs: jobs, workers: workerCount)
    for _ in 1..<wanted {
      let limit = activeLimit.load(ordering: .relaxed)
      guard case .activate = sleepNow.reaction(limit: limit, wanted: wanted) else { return }
      // The call for the first thread has waited already, if the system refuses threads.
      activate(wanted: wanted, mayInsist: false)
    }
  }

  private func inject(_ jobs: consuming JobFIFO) {
    // Successive jobs of one level go in with one exchange, linked the other way round: the newest is first.
    var newest: UInt = 0
    var oldest: UInt = 0
    var level = -1
    while case let job = jobs.popFirst(), job != 0 {
      if stopping.load(ordering: .relaxed), isRefused(Job(word: job)) { continue }
      let jobLevel = self.level(of: Job(word: job))
      if jobLevel != level {
        push(newest: newest, oldest: oldest, level: level)
        newest = 0
        oldest = job
        level = jobLevel
      }
      JobNode.setNext(of: job, to: newest)
      newest = job
    }
    push(newest: newest, oldest: oldest, level: level)
  }

  private func push(newest: UInt, oldest: UInt, level: Int) {
    guard newest != 0 else { return }
    injectors[level].pointer.pointee.push(newest: newest, oldest: oldest)
    hint(level)
  }

  /// Called after a job was made visible, behind a sequentially consistent operation.
  @inline(__always)
  func hint(_ level: Int) { hint(levels: 1 << UInt32(level)) }

  @inline(__always)
  private func hint(levels: UInt32) {
    if levels & ~levelHint.pointer.pointee.load(ordering: .relaxed) != 0 {
      levelHint.pointer.pointee.bitwiseOr(levels, ordering: .relaxed)
    }
  }

  /// Called after a job was made visible, behind a sequentially consistent operation.
  @inline(__always)
  func react() { if isUsual { reactUsually() } else { reactByStrategy() } }

  @inline(__always)
  private func reactUsually() {
    let limit = activeLimit.load(ordering: .relaxed)
    switch sleepNow.reaction(limit: limit) {
    case .nothing: return
    case .activate: activate()
    case .busy: armMonitor()
    }
  }

  @inline(never)
  private func reactByStrategy() {
    let wanted = strategy.waking.searchersWanted(jobs: 1, workers: workerCount)
    for number in 0..<wanted {
      switch sleepNow.reaction(limit: activeLimit.load(ordering: .relaxed), wanted: wanted) {
      case .nothing: return
      case .activate: activate(wanted: wanted, mayInsist: number == 0)
      case .busy:
        armMonitor()
        return
      }
    }
  }

  /// After `shutdown()`: traps, unless the job has nothing to do.
  @inline(never)
  private func isRefused(_ job: Job) -> Bool {
    if job.dropIfVoid() { return true }
    fatalError("Operations: a job was submitted to a work-stealing pool after shutdown()")
  }
}
