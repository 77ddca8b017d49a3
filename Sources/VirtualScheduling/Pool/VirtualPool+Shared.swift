import Scheduling

// The pool in which all threads share one list: the steps of `ThreadPool`, in the same order.

extension VirtualPool {
  /// Threads that are not asleep.
  private var active: Int { workers.count - sleepers.count }
  private var allowed: Int { workerCount + blocked }

  func submitShared(_ job: QueuedJob) {
    showShared(job)
    activateShared(1)
  }

  func submitShared(_ jobs: [QueuedJob]) {
    // One lock is held once for all jobs. With a lock for each level, each job is added by itself.
    for (index, job) in jobs.enumerated() {
      showShared(job, holdsLock: index == 0 || shared.strategy.locks == .perLevel)
    }
    activateShared(jobs.count)
  }

  /// - Parameter holdsLock: whether the lock that guards the job's level is held for this job.
  func showShared(_ job: QueuedJob, holdsLock: Bool = true) {
    let job = enqueued(job)
    if holdsLock { lock(level: Int(job.level)) }
    shared.append(job)
    notifyWatcher()
  }

  /// The lock that guards the jobs of a level.
  private func lock(level: Int) {
    if shared.strategy.locks == .one { hold(&shared.lock) } else { hold(&shared.levelLocks[level]) }
  }

  /// Wakes or starts threads for jobs, as many as are allowed.
  func activateShared(_ jobs: Int) {
    let places = allowed - active
    let count = jobs > 0 ? shared.strategy.waking.count(jobs: jobs, places: places) : 0
    var wanted = min(count, places)
    while wanted > 0, let worker = nextSleeper() {
      wakes += 1
      wake(worker)
      wanted -= 1
    }
    while wanted > 0, let worker = newWorker() {
      wake(worker)
      wanted -= 1
    }
  }

  func lookShared(_ worker: Int) {
    if let job = takeShared(worker) { return start(job, on: worker) }
    becomeIdle(worker)
    watch(worker)
  }

  /// The most urgent job; nil when there is none, or when too many threads are active.
  func takeShared(_ worker: Int) -> QueuedJob? {
    guard queued > 0 else { return nil }
    lock(level: max(0, shared.highestLevel))
    guard active <= allowed, let job = shared.popFirst() else { return nil }
    spent += costs.take
    dequeued(job)
    if shared.strategy.waking == .passedOn, queued > 0 { activateShared(queued) }
    return job
  }

  /// A worker found nothing and goes to sleep.
  func sleepShared(_ worker: Int) {
    hold(&shared.lock)
    let isSurplus = active > allowed
    if queued > 0, !isSurplus {
      workers[worker].state = .looking
      return schedule(.look, worker, at: now + spent)
    }
    if queued == 0 { workers[worker].counts.failedSearches += 1 }
    workers[worker].counts.sleeps += 1
    workers[worker].state = .sleeping
    sleepers.append(worker)
    // The thread may have been told of a job that it must leave.
    if queued > 0 { notifyWatcher() }
  }
}
