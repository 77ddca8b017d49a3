import Scheduling

// A worker's life: find, run, sleep. What both pools do alike.

extension VirtualPool {
  /// A worker looks for its next job.
  func look(_ worker: Int) {
    if let job = takeFork(worker) {
      workers[worker].run = SuccessorRun(length: strategy.runLength)
      return begin(job, on: worker)
    }
    switch strategy {
    case .stealing: lookStealing(worker)
    case .threadPool: lookShared(worker)
    }
  }

  /// A worker that watches the lists has noticed a job.
  func notice(_ worker: Int) {
    let job: QueuedJob?
    switch strategy {
    case .stealing: job = sweep(worker, least: rules.strategy.leastJobs)
    case .threadPool: job = takeShared(worker)
    }
    if let job {
      workers[worker].patience.found(late: workers[worker].isLongSearch)
      start(job, on: worker)
    } else {
      watchOn(worker)
    }
  }

  /// The time of a search is over.
  func foundNothing(_ worker: Int) {
    if uncoverForks(worker) { return }
    switch strategy {
    case .stealing: failStealing(worker)
    case .threadPool: sleepShared(worker)
    }
  }

  /// A worker has found a job.
  func start(_ job: QueuedJob, on worker: Int) {
    if workers[worker].isSearching { stopSearching(worker) }
    workers[worker].run = SuccessorRun(length: strategy.runLength)
    workers[worker].lastShow = nil
    begin(job, on: worker)
  }

  /// A worker has no job from now on.
  func becomeIdle(_ worker: Int) {
    if workers[worker].idleSince == nil { workers[worker].idleSince = now }
  }

  /// Makes a job visible where the strategy says.
  func show(_ job: QueuedJob) {
    switch strategy {
    case .stealing: showStealing(job)
    case .threadPool: showShared(job)
    }
  }

  /// Wakes threads for one job that was made visible.
  func reactToOne() {
    switch strategy {
    case .stealing: react()
    case .threadPool: activateShared(1)
    }
  }

  /// A successor gives way to a more urgent job.
  func givesWay(_ job: QueuedJob) -> Bool {
    switch strategy {
    case .stealing: Levels.highest(hintedLevels) > Int(job.level)
    case .threadPool: shared.hasJob(above: Int(job.level))
    }
  }

  /// Wakes a thread, or starts one. The caller has counted it.
  func wake(_ worker: Int) {
    spent += costs.wake
    workers[worker].state = .looking
    schedule(.look, worker, at: now + spent + costs.wakeLatency)
  }
}
