import Primitives
import Scheduling

/// Jobs by urgency: the most urgent level first, first in, first out within a level, unless a strategy wants another
/// order. O(1). Not synchronised.
package struct PriorityFIFO: ~Copyable {
  private var lists = Job.PerLevel<JobFIFO> { _ in JobFIFO() }
  /// One bit for each level that has jobs.
  private var occupied: UInt32 = 0
  private var lowestTurn: LowestTurn
  private let hasLevels: Bool
  private let newestFirst: Bool
  package private(set) var count = 0

  /// - Parameters:
  ///   - fairnessInterval: see `Fairness`.
  ///   - hasLevels: whether urgency counts.
  ///   - newestFirst: whether the newest job of a level goes first, and not the oldest.
  package init(fairnessInterval: Int, hasLevels: Bool = true, newestFirst: Bool = false) {
    lowestTurn = LowestTurn(interval: fairnessInterval)
    self.hasLevels = hasLevels
    self.newestFirst = newestFirst
  }

  package var isEmpty: Bool { count == 0 }

  /// The most urgent level that has jobs; -1 for none.
  package var highestLevel: Int { Levels.highest(occupied) }

  package mutating func append(_ job: UInt) {
    let level = hasLevels ? Job(word: job).level : Job.middleLevel
    if newestFirst { lists[level].prepend(job) } else { lists[level].append(job) }
    occupied |= 1 << UInt32(level)
    count += 1
  }

  package mutating func append(contentsOf jobs: consuming JobFIFO) {
    while case let job = jobs.popFirst(), job != 0 { append(job) }
  }

  /// The most urgent job; once every `fairnessInterval` times, one of the lowest level that has jobs. 0 when there is
  /// no job.
  package mutating func popFirst() -> UInt {
    guard occupied != 0 else { return 0 }
    let level = lowestTurn.next(of: occupied)
    let job = lists[level].popFirst()
    if lists[level].isEmpty { occupied &= ~(1 << UInt32(level)) }
    count -= 1
    return job
  }

  /// Whether a job is more urgent than that level.
  package func hasJob(above level: Int) -> Bool { hasLevels && occupied >> UInt32(level + 1) != 0 }
}

/// How the backends of this library weigh urgency against waiting.
///
/// The most urgent job goes first. With that rule alone, a steady stream of urgent jobs would keep the others waiting
/// for ever. So once every `fairnessInterval` jobs a backend takes a job of the lowest level that has one. A smaller
/// number means shorter waits for the lowest level and a looser order. 0 means never: strictly the most urgent first.
public enum Fairness {
  /// Every 61st job: 61 is a prime, so that the interval keeps no step with periodic work.
  public static let defaultInterval = Turns.usualFairnessInterval

  /// Traps when the interval is negative.
  package static func checked(_ interval: Int) -> Int {
    if interval < 0 { fatalError("Operations: fairnessInterval cannot be \(interval): it is 0 (none) or more") }
    return interval
  }
}
