import Scheduling

extension ThiefRound {
  /// How many visits it takes from one worker to another one of the round.
  fileprivate func distance(from worker: Int, to other: Int) -> Int { (other - worker + count) % count }

  /// Whether the round comes to a worker.
  fileprivate func contains(_ worker: Int) -> Bool { base..<base + count ~= worker }

  /// The first member of a set to which the round comes, from a worker on.
  fileprivate func firstMember(of set: NumberSet, from worker: Int) -> Int? {
    [worker, base].lazy.compactMap(set.next(from:)).first(where: contains)
  }
}

// Where a worker with lists of its own looks for its next job: the steps of `StealingSteps`, with what they cost.

extension VirtualPool: StealingSteps {
  package var rules: StealingRules { lists.rules }

  // MARK: - The hint

  package var hintedLevels: UInt32 {
    read(&hintWord)
    return lists.hint
  }

  package func hint(_ level: Int) {
    let bit = 1 << UInt32(level) as UInt32
    if hintedLevels & bit != 0 { return }
    write(&hintWord)
    lists.hint |= bit
  }

  package func retract(_ level: Int) {
    write(&hintWord)
    lookEverywhere()
    if !lists.hasWork(level) { lists.hint &= ~(1 << UInt32(level)) }
  }

  /// Pays for a look at the list of every worker, until one has a job.
  func lookEverywhere() { spent += costs.look * Int64(queued == 0 ? workers.count : 1) }

  package var isOnlyOneAwake: Bool {
    read(&sleepWord)
    return workers.count - sleepers.count == 1
  }

  // MARK: - Workers

  package var workersMade: Int { workers.count }
  package func index(of worker: Int) -> Int { worker }
  package func withMemory<Result>(of worker: Int, _ body: (inout WorkerMemory) -> Result) -> Result {
    body(&workers[worker].memory)
  }
  package func random(_ worker: Int, below bound: Int) -> Int { choices.pick(below: bound) }
  package func begun(_ worker: Int) -> Int { Int(workers[worker].counts.jobs) }
  package func count(_ worker: Int, level: Int) -> Int { lists.count(worker, level) }

  /// A look at another worker costs something.
  package func hasJobs(_ worker: Int) -> Bool {
    if worker != actor { spent += costs.look }
    return lists.hasJobs(worker)
  }

  // MARK: - Taking

  package func takeOwn(_ worker: Int, level: Int) -> QueuedJob? {
    let end = rules.strategy.ownEnd
    let newest = end != .fifo && workers[worker].memory.takesNewest(end)
    guard let job = lists.pop(from: worker, level: level, newest: newest) else {
      workers[worker].memory.ownLevels &= ~(1 << UInt32(level))
      return nil
    }
    // A thief may have had the end of the list since.
    use(&lists.deques[worker * Self.levels + level].line)
    spent += costs.take
    dequeued(job)
    return job
  }

  package func isOutsideEmpty(level: Int) -> Bool { !lists.hasOutside(level) }

  package func takeInjected(_ worker: Int, level: Int, limit: Int) -> QueuedJob? {
    let count = rules.placeCount
    let first = count > 1 ? workers[worker].memory.firstPlace(worker: worker, of: count) : 0
    guard let place = lists.places[level].next(cyclicallyFrom: first) else {
      if count > 1 { spent += costs.look * Int64(count) }
      return nil
    }
    spent += costs.look * Int64((place - first + count) % count)
    return takeShare(worker, place: place, level: level, limit: limit)
  }

  /// Takes an even share of the jobs in one list, as `Injector.take` gives it.
  private func takeShare(_ worker: Int, place: Int, level: Int, limit: Int) -> QueuedJob? {
    let index = place * Self.levels + level
    // The taker keeps other takers away while it walks along the jobs.
    use(&lists.injectors[index].line, for: costs.list)
    let count = lists.injectors[index].count
    let taken = min(limit, count / workerCount + 1, count)
    spent += costs.takeOutside + costs.move * Int64(taken - 1)
    workers[worker].counts.fromOutside += UInt64(taken)
    guard let job = lists.popInjected(from: place, level: level) else { return nil }
    dequeued(job)
    for _ in 1..<max(1, taken) {
      if let other = lists.popInjected(from: place, level: level) { bring(other, to: worker, level: level) }
    }
    if taken > 1 { showMoved(level: level) }
    return job
  }

  private func showMoved(level: Int) {
    hint(level)
    react()
  }

  // MARK: - Stealing

  /// Workers without a job are passed at once, and paid for.
  package func nextVictim(of thief: Int, level: Int, least: Int, in round: inout ThiefRound) -> Int? {
    while let next = round.next {
      let holders = least > 1 ? lists.richHolders : lists.holders
      guard let holder = round.firstMember(of: holders[level], from: next) else { break }
      let distance = round.distance(from: round.first, to: holder)
      if distance < round.visited { break }
      pass(distance - round.visited, in: &round, thief, level)
      round.visited += 1
      if holder != thief { return holder }
    }
    pass(round.count - round.visited, in: &round, thief, level)
    if round.count == workers.count { lists.sees(thief, level: level) }
    return nil
  }

