import CPlatform
import OperationCore
import Primitives
import Scheduling
import Synchronization

// Where a worker looks for its next job.

extension StealingPool {
  /// The next job, from the worker's own deques, the injectors and the other workers: the most urgent level that may
  /// have work goes first. 0 for none.
  func nextJob(_ worker: Worker) -> UInt {
    if worker.isTimeForTurn(), case let job = takeByTurn(worker), job != 0 { return job }
    while true {
      let own = worker.ownLevels
      let hints = levelHint.pointer.pointee.load(ordering: .relaxed)
      let ownBest = Self.highest(own)
      let anyBest = Self.highest(hints)
      if anyBest > ownBest {
        if case let job = takeFromOthers(worker, level: anyBest), job != 0 { return job }
        if !robsAll { return nextJobLeaving(worker, failed: anyBest) }
        // Two pools that hand single jobs to each other would otherwise write the hint twice for every job.
        if ownBest < 0, hints == 1 << UInt32(anyBest), sleepNow.isOnlyOneAwake { return 0 }
        retract(anyBest)
        if ownBest < 0, Self.highest(levelHint.pointer.pointee.load(ordering: .relaxed)) < 0 { return 0 }
        continue
      }
      // With a multi-queue, no worker has jobs of its own, and the hint names no level.
      if ownBest < 0 { return multiQueue.isUsed ? multiQueue.take(worker) : 0 }
      if worker.isTimeForOutside(), case let job = takeBesideOwn(worker, level: ownBest), job != 0 { return job }
      if case let job = worker.take(level: ownBest), job != 0 { return job }
    }
  }

  /// The same when a thief leaves workers with few jobs alone: a level that the hint names may then have jobs and give none.
  /// Each level is tried once. Apart from `nextJob`, so that the default strategy costs nothing.
  /// - Parameter level: the level that gave no job.
  @inline(never)
  private func nextJobLeaving(_ worker: Worker, failed level: Int) -> UInt {
    retract(level)
    var untried = ~(UInt32(1) << UInt32(level))
    while true {
      let ownBest = Self.highest(worker.ownLevels)
      let anyBest = Self.highest(levelHint.pointer.pointee.load(ordering: .relaxed) & untried)
      if anyBest > ownBest {
        if case let job = takeFromOthers(worker, level: anyBest), job != 0 { return job }
        retract(anyBest)
        untried &= ~(1 << UInt32(anyBest))
        continue
      }
      if ownBest < 0 { return 0 }
      if worker.isTimeForOutside(), case let job = takeBesideOwn(worker, level: ownBest), job != 0 { return job }
      if case let job = worker.take(level: ownBest), job != 0 { return job }
    }
  }

  /// The number of the highest bit that is set; -1 for none.
  @inline(__always)
  static func highest(_ bits: UInt32) -> Int { 31 - bits.leadingZeroBitCount }

  /// Takes a level's hint back: the hint was wrong, or all jobs of the level are in the worker's own deque. The hint
  /// is set again if a job came in between.
  private func retract(_ level: Int) {
    levelHint.pointer.pointee.bitwiseAnd(~(1 << UInt32(level)), ordering: .sequentiallyConsistent)
    if hasWork(level: level) { hint(level) }
  }

  func hasWork(level: Int) -> Bool {
    if !isOutsideEmpty(level: level) { return true }
    for index in 0..<workersMade.load(ordering: .acquiring)
    where !workers[index]._withUnsafeGuaranteedRef({ $0.isEmpty(level: level) }) {
      return true
    }
    return false
  }

  @inline(__always)
  private func isOutsideEmpty(level: Int) -> Bool {
    if placeCount == 1 { return injectors[level].pointer.pointee.isEmpty }
    return (0..<placeCount).allSatisfy { injectors[$0 * Job.levels + level].pointer.pointee.isEmpty }
  }

  /// A job of the level from outside, or else from another worker.
  private func takeFromOthers(_ worker: Worker, level: Int, least: Int? = nil) -> UInt {
    if case let job = takeInjected(worker, level: level), job != 0 { return job }
    return stealOne(worker, level: level, least: least ?? strategy.leastJobs)
  }

  private func takeInjected(_ worker: Worker, level: Int) -> UInt {
    takeInjected(worker, level: level, limit: outsideBatch)
  }

  private func takeInjected(_ worker: Worker, level: Int, limit: Int) -> UInt {
    placeCount == 1
      ? takeInjected(worker, list: level, level: level, limit: limit)
      : takeFromPlaces(worker, level: level, limit: limit)
  }

  /// With a place for each worker: from the worker's own place first, then from the others. Every eighth visit begins at
  /// another place, so that no place waits for its worker, which may be blocked.
  @inline(never)
  private func takeFromPlaces(_ worker: Worker, level: Int, limit: Int) -> UInt {
    let turn = worker.nextPlaceTurn()
    let first = turn.isMultiple(of: 8) ? worker.index + turn / 8 : worker.index
    for offset in 0..<placeCount {
      let list = (first + offset) % placeCount * Job.levels + level
      if case let job = takeInjected(worker, list: list, level: level, limit: limit), job != 0 { return job }
    }
    return 0
  }

