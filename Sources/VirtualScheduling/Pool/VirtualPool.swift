import Scheduling

/// What a caller of a virtual pool has to do next.
package enum VirtualStep: Hashable, Sendable {
  /// A worker begins a job. The caller runs the body, and calls `finished` or `works`.
  case run(worker: Int, job: UInt)
  /// A body that `works` announced is over. The caller calls `finished`.
  case ended(worker: Int, job: UInt)
  /// A timer is due.
  case timer(Int)
}

/// A pool of virtual threads on one real thread, with a virtual clock.
///
/// The pool decides as `StealingBackend` or `ThreadPoolBackend` does, with the functions of `Scheduling`. What real
/// threads leave open is a choice of `VirtualChoices`. So the same calls with the same choices give the same schedule,
/// on every machine. `README.md` here has the model.
///
/// A job is a word of the caller's. Times are nanoseconds since the pool was made. A step takes O(log n) for n events,
/// whatever the number of workers, and reads no clock.
///
/// ```swift
/// let pool = VirtualPool(workers: 2, strategy: .stealing(StealingStrategy()), choices: VirtualChoices(seed: 1))
/// pool.submit(7, level: 2)
/// while let step = pool.next() {
///   switch step {
///   case .run(let worker, _): pool.works(worker, for: 1_000)
///   case .ended(let worker, _): pool.finished(worker)
///   case .timer: break
///   }
/// }
/// ```
package final class VirtualPool {
  /// The number of levels of urgency.
  package static var levels: Int { Levels.count }
  /// The level of a job without a wish.
  package static var middleLevel: Int { Levels.middle }

  /// How many jobs run at the same time when none of them blocks.
  package let workerCount: Int
  package let strategy: VirtualStrategy
  package let costs: VirtualCosts
  package let topology: VirtualTopology
  package var choices: VirtualChoices
  /// Chooses among the events of an instant; nil: each has the same chance.
  package var order: PriorityOrder?
  /// The virtual time, in nanoseconds.
  package internal(set) var now: Int64 = 0

  let fairnessInterval: Int
  private let threadLimit: Int
  /// Whether steps take time: otherwise searches and the monitor take none either.
  let isTimed: Bool

  var heap = EventHeap()
  var present = PresentEvents()
  var eventCount: UInt64 = 0
  var timers: Set<Int> = []
  var timerCount = 0

  var workers: [VirtualWorker] = []
  /// Sleeping workers, the latest sleeper last.
  var sleepers = WorkerRing()
  /// Workers that watch the lists, in no order.
  var watchers: [Int] = []
  /// How many threads search, sleep, and are blocked; all others of `workers` run jobs or are on their way.
  var searching = 0
  var blocked = 0
  /// The time that the present call has taken so far, for the thread that acts.
  var spent: Int64 = 0
  /// The worker that acts; -1 for a thread outside.
  var actor = -1
  var isMonitorArmed = false
  var lastMonitorLook = Int64.min / 2

  /// The lock of those that sleep, and the word with the counts of threads.
  var sleepLock = SharedLine()
  var sleepWord = SharedWord()
  /// The word with the levels that have jobs.
  var hintWord = SharedWord()
  var lists: StealingLists
  var shared: SharedList
  private var meter: RankMeter?
  private var jobCount = 0
  /// Jobs in all lists.
  var queued = 0

  /// Workers that keep forks to themselves.
  var forkOwners = NumberSet()
  /// Whether any job was a fork.
  var usesForks = false

  var wakes = 0
  var replacements = 0
  var looksInVain = 0
  var lostRaces = 0
  private var rankErrors = 0
  private var worstRankError = 0

  /// - Parameters:
  ///   - workers: how many jobs run at the same time, 1 or more.
  ///   - strategy: which pool, and how it schedules.
  ///   - costs: what the pool's steps cost.
  ///   - topology: how far workers are from each other.
  ///   - choices: what real threads leave open.
  ///   - fairnessInterval: after this number of jobs, one of the lowest level goes first; 0 for never.
  ///   - threadLimit: the most threads, blocked ones included.
  ///   - isWarm: whether all workers are there from the start, asleep, as after earlier work. Otherwise threads start
  ///     when they are needed.
  ///   - measuresRank: whether to count rank errors. A job then takes O(log n) more time, for n jobs so far, and memory
  ///     that stays.
  package init(
    workers: Int, strategy: VirtualStrategy, costs: VirtualCosts = .none, topology: VirtualTopology = .flat,
    choices: VirtualChoices, fairnessInterval: Int = Turns.usualFairnessInterval, threadLimit: Int = .max,
    isWarm: Bool = false,
    measuresRank: Bool = false
  ) {
    precondition(workers > 0, "a pool has a worker")
    precondition(threadLimit >= workers, "a pool may have a thread for each worker")
    workerCount = workers
    self.strategy = strategy
    self.costs = costs
    self.topology = topology
    self.choices = choices
    self.fairnessInterval = fairnessInterval
    self.threadLimit = threadLimit
    isTimed = costs != .none
    var stealing = StealingStrategy()
    var threadPool = ThreadPoolStrategy()
    switch strategy {
    case .stealing(let chosen): stealing = chosen
    case .threadPool(let chosen): threadPool = chosen
    }
    lists = StealingLists(stealing, workers: workers, fairnessInterval: fairnessInterval)
    shared = SharedList(threadPool, fairnessInterval: fairnessInterval)
    meter = measuresRank ? RankMeter() : nil
    if isWarm {
      // The worker with the lowest number is the latest sleeper.
      for _ in 0..<workers { _ = newWorker() }
      for index in (0..<workers).reversed() {
        self.workers[index].state = .sleeping
        self.workers[index].idleSince = 0
        sleepers.append(index)
      }
    }
  }

  // MARK: - Jobs

  /// Submits a job.
  /// - Parameters:
  ///   - job: what `next` gives back.
  ///   - level: how urgent the job is: 0 to 4.
  ///   - worker: the worker that submits, which runs a job; nil for a thread outside.
  /// - Returns: how long the submitting thread was busy. A worker pays this time itself before it goes on.
  @discardableResult
  package func submit(_ job: UInt, level: Int = VirtualPool.middleLevel, by worker: Int? = nil) -> Int64 {
    acting(worker) {
      spent += worker == nil ? costs.submit : costs.add
      switch strategy {
      case .stealing: submitStealing(made(job, level: level))
      case .threadPool: submitShared(made(job, level: level))
      }
    }
  }

  /// Submits jobs that became ready together, in their order. See `submit(_:level:by:)`. From outside they go in with
  /// one exchange, linked to each other: each but the first costs what a moved job costs.
  @discardableResult
  package func submit(_ jobs: [(job: UInt, level: Int)], by worker: Int? = nil) -> Int64 {
    if jobs.isEmpty { return 0 }
    return acting(worker) {
      let further = worker == nil ? costs.move : costs.add
      spent += (worker == nil ? costs.submit : costs.add) + further * Int64(jobs.count - 1)
      let jobs = jobs.map { made($0.job, level: $0.level) }
      switch strategy {
      case .stealing: submitStealing(jobs)
      case .threadPool: submitShared(jobs)
      }
    }
  }

  /// Says how long the body takes that a worker has begun. `next` gives `ended` when it is over.
  package func works(_ worker: Int, for duration: Int64) {
    expectRunning(worker)
    schedule(.bodyEnds, worker, at: now + workers[worker].owed + max(0, duration))
    workers[worker].owed = 0
  }

  /// Says that the job of a worker has ended.
  /// - Parameters:
  ///   - edges: how many dependencies the end has resolved.
  ///   - took: how long the worker is busy from now on before it goes on, in nanoseconds.
  ///   - successor: a job that the end made ready and that is handed to this worker.
  package func finished(
    _ worker: Int, edges: Int = 0, took: Int64 = 0, successor: (job: UInt, level: Int)? = nil
  ) {
    expectRunning(worker)
    begin(worker)
    spent += max(0, took) + costs.edge * Int64(edges)
    if let successor, follow(worker, made(successor.job, level: successor.level)) {
      // The thread runs the successor at once.
    } else {
      schedule(.look, worker, at: now + spent)
      workers[worker].state = .looking
    }
    workers[worker].owed = 0
  }

  /// What happens to a successor.
  /// - Returns: whether the thread runs it at once.
  private func follow(_ worker: Int, _ job: QueuedJob) -> Bool {
    guard strategy.successor == .runs else {
      spent += costs.add
      show(job)
      if strategy.successor == .queuedAndWakes { reactToOne() } else { armMonitor() }
      return false
    }
    if workers[worker].run.isQueued(hasOthers: queued > 0, isOutranked: givesWay(job)) {
      spent += costs.add
      show(job)
      reactToOne()
      return false
    }
    if let meter { countRank(meter.count(from: Int(job.level))) }
    begin(job, on: worker)
    return true
  }

  // MARK: - Blocking

  /// Says that the body of a worker waits: another thread may take the worker's place.
  package func blocks(_ worker: Int) {
    expectRunning(worker)
    acting(worker) {
      workers[worker].state = .blocked
      blocked += 1
      replacements += 1
      switch strategy {
      case .stealing: if searching == 0, queued > 0 { activate() }
      case .threadPool: activateShared(queued)
      }
    }
  }

  /// Says that the body of a worker goes on.
  package func unblocks(_ worker: Int) {
    precondition(workers[worker].state == .blocked, "worker \(worker) is not blocked")
    blocked -= 1
    workers[worker].state = .running
  }

  /// Whether another thread may take the place of a thread that blocks.
  package var isFull: Bool { workers.count >= threadLimit && sleepers.isEmpty }

  /// Jobs that wait in lists.
  package var queuedCount: Int { queued }

  /// What the threads have done so far; O(workers).
  package var statistics: VirtualStatistics {
    VirtualStatistics(
      pool: PoolStatistics(
        workers: workers.map(\.counts), wakes: UInt64(wakes), threadsStarted: UInt64(workers.count),
        replacements: UInt64(replacements)),
      idle: workers.reduce(0) { sum, worker in
        sum + worker.idle + (worker.idleSince.map { max(0, now - $0) } ?? 0)
      },
      looksInVain: looksInVain, lostRaces: lostRaces, rankErrors: rankErrors, worstRankError: worstRankError)
  }

  // MARK: - What the other files use

  private func expectRunning(_ worker: Int) {
    precondition(
      workers.indices.contains(worker) && workers[worker].state == .running, "worker \(worker) runs no body")
  }

  /// The level at which a job is queued.
  func made(_ job: UInt, level: Int) -> QueuedJob {
    precondition(0..<Self.levels ~= level, "there is no level \(level): it is from 0 to \(Self.levels - 1)")
    return QueuedJob(
      word: job, level: Int32(strategy.hasLevels ? level : Self.middleLevel), maker: Int32(actor), number: 0)
  }

  /// A thread acts: what it does takes time, from what it owes on.
  func begin(_ worker: Int) {
    actor = worker
    spent = worker < 0 ? 0 : workers[worker].owed
  }

  @discardableResult
  func acting(_ worker: Int?, _ body: () -> Void) -> Int64 {
    let actor = worker ?? -1
    begin(actor)
    let before = spent
    body()
    if actor >= 0 { workers[actor].owed = spent }
    return spent - before
  }

  /// Counts a job as queued.
  func enqueued(_ job: QueuedJob) -> QueuedJob {
    var job = job
    job.number = jobCount
    jobCount += 1
    queued += 1
    meter?.add(job)
    return job
  }

  /// Counts a job as taken for running.
  func dequeued(_ job: QueuedJob) {
    queued -= 1
    if usesForks, job.maker >= 0 {
      workers[Int(job.maker)].shownForks = max(0, workers[Int(job.maker)].shownForks - 1)
    }
    guard meter != nil else { return }
    countRank(meter!.take(job))
  }

  private func countRank(_ error: Int) {
    rankErrors += error
    worstRankError = max(worstRankError, error)
  }

  /// Begins a job at the time that the acting thread has reached.
  func begin(_ job: QueuedJob, on worker: Int) {
    if let since = workers[worker].idleSince {
      workers[worker].idle += now - since
      workers[worker].idleSince = nil
    }
    workers[worker].job = job
    workers[worker].state = .beginning
    if job.maker != Int32(worker) {
      spent += costs.miss[distance(worker, Int(job.maker))]
    }
    schedule(.begin, worker, at: now + spent + costs.operation)
  }

  /// How far two workers are from each other. A spare thread is where the worker is whose place it takes. A thread
  /// outside, which is -1, is in the group of the other one.
  func distance(_ one: Int, _ other: Int) -> VirtualTopology.Distance {
    if one < 0 || other < 0 { return one == other ? .none : .sameGroup }
    return topology.distance(one % workerCount, other % workerCount)
  }

  /// A worker that has no place yet; nil at the limit of threads.
  func newWorker() -> Int? {
    let index = workers.count
    guard index < threadLimit else { return nil }
    let memory = WorkerMemory(
      index: index, fairnessInterval: fairnessInterval, outsideInterval: rules.strategy.outsideInterval)
    var worker = VirtualWorker(memory: memory, search: strategy.search)
    worker.idleSince = now
    workers.append(worker)
    lists.addWorker()
    return index
  }

  /// The sleeper to wake; nil when nobody sleeps.
  func nextSleeper() -> Int? {
    switch strategy.sleeper {
    case .lastAsleep: sleepers.popLast()
    case .firstAsleep: sleepers.popFirst()
    }
  }

  // MARK: - What several CPUs want

  /// Waits until a line has come over to the acting thread, and keeps it from others for a while.
  /// - Parameter lines: how many lines move together, such as that of a lock and that of what the lock guards.
  func use(_ line: inout SharedLine, lines: Int64 = 1, for hold: Int64 = 0) {
    guard isTimed else { return }
    let transfer = line.last.map { lines * costs.transfer[distance(actor, Int($0))] } ?? 0
    spent = line.promise(to: actor, from: now + spent, for: transfer + hold, now: now) - now
  }

  /// Takes a lock, changes what it guards, and gives the lock back.
  func hold(_ lock: inout SharedLine) { use(&lock, lines: 2, for: costs.list) }

  /// Reads a word that others change.
  func read(_ word: inout SharedWord) { if isTimed, word.isRead(by: actor) { use(&word.line) } }

  /// Changes a word that others read.
  func write(_ word: inout SharedWord) {
    guard isTimed else { return }
    use(&word.line)
    word.isWritten(by: actor)
  }
}
