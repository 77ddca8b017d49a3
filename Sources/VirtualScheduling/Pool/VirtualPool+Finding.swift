import Scheduling

// Where a worker with lists of its own looks for its next job: the functions of `StealingPool+Finding`, in the same order.

extension VirtualPool {
  /// The next job, from the worker's own lists, from outside and from the other workers: the most urgent level that may have
  /// work goes first.
  func nextJob(_ worker: Int) -> QueuedJob? {
    if workers[worker].isTimeForTurn(), let job = takeByTurn(worker) { return job }
    var untried = ~UInt32(0)
    while true {
      let ownBest = Self.highest(workers[worker].ownLevels)
      let anyBest = Self.highest(lists.hint & untried)
      if anyBest > ownBest {
        if let job = takeFromOthers(worker, level: anyBest) { return job }
        let isOnlyLevel = lists.hint == 1 << UInt32(anyBest)
        if lists.robsAll, ownBest < 0, isOnlyLevel, workers.count - sleepers.count == 1 { return nil }
        retract(anyBest)
        if !lists.robsAll { untried &= ~(1 << UInt32(anyBest)) }
        if lists.robsAll, ownBest < 0, lists.hint == 0 { return nil }
        continue
      }
      if ownBest < 0 { return lists.usesMultiQueue ? takeMulti(worker) : nil }
      if workers[worker].isTimeForOutside(lists.strategy.outsideInterval),
        let job = takeBesideOwn(worker, level: ownBest)
      {
        return job
      }
      if let job = takeOwn(worker, level: ownBest) { return job }
    }
  }

  /// The hint was wrong, or all jobs of the level are in the worker's own list.
  private func retract(_ level: Int) {
    if !lists.hasWork(level) { lists.hint &= ~(1 << UInt32(level)) }
  }

  private func takeOwn(_ worker: Int, level: Int) -> QueuedJob? {
    var newest = false
    if lists.strategy.ownEnd != .fifo {
      workers[worker].turn &+= 1
      newest = lists.strategy.ownEnd.takesNewest(turn: workers[worker].turn)
    }
    guard let job = lists.pop(from: worker, level: level, newest: newest) else {
      workers[worker].ownLevels &= ~(1 << UInt32(level))
      return nil
    }
    spent += costs.take
    dequeued(job)
    return job
  }

  private func takeFromOthers(_ worker: Int, level: Int, least: Int? = nil) -> QueuedJob? {
    if let job = takeInjected(worker, level: level, limit: lists.outsideBatch) { return job }
    return steal(worker, level: level, least: least ?? lists.strategy.leastJobs)
  }

  /// Moves a share of the jobs from outside to the worker, and takes the first one.
  private func takeInjected(_ worker: Int, level: Int, limit: Int) -> QueuedJob? {
    var first = 0
    if lists.placeCount > 1 {
      workers[worker].placeTurn = (workers[worker].placeTurn + 1) & Int(Int32.max)
      let turn = workers[worker].placeTurn
      first = (turn.isMultiple(of: 8) ? worker + turn / 8 : worker) % lists.placeCount
    }
    guard let place = lists.places[level].next(cyclicallyFrom: first) else {
      if lists.placeCount > 1 { spent += costs.look * Int64(lists.placeCount) }
      return nil
    }
    spent += costs.look * Int64((place - first + lists.placeCount) % lists.placeCount)
    return takeShare(worker, place: place, level: level, limit: limit)
  }

  /// An even share of the jobs in one list, as `Injector.take` gives it.
  private func takeShare(_ worker: Int, place: Int, level: Int, limit: Int) -> QueuedJob? {
    let index = place * Self.levels + level
    use(&lists.injectors[index].heldUntil)
    let count = lists.injectors[index].count
    let taken = min(limit, count / workerCount + 1, count)
    spent += costs.takeOutside + costs.move * Int64(taken - 1)
    workers[worker].counts.fromOutside += taken
    guard let job = lists.popInjected(from: place, level: level) else { return nil }
    dequeued(job)
    for _ in 1..<max(1, taken) {
      if let other = lists.popInjected(from: place, level: level) { bring(other, to: worker) }
    }
    if taken > 1 { showBrought(level) }
    return job
  }

  /// A job that the worker brings into its own list.
  private func bring(_ job: QueuedJob, to worker: Int) {
    lists.push(job, to: worker)
    workers[worker].ownLevels |= 1 << UInt32(job.level)
    notifyWatcher()
  }

  private func showBrought(_ level: Int) {
    lists.hint |= 1 << UInt32(level)
    react()
  }

