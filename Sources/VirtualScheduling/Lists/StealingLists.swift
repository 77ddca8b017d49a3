import Scheduling

/// The lists of a pool in which every worker has lists of its own.
struct StealingLists {
  let rules: StealingRules
  private(set) var workerCount = 0

  /// The list of worker `w` for level `l` is at `w * levels + l`.
  var deques: [JobRing] = []
  /// For each level, the workers with a job of that level.
  private(set) var holders = [NumberSet](repeating: NumberSet(), count: VirtualPool.levels)
  /// For each level, the workers with as many jobs of that level as a thief wants to see.
  private(set) var richHolders = [NumberSet](repeating: NumberSet(), count: VirtualPool.levels)
  /// How many changes the lists of a level have had, and at which of them each worker's list changed last: for worker
  /// `w` and level `l` at `w * levels + l`.
  private(set) var changes = [UInt32](repeating: 0, count: VirtualPool.levels)
  private(set) var changedAt: [UInt32] = []
  /// How many changes a thief has seen, when it last looked at all lists of a level.
  private var seenChanges: [UInt32] = []
  /// For each level, the number of jobs in the lists of workers.
  private var owned = [Int](repeating: 0, count: VirtualPool.levels)

  /// The list of place `p` for level `l` is at `p * levels + l`.
  var injectors: [JobRing]
  /// For each level, the places with a job.
  private(set) var places = [NumberSet](repeating: NumberSet(), count: VirtualPool.levels)
  /// For each level, the number of jobs from outside.
  private var outside = [Int](repeating: 0, count: VirtualPool.levels)
  /// How many jobs went to a place, when there are several.
  var placed = 0

  var multi: [LevelList]
  private(set) var filledLists = NumberSet()

  /// One bit for each level: some list may have a job of that level.
  var hint: UInt32 = 0
  /// How many threads may search, when the strategy adapts that number.
  var adaptedSearchers = 1

  init(_ strategy: StealingStrategy, workers: Int, fairnessInterval: Int) {
    rules = StealingRules(strategy, workers: workers)
    injectors = Array(repeating: JobRing(), count: rules.placeCount * VirtualPool.levels)
    multi = Array(repeating: LevelList(fairnessInterval: fairnessInterval), count: rules.multiQueueLists)
  }

  mutating func addWorker() {
    workerCount += 1
    deques.append(contentsOf: repeatElement(JobRing(), count: VirtualPool.levels))
    changedAt.append(contentsOf: repeatElement(0, count: VirtualPool.levels))
    seenChanges.append(contentsOf: repeatElement(0, count: VirtualPool.levels))
  }

  // MARK: - Lists of workers

  func count(_ worker: Int, _ level: Int) -> Int { deques[worker * VirtualPool.levels + level].count }

  func hasJobs(_ worker: Int) -> Bool { (0..<VirtualPool.levels).contains { count(worker, $0) > 0 } }

  mutating func push(_ job: QueuedJob, to worker: Int) {
    let level = Int(job.level)
    deques[worker * VirtualPool.levels + level].append(job)
    owned[level] += 1
    counted(worker, level)
  }

  mutating func pop(from worker: Int, level: Int, newest: Bool) -> QueuedJob? {
    let index = worker * VirtualPool.levels + level
    guard let job = newest ? deques[index].popLast() : deques[index].popFirst() else { return nil }
    owned[level] -= 1
    counted(worker, level)
    return job
  }

  private mutating func counted(_ worker: Int, _ level: Int) {
    let count = count(worker, level)
    changes[level] &+= 1
    changedAt[worker * VirtualPool.levels + level] = changes[level]
    holders[level].set(worker, to: count > 0)
    if !rules.robsAll { richHolders[level].set(worker, to: count >= rules.strategy.leastJobs) }
  }

  // MARK: - What thieves have seen

  /// Whether a list of a level has changed since a thief last looked at all of them.
  func hasChanged(since thief: Int, level: Int) -> Bool {
    seenChanges[thief * VirtualPool.levels + level] != changes[level]
  }

  /// Whether the list of a worker is among those.
  func hasChanged(_ worker: Int, since thief: Int, level: Int) -> Bool {
    changedAt[worker * VirtualPool.levels + level] > seenChanges[thief * VirtualPool.levels + level]
  }

  /// Notes that a thief has looked at all lists of a level.
  mutating func sees(_ thief: Int, level: Int) { seenChanges[thief * VirtualPool.levels + level] = changes[level] }

  // MARK: - Jobs from outside

  /// - Parameter isFirst: whether the job goes before all others there.
  mutating func inject(_ job: QueuedJob, into place: Int, isFirst: Bool = false) {
    let level = Int(job.level)
    let index = place * VirtualPool.levels + level
    if isFirst { injectors[index].prepend(job) } else { injectors[index].append(job) }
    outside[level] += 1
    places[level].set(place, to: true)
  }

  mutating func popInjected(from place: Int, level: Int) -> QueuedJob? {
    let index = place * VirtualPool.levels + level
    guard let job = injectors[index].popFirst() else { return nil }
    outside[level] -= 1
    if injectors[index].isEmpty { places[level].set(place, to: false) }
    return job
  }

  /// Jobs that wait in a place and for its worker.
  func waiting(in place: Int, level: Int) -> Int {
    injectors[place * VirtualPool.levels + level].count + (place < workerCount ? count(place, level) : 0)
  }

  // MARK: - All lists

  func hasOutside(_ level: Int) -> Bool { outside[level] > 0 }

  func hasWork(_ level: Int) -> Bool { outside[level] > 0 || owned[level] > 0 }

  mutating func append(_ job: QueuedJob, toMulti list: Int) {
    multi[list].append(job)
    filledLists.set(list, to: true)
  }

  mutating func popMulti(_ list: Int) -> QueuedJob? {
    let job = multi[list].popFirst()
    if multi[list].count == 0 { filledLists.set(list, to: false) }
    return job
  }
}
