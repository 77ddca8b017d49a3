/// The steps of a pool of work-stealing workers. The steps differ between a real pool, whose lists many threads change,
/// and a virtual one. The way from step to step is one text: `nextJob`, and what it calls.
@usableFromInline package protocol StealingSteps {
  /// How the pool names a worker.
  associatedtype Worker
  /// A job that was taken from a list.
  associatedtype TakenJob

  var rules: StealingRules { get }

  // MARK: The hint

  /// One bit for each level of which some list may have a job.
  var hintedLevels: UInt32 { get }
  /// Says that some list has a job of the level.
  func hint(_ level: Int)
  /// Takes the hint of a level back, unless some list has a job of that level.
  func retract(_ level: Int)
  /// Whether no thread but one is awake: nobody else adds jobs to lists of workers.
  var isOnlyOneAwake: Bool { get }

  // MARK: Workers

  /// The number of workers that there are, spare ones included.
  var workersMade: Int { get }
  func index(of worker: Worker) -> Int
  /// Calls a function with what the worker remembers. (An accessor that yields would allocate its frame in a debug
  /// build.)
  func withMemory<Result>(of worker: Worker, _ body: (inout WorkerMemory) -> Result) -> Result
  func random(_ worker: Worker, below bound: Int) -> Int
  /// The number of jobs that a worker has begun.
  func begun(_ worker: Int) -> Int
  func hasJobs(_ worker: Int) -> Bool
  /// The number of jobs of a level in a worker's list.
  func count(_ worker: Int, level: Int) -> Int

  // MARK: Taking

  func takeOwn(_ worker: Worker, level: Int) -> TakenJob?
  /// Whether no job of the level waits outside.
  func isOutsideEmpty(level: Int) -> Bool
  /// Moves an even share of the jobs of a level from outside to the worker, `limit` at most, and takes the first one.
  func takeInjected(_ worker: Worker, level: Int, limit: Int) -> TakenJob?
  func takeFromMultiQueue(_ worker: Worker) -> TakenJob?
  /// Goes on to the next worker of a round that may have `least` jobs of a level for the thief; nil at the end of the
  /// round.
  func nextVictim(of thief: Worker, level: Int, least: Int, in round: inout ThiefRound) -> Int?
  /// Takes the oldest job of a worker for a thief.
  func takeOldest(of victim: Int, by thief: Worker, level: Int) -> TakenJob?
  /// Takes a further job, when one of the same worker has been taken.
  func takeAlong(from victim: Int, level: Int) -> TakenJob?
  /// Puts a job that was taken along into the thief's own list.
  func bring(_ job: TakenJob, to thief: Worker, level: Int)
  /// Shows the jobs that were brought, of which `count` were stolen. On the way the jobs were visible nowhere: a thread
  /// may have gone to sleep meanwhile.
  func showBrought(_ count: Int, to thief: Worker, level: Int)
  /// Moves the oldest jobs of a level from a worker to the front of the jobs from outside, `most` at most.
  /// - Returns: whether there was any.
  func bringOutside(from stuck: Int, by worker: Worker, level: Int, most: Int) -> Bool

  // MARK: Waking

  /// How many threads sleep.
  var sleeping: Int { get }
  /// What a new job calls for when `wanted` searching threads are enough.
  func reaction(wanted: Int) -> Reaction
  /// Makes one more thread active, unless `wanted` threads are searching by now.
  /// - Parameter mayInsist: whether to wait a little for a thread that nobody else would try to start again.
  func activate(wanted: Int, mayInsist: Bool)
  /// Counts the jobs that wait, `most` at most.
  func visibleJobs(atMost most: Int) -> Int
  /// Notes that jobs are queued while all places are taken.
  func lacksPlace()
  /// Does what a job calls for that was made visible.
  func react()
}

extension StealingSteps {
  /// Finds the next job, in the worker's own lists, outside and at the other workers: the most urgent level that may
  /// have work goes first. Gives nil for none.
  @inlinable @inline(__always)
  package func nextJob(of worker: Worker) -> TakenJob? {
    if withMemory(of: worker, { $0.isTimeForTurn() }), let job = takeByTurn(worker) { return job }
    // When a thief leaves workers with few jobs alone, a level that the hint names may have jobs and give none.
    var untried = ~UInt32(0)
    while true {
      let hints = hintedLevels & untried
      let ownBest = Levels.highest(withMemory(of: worker) { $0.ownLevels })
      let anyBest = Levels.highest(hints)
      if anyBest > ownBest {
        if let job = takeFromOthers(worker, level: anyBest, least: rules.strategy.leastJobs) { return job }
        if rules.robsAll {
          // Two pools that hand single jobs to each other would otherwise write the hint twice for every job.
          if ownBest < 0, hints == 1 << UInt32(anyBest), isOnlyOneAwake { return nil }
        } else {
          untried &= ~(1 << UInt32(anyBest))
        }
        retract(anyBest)
        continue
      }
      // With a multi-queue, no worker has jobs of its own, and the hint names no level.
      if ownBest < 0 { return rules.usesMultiQueue ? takeFromMultiQueue(worker) : nil }
      if withMemory(of: worker, { $0.isTimeForOutside }), let job = takeBesideOwn(worker, level: ownBest) { return job }
      if let job = takeOwn(worker, level: ownBest) { return job }
    }
  }