  /// For a worker that has work of its own on that level: as many jobs as the worker added meanwhile.
  private func takeBesideOwn(_ worker: Int, level: Int) -> QueuedJob? {
    let interval = lists.strategy.outsideInterval
    workers[worker].looksOutside(interval)
    guard lists.count(worker, level) > Turns.longList else {
      return takeInjected(worker, level: level, limit: interval)
    }
    guard let job = takeInjected(worker, level: level, limit: 1) else { return nil }
    workers[worker].added = interval - 1
    return job
  }

  private func steal(_ worker: Int, level: Int, least: Int) -> QueuedJob? {
    let count = workers.count
    guard count > 1 else { return nil }
    let start = firstVictim(worker, level: level)
    // How many workers behind `start` have been visited.
    var offset = 0
    while offset < count {
      let from = start + offset < count ? start + offset : start + offset - count
      guard let found = holder(level, least: least, cyclicallyFrom: from) else { break }
      let distance = (found - start + count) % count
      if distance < offset { break }
      pay(looks: distance - offset, passing: worker, from: start + offset, count: count)
      offset = distance + 1
      if found == worker || losesRace(found, level: level) { continue }
      return rob(found, by: worker, level: level)
    }
    pay(looks: count - offset, passing: worker, from: start + offset, count: count)
    return nil
  }

  private func firstVictim(_ worker: Int, level: Int) -> Int {
    var memory = workers[worker].victim
    defer { workers[worker].victim = memory }
    return lists.strategy.victim.first(
      thief: worker, count: workers.count, memory: &memory, random: { choices.pick(below: $0) },
      length: { lists.count($0, level) })
  }

  private func holder(_ level: Int, least: Int, cyclicallyFrom start: Int) -> Int? {
    least > 1
      ? lists.richHolders[level].next(cyclicallyFrom: start) : lists.holders[level].next(cyclicallyFrom: start)
  }

  /// Pays for looks at workers in a row that give no job. The thief does not look at itself.
  private func pay(looks: Int, passing thief: Int, from start: Int, count: Int) {
    guard looks > 0 else { return }
    let passes = (thief - start % count + count) % count < looks
    let looks = looks - (passes ? 1 : 0)
    looksInVain += looks
    spent += costs.look * Int64(looks)
  }

  /// Whether another thread takes the job that a thief wants. That is open when another thread took a job from the same list
  /// at the same instant.
  private func losesRace(_ victim: Int, level: Int) -> Bool {
    guard lists.strategy.lostRace == .next, lists.deques[victim * Self.levels + level].lastTaken == now,
      choices.pick(below: 2) == 1
    else { return false }
    lostRaces += 1
    return true
  }

  private func rob(_ victim: Int, by worker: Int, level: Int) -> QueuedJob? {
    let index = victim * Self.levels + level
    use(&lists.deques[index].heldUntil)
    lists.deques[index].lastTaken = now
    guard let job = lists.pop(from: victim, level: level, newest: false) else { return nil }
    dequeued(job)
    spent += costs.steal[distance(worker, victim)]
    workers[worker].counts.steals += 1
    lists.strategy.victim.succeeded(at: victim, memory: &workers[worker].victim)
    let wanted = lists.strategy.stealAmount.count(of: lists.count(victim, level) + 1) - 1
    var moved = 0
    while moved < wanted, let other = lists.pop(from: victim, level: level, newest: false) {
      spent += costs.move
      bring(other, to: worker)
      moved += 1
    }
    workers[worker].counts.steals += moved
    if moved > 0 { showBrought(level) }
    return job
  }

  /// Called when a turn has come.
  private func takeByTurn(_ worker: Int) -> QueuedJob? {
    let due = workers[worker].nextTurn()
    if due.isOthers, let job = serveStuck(worker) { return job }
    if due.isLowests, let job = takeForFairness(worker) { return job }
    return due.isOthers ? takeBesideAdded(worker) : nil
  }

  /// A job of the lowest level that has any, here or outside.
  private func takeForFairness(_ worker: Int) -> QueuedJob? {
    let own = workers[worker].ownLevels
    let outsideFirst = workers[worker].outsideGoesFirst()
    for level in 0..<Self.levels {
      let hasOwn = own & 1 << UInt32(level) != 0
      if outsideFirst, let job = takeInjected(worker, level: level, limit: 1) { return job }
      if hasOwn, let job = takeOwn(worker, level: level) { return job }
      if !outsideFirst, let job = takeInjected(worker, level: level, limit: 1) { return job }
    }
    return nil
  }