  /// Moves a share of an injector to the worker, and takes the first job of the share.
  private func takeInjected(_ worker: Worker, list: Int, level: Int, limit: Int) -> UInt {
    guard !injectors[list].pointer.pointee.isEmpty else { return 0 }
    var batch = JobFIFO()
    let taken = injectors[list].pointer.pointee.take(limit: limit, consumerCount: workerCount, into: &batch).taken
    worker.counts.fromOutside.count(UInt64(truncatingIfNeeded: taken))
    let first = batch.popFirst()
    var moved = false
    while case let job = batch.popFirst(), job != 0 {
      worker.push(job, level: level)
      // The walk reads a job's first line alone; another thread has written the next one, too.
      cplatform_prefetch(job &+ 64)
      moved = true
    }
    if moved {
      // On the way from the injector the jobs were visible nowhere: a thread may have gone to sleep meanwhile.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      hint(level)
      react()
    }
    return first
  }

  /// For a worker that has work of its own on that level: takes as many jobs as the worker added meanwhile, so that its
  /// own jobs and the jobs from outside both get their share. The function stands apart because rare code would slow down
  /// `nextJob`.
  @inline(never)
  private func takeBesideOwn(_ worker: Worker, level: Int) -> UInt {
    worker.looksOutside()
    guard worker.count(level: level) > Turns.longList else {
      return takeInjected(worker, level: level, limit: strategy.outsideInterval)
    }
    let job = takeInjected(worker, level: level, limit: 1)
    if job != 0 { worker.looksOutsideSoon() }
    return job
  }

  private func stealOne(_ worker: Worker, level: Int, least: Int) -> UInt {
    let count = workersMade.load(ordering: .acquiring)
    guard count > 1 else { return 0 }
    let start = worker.firstVictim(strategy.victim, of: count) { index in
      workers[index]._withUnsafeGuaranteedRef { $0.count(level: level) }
    }
    for offset in 0..<count {
      let index = start + offset < count ? start + offset : start + offset - count
      if index == worker.index { continue }
      if least > 1, workers[index]._withUnsafeGuaranteedRef({ $0.count(level: level) }) < least { continue }
      if case let job = steal(worker, from: index, level: level), job != 0 { return job }
    }
    return 0
  }

  @inline(__always)
  private func steal(_ worker: Worker, from index: Int, level: Int) -> UInt {
    let job = workers[index]._withUnsafeGuaranteedRef { $0.steal(level: level, strategy.lostRace) }
    if job == 0 { return 0 }
    worker.counts.steals.count()
    worker.robbed(index, by: strategy.victim)
    if strategy.stealAmount != .one { stealMore(worker, from: index, level: level) }
    if _slowPath(cplatform_is_tracing()) {
      TraceProbe.steals(job, from: workers[index]._withUnsafeGuaranteedRef { $0.watched.threadID })
    }
    return job
  }

  /// The rest of a theft whose first job is taken: moves jobs to the thief's own deque.
  private func stealMore(_ worker: Worker, from index: Int, level: Int) {
    let left = workers[index]._withUnsafeGuaranteedRef { $0.count(level: level) }
    var moved = 0
    let wanted = strategy.stealAmount.count(of: left + 1) - 1
    while moved < wanted {
      let job = workers[index]._withUnsafeGuaranteedRef { $0.steal(level: level, strategy.lostRace) }
      guard job != 0 else { break }
      worker.push(job, level: level)
      moved += 1
    }
    guard moved > 0 else { return }
    worker.counts.steals.count(UInt64(moved))
    // On the way to this deque the jobs were visible nowhere: a thread may have gone to sleep meanwhile.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    hint(level)
    react()
  }

  // MARK: - Turns

  /// Called when a turn has come (`Turns`). README.md here has the bound that follows.
  @inline(never)
  private func takeByTurn(_ worker: Worker) -> UInt {
    let due = worker.nextTurn()
    if due.isOthers, case let job = serveStuck(worker), job != 0 { return job }
    if due.isLowests, case let job = takeForFairness(worker), job != 0 { return job }
    return due.isOthers ? takeBesideAdded(worker) : 0
  }

  /// Once every `fairnessInterval` jobs: a job of the lowest level that has any, here or outside. One job: what is
  /// taken along would wait here for more urgent jobs, and later ones outside would go first.
  private func takeForFairness(_ worker: Worker) -> UInt {
    let own = worker.ownLevels
    let outsideFirst = worker.outsideGoesFirst()
    for level in 0..<Job.levels {
      if outsideFirst, case let job = takeInjected(worker, level: level, limit: 1), job != 0 { return job }
      if own & 1 << UInt32(level) != 0, case let job = worker.take(level: level), job != 0 { return job }
      if !outsideFirst, case let job = takeInjected(worker, level: level, limit: 1), job != 0 { return job }
    }
    return 0
  }

