import Scheduling

// The pool in which every worker has lists of its own: which workers search, sleep and are woken. The protocol is that
// of `StealingBackend`; its README says why no job is left lying.

extension VirtualPool {
  /// Threads that use, or are about to use, a CPU.
  private var active: Int { workers.count - sleepers.count - blocked }

  package var sleeping: Int {
    read(&sleepWord)
    return sleepers.count
  }

  /// Looks at the lists that have jobs, until enough jobs are seen.
  package func visibleJobs(atMost most: Int) -> Int {
    guard queued > 0 else {
      lookEverywhere()
      return 0
    }
    spent += costs.look * Int64(most)
    return min(queued, most)
  }

  package func reaction(wanted: Int) -> Reaction {
    read(&sleepWord)
    return Reaction(searching: searching, active: active, limit: workerCount, wanted: wanted)
  }

  package func react() { reactByStrategy() }

  /// No monitor looks: bodies that block say so.
  package func lacksPlace() {}

  func submitStealing(_ job: QueuedJob) {
    show(job)
    react()
  }

  func submitStealing(_ jobs: [QueuedJob]) {
    var level: Int32 = -1
    for job in jobs {
      // Successive jobs of one level go in with one exchange.
      showStealing(job, holdsList: rules.showsEach || job.level != level)
      level = job.level
    }
    react()
    if jobs.count >= rules.batchThatWakes { wakeMore(for: jobs.count) }
  }

  /// - Parameter holdsList: whether a list for jobs from outside is kept from others meanwhile.
  func showStealing(_ job: QueuedJob, holdsList: Bool = true) {
    let job = enqueued(job)
    let level = Int(job.level)
    if rules.usesMultiQueue {
      pushMulti(job)
    } else {
      if actor >= 0, !rules.sharesAll {
        lists.push(job, to: actor)
        workers[actor].memory.ownLevels |= 1 << UInt32(level)
        workers[actor].memory.countAdded()
      } else {
        let place = placeForNext(level: level)
        if holdsList { use(&lists.injectors[place * Self.levels + level].line, for: costs.list) }
        lists.inject(job, into: place)
      }
      hint(level)
    }
    notifyWatcher()
  }

  /// The place for a job from outside.
  private func placeForNext(level: Int) -> Int {
    guard rules.placeCount > 1 else { return 0 }
    lists.placed += 1
    return rules.strategy.outsidePlace.list(
      of: rules.placeCount, turn: lists.placed & Int(Int32.max), random: { choices.pick(below: $0) },
      length: { lists.waiting(in: $0, level: level) })
  }

  /// Makes one more thread active: a sleeper, or a new thread.
  package func activate(wanted: Int = 1, mayInsist: Bool = true) {
    hold(&sleepLock)
    guard case .activate = reaction(wanted: wanted) else { return }
    write(&sleepWord)
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
    let allowed = rules.strategy.searchers.allows(
      searching: searching, workers: workerCount, adapted: lists.adaptedSearchers)
    read(&sleepWord)
    guard allowed else { return }
    write(&sleepWord)
    search(worker)
  }

  /// A searching worker found a job. The last searching worker passes the search on when more work is visible.
  func stopSearching(_ worker: Int) {
    workers[worker].isSearching = false
    searching -= 1
    write(&sleepWord)
    adapt(found: true)
    let others = searching
    var places = workerCount - active
    if others == 0 {
      lookEverywhere()
      guard queued > 0 else { return }
      react()
      places -= 1
    }
    if places >= StealingStrategy.Passing.fewPlaces, rules.passesOn { passSearchOn(searching: others, places: places) }
  }

  private func adapt(found: Bool) {
    guard rules.strategy.searchers == .adaptive else { return }
    lists.adaptedSearchers = StealingStrategy.Searchers.adapted(
      lists.adaptedSearchers, found: found, workers: workerCount)
  }

  func lookStealing(_ worker: Int) {
    if let job = nextJob(of: worker) { return start(job, on: worker) }
    becomeIdle(worker)
    if !workers[worker].isSearching { tryStartSearching(worker) }
    guard workers[worker].isSearching else { return sleepStealing(worker) }
    if let job = sweep(worker, least: rules.strategy.leastJobs) { start(job, on: worker) } else { watch(worker) }
  }

  /// A search has found nothing in its time.
  func failStealing(_ worker: Int) {
    if !rules.robsAll, let job = sweep(worker, least: 1) { return start(job, on: worker) }
    workers[worker].counts.failedSearches += 1
    adapt(found: false)
    sleepStealing(worker)
  }

  private func sleepStealing(_ worker: Int) {
    if workers[worker].isSearching {
      workers[worker].isSearching = false
      searching -= 1
    }
    hold(&sleepLock)
    write(&sleepWord)
    sleepers.append(worker)
    if searching == 0 { lookEverywhere() }
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
