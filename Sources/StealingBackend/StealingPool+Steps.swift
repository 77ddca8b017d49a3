import CPlatform
import OperationJobs
import OperationTraceEvents
import Primitives
import Scheduling
import Synchronization

// The steps of a worker's way to its next job, on lists that many threads change. `StealingSteps` says what each one is
// for.

extension StealingPool: StealingSteps {
  // MARK: - The hint

  @inline(__always)
  var hintedLevels: UInt32 { levelHint.pointer.pointee.load(ordering: .relaxed) }

  /// Takes a level's hint back. The hint is set again if a job came in between.
  func retract(_ level: Int) {
    levelHint.pointer.pointee.bitwiseAnd(~(1 << UInt32(level)), ordering: .sequentiallyConsistent)
    if hasWork(level: level) { hint(level) }
  }

  var isOnlyOneAwake: Bool { sleepNow.isOnlyOneAwake }

  // MARK: - Workers

  @inline(__always)
  var workersMade: Int { madeCount.load(ordering: .acquiring) }

  @inline(__always)
  func index(of worker: Worker) -> Int { worker.index }

  @inline(__always)
  func withMemory<Result>(of worker: Worker, _ body: (inout WorkerMemory) -> Result) -> Result {
    worker.withMemory(body)
  }

  func random(_ worker: Worker, below bound: Int) -> Int { worker.random(below: bound) }

  func begun(_ worker: Int) -> Int { workers[worker]._withUnsafeGuaranteedRef { $0.watched.jobsBegun } }

  func hasJobs(_ worker: Int) -> Bool { workers[worker]._withUnsafeGuaranteedRef { $0.hasJobs } }

  func count(_ worker: Int, level: Int) -> Int { workers[worker]._withUnsafeGuaranteedRef { $0.count(level: level) } }

  // MARK: - Taking

  @inline(__always)
  func takeOwn(_ worker: Worker, level: Int) -> UInt? { Self.job(worker.take(level: level)) }

  /// A job that is there; nil for 0.
  @inline(__always)
  static func job(_ word: UInt) -> UInt? { word == 0 ? nil : word }

  @inline(__always)
  func isOutsideEmpty(level: Int) -> Bool {
    if rules.placeCount == 1 { return injectors[level].pointer.pointee.isEmpty }
    return (0..<rules.placeCount).allSatisfy { injectors[$0 * Job.levels + level].pointer.pointee.isEmpty }
  }

  @inline(__always)
  func takeInjected(_ worker: Worker, level: Int, limit: Int) -> UInt? {
    rules.placeCount == 1
      ? takeInjected(worker, list: level, level: level, limit: limit)
      : takeFromPlaces(worker, level: level, limit: limit)
  }

  func takeInjected(_ worker: Worker, list: Int, level: Int, limit: Int) -> UInt? {
    guard !injectors[list].pointer.pointee.isEmpty else { return nil }
    var batch = JobFIFO()
    let taken = injectors[list].pointer.pointee.take(limit: limit, consumerCount: workersWithCPU, into: &batch).taken
    worker.counts.fromOutside.count(UInt64(truncatingIfNeeded: taken))
    let first = batch.popFirst()
    var moved = false
    while case let job = batch.popFirst(), job != 0 {
      worker.push(job, level: level)
      // The walk reads a job's first line alone; another thread has written the next one, too.
      cplatform_prefetch(job &+ 64)
      moved = true
    }
    if moved { showMoved(level: level) }
    return Self.job(first)
  }

  /// On the way to the worker's deque the jobs were visible nowhere: a thread may have gone to sleep meanwhile.
  @inline(__always)
  func showMoved(level: Int) {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    hint(level)
    react()
  }

  func nextVictim(of thief: Worker, level: Int, least: Int, in round: inout ThiefRound) -> Int? {
    while let index = round.next {
      round.visited += 1
      if index != thief.index, least <= 1 || count(index, level: level) >= least { return index }
    }
    return nil
  }

  @inline(__always)
  func takeOldest(of victim: Int, by thief: Worker, level: Int) -> UInt? {
    guard let job = takeAlong(from: victim, level: level) else { return nil }
    thief.counts.steals.count()
    if _slowPath(cplatform_is_tracing()) {
      TraceProbe.steals(job, from: workers[victim]._withUnsafeGuaranteedRef { $0.watched.threadID })
    }
    return job
  }

  @inline(__always)
  func takeAlong(from victim: Int, level: Int) -> UInt? {
    Self.job(workers[victim]._withUnsafeGuaranteedRef { $0.steal(level: level, rules.strategy.lostRace) })
  }

  func bringOutside(from stuck: Int, by worker: Worker, level: Int, most: Int) -> Bool {
    var jobs = JobFIFO()
    while jobs.count < most, let job = takeAlong(from: stuck, level: level) { jobs.append(job) }
    if jobs.isEmpty { return false }
    injectors[worker.index % rules.placeCount * Job.levels + level].pointer.pointee.putFirst(jobs)
    return true
  }

  // MARK: - Waking

  var sleeping: Int { sleepNow.sleeping }

  func visibleJobs(atMost most: Int) -> Int {
    if rules.usesMultiQueue { return min(most, multiQueue.jobCount) }
    var seen = 0
    for level in 0..<Job.levels where hintedLevels & 1 << UInt32(level) != 0 {
      for place in 0..<rules.placeCount where !injectors[place * Job.levels + level].pointer.pointee.isEmpty {
        seen += max(1, injectors[place * Job.levels + level].pointer.pointee.approximateCount)
      }
      for worker in 0..<workersMade where seen < most { seen += count(worker, level: level) }
    }
    return min(seen, most)
  }

  func reaction(wanted: Int) -> Reaction {
    sleepNow.reaction(limit: activeLimit, wanted: wanted)
  }

  func lacksPlace() {
    if guests.load(ordering: .relaxed) > 0 { lacksPlaceForJob.store(true, ordering: .relaxed) }
    armMonitor()
  }
}