  /// At the others' turn, a job from outside that is as urgent as the worker's own: for a worker that added many jobs at
  /// once and looked outside once.
  private func takeBesideAdded(_ worker: Worker) -> UInt {
    let best = Self.highest(worker.ownLevels)
    guard worker.hasUnlooked(), best >= 0, best >= Self.highest(levelHint.pointer.pointee.load(ordering: .relaxed))
    else {
      return 0
    }
    return takeInjected(worker, level: best, limit: 1)
  }

  /// At the others' turn: looks whether the worker that was seen at the last such turn is stuck, that is, has begun no
  /// job since. Nobody takes from a stuck worker's lists while the others feed themselves, so its jobs go to where all
  /// look. Then another worker with jobs is looked at.
  /// - Returns: a job of the stuck worker, when there is nothing to do here or outside.
  private func serveStuck(_ worker: Worker) -> UInt {
    let count = workersMade.load(ordering: .acquiring)
    guard count > 1 else { return 0 }
    var job: UInt = 0
    let last = worker.seen
    if last.worker >= 0, begun(last.worker) == last.jobs {
      if !worker.hasJobs, (0..<Job.levels).allSatisfy(isOutsideEmpty(level:)) {
        let level = Self.highest(levelHint.pointer.pointee.load(ordering: .relaxed))
        if level >= 0 { job = steal(worker, from: last.worker, level: level) }
      } else {
        bringJobs(of: last.worker, worker)
      }
    }
    var next = last.worker < 0 ? worker.index : last.worker
    for _ in 0..<min(count, Turns.passedAtOnce) {
      next = next + 1 < count ? next + 1 : 0
      if next != worker.index, workers[next]._withUnsafeGuaranteedRef({ $0.hasJobs }) { break }
    }
    worker.seen = (next, next == worker.index ? -1 : begun(next))
    return job
  }

  private func begun(_ worker: Int) -> Int { workers[worker]._withUnsafeGuaranteedRef { $0.watched.jobsBegun } }

  /// Moves the oldest jobs of each level from a stuck worker to the front of the jobs from outside.
  private func bringJobs(of stuck: Int, _ worker: Worker) {
    var broughtAny = false
    for level in 0..<Job.levels {
      var jobs = JobFIFO()
      while jobs.count < Turns.broughtAtOnce,
        case let job = workers[stuck]._withUnsafeGuaranteedRef({ $0.steal(level: level, strategy.lostRace) }), job != 0
      {
        jobs.append(job)
      }
      if jobs.isEmpty { continue }
      injectors[worker.index % placeCount * Job.levels + level].pointer.pointee.putFirst(jobs)
      hint(level)
      broughtAny = true
    }
    // On the way the jobs were visible nowhere: a thread may have gone to sleep meanwhile.
    if broughtAny { react() }
  }

  /// For a searching worker: looks everywhere, then again and again for a while. 0 for none.
  func search(_ worker: Worker, _ patience: inout Patience) -> UInt {
    if case let job = sweep(worker), job != 0 { return job }
    let job = patience.search { look(worker) }
    return job == 0 && !robsAll ? sweepAll(worker) : job
  }

  /// What may not be stolen from a worker with few jobs may be stolen before the thief sleeps.
  @inline(never)
  private func sweepAll(_ worker: Worker) -> UInt { sweep(worker, least: 1) }

  /// Looks into the injectors. Looks at the other workers when the hint names a level and somebody else is awake.
  private func look(_ worker: Worker) -> UInt {
    if multiQueue.isUsed { return multiQueue.isEmpty ? 0 : multiQueue.take(worker) }
    let outside = highestInjected
    if outside < 0, levelHint.pointer.pointee.load(ordering: .relaxed) == 0 { return 0 }
    guard sleepNow.isOnlyOneAwake else { return sweep(worker) }
    if outside < 0 { return 0 }
    // This thread is about to end its search: to write the word that the thread which brought the job has just read.
    cplatform_prefetch(UInt(bitPattern: sleepWord.pointer))
    let job = takeInjected(worker, level: outside)
    if job != 0 { cplatform_prefetch(job &+ 64) }
    return job
  }

  /// The highest level whose injector has a job; -1 for none.
  private var highestInjected: Int {
    var level = Job.levels - 1
    while level >= 0, isOutsideEmpty(level: level) { level -= 1 }
    return level
  }

  /// Looks at every level, the most urgent first.
  @inline(never)
  private func sweep(_ worker: Worker, least: Int? = nil) -> UInt {
    if multiQueue.isUsed { return multiQueue.take(worker) }
    for level in stride(from: Job.levels - 1, through: 0, by: -1) {
      if case let job = takeFromOthers(worker, level: level, least: least), job != 0 {
        hint(level)
        return job
      }
    }
    return 0
  }

  /// Whether any job is queued anywhere. Called after a sequentially consistent operation, for a thread that is about
  /// to sleep.
  var hasVisibleWork: Bool {
    if multiQueue.isUsed { return !multiQueue.isEmpty }
    for level in 0..<Job.levels where hasWork(level: level) { return true }
    return false
  }
}
