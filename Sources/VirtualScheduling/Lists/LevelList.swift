import Scheduling

/// Jobs by urgency, as `PriorityFIFO` of the pools has them: the most urgent level first, and once every
/// `fairnessInterval` jobs one of the lowest level that has any; each call O(1).
struct LevelList {
  private var lists: [JobRing]
  private var lowestTurn: LowestTurn
  private let newestFirst: Bool
  private(set) var count = 0
  /// One bit for each level that has jobs.
  private var occupied: UInt32 = 0
  /// The lock of the list.
  var lock = SharedLine()

  init(fairnessInterval: Int, newestFirst: Bool = false) {
    lists = Array(repeating: JobRing(), count: VirtualPool.levels)
    lowestTurn = LowestTurn(interval: fairnessInterval)
    self.newestFirst = newestFirst
  }

  /// The most urgent level that has jobs; -1 for none.
  var highestLevel: Int { Levels.highest(occupied) }

  func hasJob(above level: Int) -> Bool { occupied >> UInt32(level + 1) != 0 }

  mutating func append(_ job: QueuedJob) {
    lists[Int(job.level)].append(job)
    occupied |= 1 << UInt32(job.level)
    count += 1
  }

  mutating func popFirst() -> QueuedJob? {
    guard occupied != 0 else { return nil }
    let level = lowestTurn.next(of: occupied)
    let job = newestFirst ? lists[level].popLast() : lists[level].popFirst()
    if lists[level].isEmpty { occupied &= ~(1 << UInt32(level)) }
    count -= 1
    return job
  }
}