  /// Pays for looks at workers in a row that give no job. The thief does not look at itself.
  private func pass(_ count: Int, in round: inout ThiefRound, _ thief: Int, _ level: Int) {
    guard count > 0, let next = round.next else { return }
    let passesThief = round.contains(thief) && round.distance(from: next, to: thief) < count
    let looks = count - (passesThief ? 1 : 0)
    looksInVain += looks
    spent += costs.look * Int64(looks)
    if isTimed, costs.glance != VirtualCosts.ByDistance(0), lists.hasChanged(since: thief, level: level) {
      let end = min(next + count, round.base + round.count)
      spent += glances(next..<end, thief, level)
      spent += glances(round.base..<round.base + count - (end - next), thief, level)
    }
    round.visited += count
  }

  /// What looks at workers cost whose lists have changed since the thief last looked.
  private func glances(_ passed: Range<Int>, _ thief: Int, _ level: Int) -> Int64 {
    let near = topology.neighbours(of: thief % workerCount, count: workers.count)
    var cost: Int64 = 0
    for worker in passed where worker != thief && lists.hasChanged(worker, since: thief, level: level) {
      cost +=
        near.group.contains(worker)
        ? costs.glance.sameGroup : near.socket.contains(worker) ? costs.glance.otherGroup : costs.glance.otherSocket
    }
    return cost
  }

  package func takeOldest(of victim: Int, by thief: Int, level: Int) -> QueuedJob? {
    if losesRace(victim, level: level) { return nil }
    let index = victim * Self.levels + level
    use(&lists.deques[index].line)
    lists.deques[index].lastTaken = now
    guard let job = lists.pop(from: victim, level: level, newest: false) else { return nil }
    dequeued(job)
    spent += costs.steal[distance(thief, victim)]
    workers[thief].counts.steals += 1
    return job
  }

  /// Whether another thread takes the job that a thief wants. That is open when another thread took a job from the same
  /// list at the same instant.
  private func losesRace(_ victim: Int, level: Int) -> Bool {
    guard rules.strategy.lostRace == .next, lists.deques[victim * Self.levels + level].lastTaken == now,
      choices.pick(below: 2) == 1
    else { return false }
    lostRaces += 1
    return true
  }

  package func takeAlong(from victim: Int, level: Int) -> QueuedJob? {
    guard let job = lists.pop(from: victim, level: level, newest: false) else { return nil }
    spent += costs.move
    return job
  }

  package func bring(_ job: QueuedJob, to thief: Int, level: Int) {
    lists.push(job, to: thief)
    workers[thief].memory.ownLevels |= 1 << UInt32(level)
    notifyWatcher()
  }

  package func showBrought(_ count: Int, to thief: Int, level: Int) {
    workers[thief].counts.steals += UInt64(count)
    showMoved(level: level)
  }

  package func bringOutside(from stuck: Int, by worker: Int, level: Int, most: Int) -> Bool {
    var jobs: [QueuedJob] = []
    while jobs.count < most, let job = takeAlong(from: stuck, level: level) { jobs.append(job) }
    if jobs.isEmpty { return false }
    let place = worker % rules.placeCount
    use(&lists.injectors[place * Self.levels + level].line, for: costs.list)
    for job in jobs.reversed() {
      lists.inject(job, into: place, isFirst: true)
      notifyWatcher()
    }
    return true
  }

  // MARK: - Multi-queue

  func pushMulti(_ job: QueuedJob) {
    let count = lists.multi.count
    let list =
      actor < 0
      ? choices.pick(below: count)
      : workers[actor].chosenLists.nextToAdd(stickiness: rules.strategy.priorities.stickiness) {
        choices.pick(below: count)
      }
    hold(&lists.multi[list].lock)
    lists.append(job, toMulti: list)
  }

  package func takeFromMultiQueue(_ worker: Int) -> QueuedJob? {
    for _ in 0..<2 {
      if let job = popMulti(chosenList(worker)) { return job }
      workers[worker].chosenLists.dropTake()
    }
    let count = lists.multi.count
    let start = choices.pick(below: count)
    guard let list = lists.filledLists.next(cyclicallyFrom: start) else {
      looksInVain += count
      spent += costs.look * Int64(count)
      return nil
    }
    let looks = (list - start + count) % count
    looksInVain += looks
    spent += costs.look * Int64(looks)
    return popMulti(list)
  }

  private func chosenList(_ worker: Int) -> Int {
    workers[worker].chosenLists.nextToTake(
      stickiness: rules.strategy.priorities.stickiness, random: { choices.pick(below: lists.multi.count) },
      state: { (lists.multi[$0].highestLevel, lists.multi[$0].count) })
  }

  private func popMulti(_ list: Int) -> QueuedJob? {
    if lists.multi[list].count == 0 {
      looksInVain += 1
      spent += costs.look
      return nil
    }
    hold(&lists.multi[list].lock)
    guard let job = lists.popMulti(list) else { return nil }
    spent += costs.take
    dequeued(job)
    return job
  }
}
