import Scheduling

// The pool in which every worker has lists of its own: which workers search, sleep and are woken. The protocol is that of
// `StealingBackend`; its README says why no job is left lying.

extension VirtualPool {
  /// What a new job calls for: `SleepWord.Reaction`.
  enum Reaction { case nothing, activate, busy }

  /// Threads that use, or are about to use, a CPU.
  private var active: Int { workers.count - sleepers.count - blocked }

  func reaction(wanted: Int) -> Reaction {
    if searching >= wanted { return .nothing }
    return active < workerCount ? .activate : .busy
  }

  func submitStealing(_ job: QueuedJob) {
    show(job)
    react()
  }

  func submitStealing(_ jobs: [QueuedJob]) {
    var level: Int32 = -1
    for job in jobs {
      // Successive jobs of one level go in with one exchange.
      showStealing(job, holdsList: lists.showsEach || job.level != level)
      level = job.level
    }
    react()
    guard jobs.count >= lists.batchThatWakes else { return }
    let wanted = lists.strategy.waking.searchersWanted(jobs: jobs.count, workers: workerCount)
    for _ in 1..<wanted {
      guard case .activate = reaction(wanted: wanted) else { return }
      activate(wanted: wanted)
    }
  }

  /// - Parameter holdsList: whether a list for jobs from outside is kept from others meanwhile.
  func showStealing(_ job: QueuedJob, holdsList: Bool = true) {
    let job = enqueued(job)
    let level = Int(job.level)
    if lists.usesMultiQueue {
      pushMulti(job)
    } else {
      if actor >= 0, !lists.sharesAll {
        lists.push(job, to: actor)
        workers[actor].ownLevels |= 1 << UInt32(level)
        workers[actor].added += 1
      } else {
        let place = placeForNext(level: level)
        if holdsList { use(&lists.injectors[place * Self.levels + level].heldUntil) }
        lists.inject(job, into: place)
      }
      lists.hint |= 1 << UInt32(level)
    }
    notifyWatcher()
  }

  /// The place for a job from outside.
  private func placeForNext(level: Int) -> Int {
    guard lists.placeCount > 1 else { return 0 }
    lists.placed += 1
    return lists.strategy.outsidePlace.list(
      of: lists.placeCount, turn: lists.placed & Int(Int32.max), random: { choices.pick(below: $0) },
      length: { lists.waiting(in: $0, level: level) })
  }

  /// Called after a job was made visible.
  func react() {
    let wanted = lists.strategy.waking.searchersWanted(jobs: 1, workers: workerCount)
    for _ in 0..<wanted {
      guard case .activate = reaction(wanted: wanted) else { return }
      activate(wanted: wanted)
    }
  }

  /// Makes one more thread active: a sleeper, or a new thread.
  func activate(wanted: Int) {
    guard case .activate = reaction(wanted: wanted) else { return }
    if let worker = nextSleeper() {
      wakes += 1
      search(worker)
      wake(worker)
    } else if let worker = newWorker() {
      search(worker)
      wake(worker)
    }
  }

  private func search(_ worker: Int) {
    workers[worker].isSearching = true
    searching += 1
  }

  private func tryStartSearching(_ worker: Int) {
    let allowed = lists.strategy.searchers.allows(
      searching: searching, workers: workerCount, adapted: lists.adaptedSearchers)
    if allowed { search(worker) }
  }

  /// A searching worker found a job. The last searching worker passes the search on when more work is visible.
  func stopSearching(_ worker: Int) {
    workers[worker].isSearching = false
    searching -= 1
    if searching == 0, queued > 0 { react() }
    adapt(found: true)
  }

  private func adapt(found: Bool) {
    guard lists.strategy.searchers == .adaptive else { return }
    lists.adaptedSearchers = StealingStrategy.Searchers.adapted(
      lists.adaptedSearchers, found: found, workers: workerCount)
  }

  func lookStealing(_ worker: Int) {
    if let job = nextJob(worker) { return start(job, on: worker) }
    becomeIdle(worker)
    if !workers[worker].isSearching { tryStartSearching(worker) }
    guard workers[worker].isSearching else { return sleepStealing(worker) }
    if let job = sweep(worker) { start(job, on: worker) } else { watch(worker) }
  }

  /// A search has found nothing in its time.
  func failStealing(_ worker: Int) {
    if !lists.robsAll, let job = sweep(worker, least: 1) { return start(job, on: worker) }
    workers[worker].counts.failedSearches += 1
    adapt(found: false)
    sleepStealing(worker)
  }

  private func sleepStealing(_ worker: Int) {
    if workers[worker].isSearching {
      workers[worker].isSearching = false
      searching -= 1
    }
    sleepers.append(worker)
    // The last searching thread looks once more before it sleeps.
    if searching == 0, queued > 0, case .activate = reaction(wanted: 1) {
      _ = sleepers.popLast()
      search(worker)
      workers[worker].state = .looking
      return schedule(.look, worker, at: now + spent)
    }
    workers[worker].state = .sleeping
    workers[worker].counts.sleeps += 1
  }
}
