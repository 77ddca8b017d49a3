import OperationJobs
import Primitives
import Scheduling
import Synchronization

// What only a strategy other than the default does: apart from the rest, so that the default pays nothing for it.

extension StealingPool {
  // MARK: - Submitting

  @inline(never)
  func submitByStrategy(_ job: Job) {
    guard mayEnter(job) else { return }
    show(job)
    reactByStrategy()
  }

  /// Submits each job of a batch by itself: each goes to a list of its own choice.
  @inline(never)
  func submitEach(_ jobs: consuming JobFIFO) {
    while case let job = jobs.popFirst(), job != 0 {
      if mayEnter(Job(word: job)) { show(Job(word: job)) }
    }
  }

  /// Whether a job may be submitted by this thread.
  private func mayEnter(_ job: Job) -> Bool {
    if currentWorker != nil { return true }
    if stopping.load(ordering: .relaxed), isRefused(job) { return false }
    threads.checkNotForked()
    return true
  }

  /// The injector for a job from outside.
  func list(level: Int) -> Int {
    guard rules.placeCount > 1 else { return level }
    let place = strategy.outsidePlace.list(
      of: rules.placeCount, turn: placed.pointer.pointee.wrappingAdd(1, ordering: .relaxed).newValue & Int(Int32.max),
      random: { OutsideRandom.number(below: $0) },
      length: { place in
        let injector = injectors[place * Job.levels + level].pointer
        let waiting = injector.pointee.approximateCount + (injector.pointee.isEmpty ? 0 : 1)
        guard place < workersMade else { return waiting }
        return waiting + workers[place]._withUnsafeGuaranteedRef { $0.count(level: level) }
      })
    return place * Job.levels + level
  }

  /// Queues what the end of a job made ready, instead of running it at once.
  @inline(never)
  func queue(_ job: Job) {
    guard strategy.successor == .queued else { return submit(job) }
    show(job)
    // Nobody is woken here. The monitor looks at once, and wakes a thread if the job is still queued and a place is
    // free.
    armMonitor()
  }

  // MARK: - Taking

  /// With a place for each worker: from the worker's own place first, then from the others.
  @inline(never)
  func takeFromPlaces(_ worker: Worker, level: Int, limit: Int) -> UInt? {
    let first = worker.withMemory { $0.firstPlace(worker: worker.index, of: rules.placeCount) }
    for offset in 0..<rules.placeCount {
      let list = (first + offset) % rules.placeCount * Job.levels + level
      if let job = takeInjected(worker, list: list, level: level, limit: limit) { return job }
    }
    return nil
  }

  func takeFromMultiQueue(_ worker: Worker) -> UInt? { Self.job(multiQueue.take(worker)) }

  func bring(_ job: UInt, to thief: Worker, level: Int) { thief.push(job, level: level) }

  func showBrought(_ count: Int, to thief: Worker, level: Int) {
    thief.counts.steals.count(UInt64(count))
    showMoved(level: level)
  }

  // MARK: - Searching

  /// With adaptive searchers: a search has ended.
  @inline(never)
  func adapt(found: Bool) {
    let before = adaptedSearchers.load(ordering: .relaxed)
    adaptedSearchers.store(
      StealingStrategy.Searchers.adapted(before, found: found, workers: workerCount), ordering: .relaxed)
  }
}