  /// Looks at every level, the most urgent first.
  @inlinable @inline(never)
  package func sweep(_ worker: Worker, least: Int) -> TakenJob? {
    if rules.usesMultiQueue { return takeFromMultiQueue(worker) }
    for level in (0..<Levels.count).reversed() {
      if let job = takeFromOthers(worker, level: level, least: least) {
        hint(level)
        return job
      }
    }
    return nil
  }

  /// Takes a job of the level from outside, or else from another worker.
  @inlinable @inline(__always)
  func takeFromOthers(_ worker: Worker, level: Int, least: Int) -> TakenJob? {
    if let job = takeInjected(worker, level: level, limit: rules.outsideBatch) { return job }
    return steal(worker, level: level, least: least)
  }

  /// Takes jobs from outside for a worker that has work of its own on that level: as many jobs as the worker added
  /// meanwhile, so that its own jobs and the jobs from outside both get their share.
  @inlinable @inline(never)
  func takeBesideOwn(_ worker: Worker, level: Int) -> TakenJob? {
    withMemory(of: worker) { $0.looksOutside() }
    guard count(index(of: worker), level: level) > Turns.longList else {
      return takeInjected(worker, level: level, limit: rules.strategy.outsideInterval)
    }
    guard let job = takeInjected(worker, level: level, limit: 1) else { return nil }
    withMemory(of: worker) { $0.looksOutsideSoon() }
    return job
  }

  /// Visits the other workers, and takes the oldest job of the first that gives one.
  @inlinable
  func steal(_ worker: Worker, level: Int, least: Int) -> TakenJob? {
    let count = workersMade
    guard count > 1 else { return nil }
    if let near = rules.strategy.victim.neighbours(of: index(of: worker), count: count),
      let job = steal(worker, level: level, least: least, among: near)
    {
      return job
    }
    var round = ThiefRound(first: firstVictim(of: worker, count: count, level: level), count: count)
    while let victim = nextVictim(of: worker, level: level, least: least, in: &round) {
      if let job = rob(victim, by: worker, level: level) { return job }
    }
    return nil
  }

  /// Visits the workers of a group, from a random one on.
  @inlinable @inline(never)
  func steal(_ worker: Worker, level: Int, least: Int, among group: Range<Int>) -> TakenJob? {
    let first = group.lowerBound + random(worker, below: group.count)
    var round = ThiefRound(first: first, base: group.lowerBound, count: group.count)
    while let victim = nextVictim(of: worker, level: level, least: least, in: &round) {
      if let job = rob(victim, by: worker, level: level) { return job }
    }
    return nil
  }

  /// Chooses the worker to visit first.
  @inlinable
  func firstVictim(of worker: Worker, count: Int, level: Int) -> Int {
    var memory = withMemory(of: worker) { $0.victim }
    defer { withMemory(of: worker) { $0.victim = memory } }
    return rules.strategy.victim.first(
      thief: index(of: worker), count: count, memory: &memory, random: { random(worker, below: $0) },
      length: { self.count($0, level: level) })
  }

  /// Takes the oldest job of a worker, and as many behind it as the strategy says.
  @inlinable
  func rob(_ victim: Int, by worker: Worker, level: Int) -> TakenJob? {
    guard let job = takeOldest(of: victim, by: worker, level: level) else { return nil }
    withMemory(of: worker) { rules.strategy.victim.succeeded(at: victim, memory: &$0.victim) }
    if rules.strategy.stealAmount != .one { robMore(victim, by: worker, level: level) }
    return job
  }

  /// Moves the rest of a theft, whose first job is taken, to the thief's own list.
  @inlinable @inline(never)
  func robMore(_ victim: Int, by worker: Worker, level: Int) {
    let wanted = rules.strategy.stealAmount.count(of: count(victim, level: level) + 1) - 1
    var moved = 0
    while moved < wanted, let job = takeAlong(from: victim, level: level) {
      bring(job, to: worker, level: level)
      moved += 1
    }
    if moved > 0 { showBrought(moved, to: worker, level: level) }
  }

  // MARK: - Turns

  /// Takes a job because a turn has come (`Turns`). `StealingBackend/README.md` has the bound that follows.
  @inlinable @inline(never)
  func takeByTurn(_ worker: Worker) -> TakenJob? {
    let due = withMemory(of: worker) { $0.nextTurn() }
    if due.isOthers, let job = serveStuck(worker) { return job }
    if due.isLowests, let job = takeForFairness(worker) { return job }
    return due.isOthers ? takeBesideAdded(worker) : nil
  }

