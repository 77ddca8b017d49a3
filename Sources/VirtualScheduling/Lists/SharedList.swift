import Scheduling

/// The list of a thread pool: what `PriorityFIFO` is for one lock, and `LevelLists` for a lock for each level.
struct SharedList {
  let strategy: ThreadPoolStrategy
  private var jobs: LevelList
  /// The pool's lock.
  var lock = SharedLine()
  /// The lock of each level.
  var levelLocks = [SharedLine](repeating: SharedLine(), count: VirtualPool.levels)

  init(_ strategy: ThreadPoolStrategy, fairnessInterval: Int) {
    self.strategy = strategy
    jobs = LevelList(fairnessInterval: fairnessInterval, newestFirst: strategy.order == .lifo)
  }

  var highestLevel: Int { jobs.highestLevel }
  mutating func append(_ job: QueuedJob) { jobs.append(job) }
  mutating func popFirst() -> QueuedJob? { jobs.popFirst() }
  func hasJob(above level: Int) -> Bool { strategy.order == .priority && jobs.hasJob(above: level) }
}
