/// The levels of urgency of jobs: 0 (least urgent) to `count - 1`.
@usableFromInline package enum Levels {
  @inlinable package static var count: Int { 5 }
  /// The level of a job without a wish.
  @inlinable package static var middle: Int { count / 2 }

  /// Gives the number of the highest bit that is set; -1 for none.
  @inlinable @inline(__always)
  package static func highest(_ bits: UInt32) -> Int { 31 - bits.leadingZeroBitCount }
}

/// When a list of jobs of all levels gives one of the lowest level that has any: once in `interval` jobs.
package struct LowestTurn: Sendable {
  private let interval: Int
  private var taken = 0

  /// - Parameter interval: 0 for never.
  package init(interval: Int) { self.interval = interval }

  /// Chooses the level of the next job: the most urgent one, or at the lowest level's turn the least urgent one.
  /// - Parameter occupied: one bit for each level that has jobs, at least one.
  package mutating func next(of occupied: UInt32) -> Int {
    taken += 1
    let isLowests = taken == interval
    if taken >= interval { taken = 0 }
    return isLowests ? occupied.trailingZeroBitCount : Levels.highest(occupied)
  }
}