  /// A job from outside that is as urgent as the worker's own.
  private func takeBesideAdded(_ worker: Int) -> QueuedJob? {
    let best = Self.highest(workers[worker].ownLevels)
    guard workers[worker].hasUnlooked(), best >= 0, best >= Self.highest(lists.hint) else { return nil }
    return takeInjected(worker, level: best, limit: 1)
  }

  /// The jobs of a worker that has begun no job since the last such turn go to where all look.
  private func serveStuck(_ worker: Int) -> QueuedJob? {
    guard workers.count > 1 else { return nil }
    var job: QueuedJob?
    let last = workers[worker].seen
    if last.worker >= 0, workers[last.worker].counts.jobs == last.jobs {
      if !lists.hasJobs(worker), !lists.hasOutside {
        let level = Self.highest(lists.hint)
        if level >= 0 { job = rob(last.worker, by: worker, level: level) }
      } else {
        bringJobs(of: last.worker, worker)
      }
    }
    var next = last.worker < 0 ? worker : last.worker
    for _ in 0..<min(workers.count, Turns.passedAtOnce) {
      next = next + 1 < workers.count ? next + 1 : 0
      spent += costs.look
      if next != worker, lists.hasJobs(next) { break }
    }
    workers[worker].seen = (next, next == worker ? -1 : workers[next].counts.jobs)
    return job
  }

  /// Moves the oldest jobs of each level from a stuck worker to the front of the jobs from outside.
  private func bringJobs(of stuck: Int, _ worker: Int) {
    var broughtAny = false
    for level in 0..<Self.levels {
      var jobs: [QueuedJob] = []
      while jobs.count < Turns.broughtAtOnce, let job = lists.pop(from: stuck, level: level, newest: false) {
        jobs.append(job)
      }
      if jobs.isEmpty { continue }
      spent += costs.move * Int64(jobs.count)
      let place = worker % lists.placeCount
      use(&lists.injectors[place * Self.levels + level].heldUntil)
      for job in jobs.reversed() {
        lists.inject(job, into: place, isFirst: true)
        notifyWatcher()
      }
      lists.hint |= 1 << UInt32(level)
      broughtAny = true
    }
    if broughtAny { react() }
  }

  /// Looks at every level, the most urgent first.
  func sweep(_ worker: Int, least: Int? = nil) -> QueuedJob? {
    if lists.usesMultiQueue { return queued == 0 ? nil : takeMulti(worker) }
    for level in (0..<Self.levels).reversed() {
      if let job = takeFromOthers(worker, level: level, least: least) {
        lists.hint |= 1 << UInt32(level)
        return job
      }
    }
    return nil
  }

  // MARK: - Multi-queue

  func pushMulti(_ job: QueuedJob) {
    var list = 0
    if actor < 0 {
      list = choices.pick(below: lists.multi.count)
    } else {
      if workers[actor].addsLeft == 0 {
        workers[actor].listToAdd = choices.pick(below: lists.multi.count)
        workers[actor].addsLeft = lists.strategy.priorities.stickiness
      }
      workers[actor].addsLeft -= 1
      list = workers[actor].listToAdd
    }
    use(&lists.multi[list].heldUntil)
    lists.append(job, toMulti: list)
  }

  private func takeMulti(_ worker: Int) -> QueuedJob? {
    for _ in 0..<2 {
      if let job = popMulti(worker, chosenList(worker)) { return job }
      workers[worker].takesLeft = 0
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
    return popMulti(worker, list)
  }

  private func chosenList(_ worker: Int) -> Int {
    if workers[worker].takesLeft == 0 {
      workers[worker].listsToTake = (
        choices.pick(below: lists.multi.count), choices.pick(below: lists.multi.count)
      )
      workers[worker].takesLeft = lists.strategy.priorities.stickiness
    }
    workers[worker].takesLeft -= 1
    let (first, second) = workers[worker].listsToTake
    return StealingStrategy.Priorities.takesFirst(
      (lists.multi[first].highestLevel, lists.multi[first].count),
      (lists.multi[second].highestLevel, lists.multi[second].count)) ? first : second
  }

  private func popMulti(_ worker: Int, _ list: Int) -> QueuedJob? {
    if lists.multi[list].count == 0 {
      looksInVain += 1
      spent += costs.look
      return nil
    }
    use(&lists.multi[list].heldUntil)
    guard let job = lists.popMulti(list) else { return nil }
    spent += costs.take
    dequeued(job)
    return job
  }
}