  /// Takes, once every `fairnessInterval` jobs, a job of the lowest level that has any, here or outside. The worker
  /// takes one job: others, taken along, would wait here for more urgent jobs, and later ones outside would go first.
  @inlinable
  func takeForFairness(_ worker: Worker) -> TakenJob? {
    let own = withMemory(of: worker) { $0.ownLevels }
    let outsideFirst = withMemory(of: worker) { $0.outsideGoesFirst() }
    for level in 0..<Levels.count {
      if outsideFirst, let job = takeInjected(worker, level: level, limit: 1) { return job }
      if own & 1 << UInt32(level) != 0, let job = takeOwn(worker, level: level) { return job }
      if !outsideFirst, let job = takeInjected(worker, level: level, limit: 1) { return job }
    }
    return nil
  }

  /// Takes, at the others' turn, a job from outside that is as urgent as the worker's own: for a worker that added many
  /// jobs at once and looked outside once.
  @inlinable
  func takeBesideAdded(_ worker: Worker) -> TakenJob? {
    let best = Levels.highest(withMemory(of: worker) { $0.ownLevels })
    guard withMemory(of: worker, { $0.hasUnlooked() }), best >= 0, best >= Levels.highest(hintedLevels) else {
      return nil
    }
    return takeInjected(worker, level: best, limit: 1)
  }

  /// Looks, at the others' turn, whether the worker that was seen at the last such turn is stuck, that is, has begun no
  /// job since. Nobody takes from a stuck worker's lists while the others feed themselves, so its jobs go to where all
  /// look. Then another worker with jobs is looked at.
  /// - Returns: a job of the stuck worker, when there is nothing to do here or outside.
  @inlinable
  func serveStuck(_ worker: Worker) -> TakenJob? {
    let (count, own) = (workersMade, index(of: worker))
    guard count > 1 else { return nil }
    var job: TakenJob?
    let last = withMemory(of: worker) { $0.seen }
    if last.worker >= 0, begun(last.worker) == last.jobs {
      if !hasJobs(own), (0..<Levels.count).allSatisfy(isOutsideEmpty(level:)) {
        let level = Levels.highest(hintedLevels)
        if level >= 0 { job = rob(last.worker, by: worker, level: level) }
      } else {
        bringJobs(of: last.worker, worker)
      }
    }
    var next = last.worker < 0 ? own : last.worker
    for _ in 0..<min(count, Turns.passedAtOnce) {
      next = next + 1 < count ? next + 1 : 0
      if next != own, hasJobs(next) { break }
    }
    let seen = (worker: next, jobs: next == own ? -1 : begun(next))
    withMemory(of: worker) { $0.seen = seen }
    return job
  }

  /// Moves the oldest jobs of each level from a stuck worker to the front of the jobs from outside.
  @inlinable
  func bringJobs(of stuck: Int, _ worker: Worker) {
    var broughtAny = false
    for level in 0..<Levels.count
    where bringOutside(from: stuck, by: worker, level: level, most: Turns.broughtAtOnce) {
      hint(level)
      broughtAny = true
    }
    // On the way the jobs were visible nowhere: a thread may have gone to sleep meanwhile.
    if broughtAny { react() }
  }

  // MARK: - Waking

  /// Does what a job calls for that was made visible, as the strategy says.
  @inlinable @inline(never)
  package func reactByStrategy() {
    let waking = rules.strategy.waking
    let wanted = waking.searchersWanted(jobs: 1, workers: rules.workers, sleeping: sleeping)
    for number in 0..<(waking == .all ? wanted : 1) {
      switch reaction(wanted: wanted) {
      case .nothing: return
      case .activate: activate(wanted: wanted, mayInsist: number == 0)
      case .busy: return lacksPlace()
      }
    }
  }

  /// Called when a search has found a job: passes the search on, as the strategy says, to as many threads as there are
  /// places and jobs for.
  /// - Parameters:
  ///   - searching: how many other threads search.
  ///   - places: how many places are free.
  @inlinable @inline(never)
  package func passSearchOn(searching: Int, places: Int) {
    let threads = rules.strategy.passing.threads(places: places)
    if threads == 0 { return }
    let wanted = visibleJobs(atMost: searching + threads)
    for _ in 0..<threads {
      guard case .activate = reaction(wanted: wanted) else { return }
      activate(wanted: wanted, mayInsist: false)
    }
  }

  /// Called when several jobs were made visible together, and somebody searches. The threads that sleep would otherwise
  /// wake one another in turn, and each takes 20 microseconds until it runs.
  @inlinable @inline(never)
  package func wakeMore(for jobs: Int) {
    let wanted = rules.strategy.waking.searchersWanted(jobs: jobs, workers: rules.workers, sleeping: sleeping)
    for _ in 1..<max(1, min(wanted, jobs)) {
      guard case .activate = reaction(wanted: wanted) else { return }
      // The call for the first thread has waited already, if the system refuses threads.
      activate(wanted: wanted, mayInsist: false)
    }
  }
}
