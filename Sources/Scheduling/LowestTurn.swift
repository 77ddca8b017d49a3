/// When a list of jobs of all levels gives one of the lowest level that has any: once in `interval` jobs.
@usableFromInline package struct LowestTurn: Sendable {
  @usableFromInline let interval: Int
  @usableFromInline var taken = 0

  /// - Parameter interval: 0 for never.
  @inlinable package init(interval: Int) { self.interval = interval }

  /// Chooses the level of the next job: the most urgent one, or at the lowest level's turn the least urgent one.
  /// - Parameter occupied: one bit for each level that has jobs, at least one.
  @inlinable package mutating func next(of occupied: UInt32) -> Int {
    taken += 1
    let isLowests = taken == interval
    if taken >= interval { taken = 0 }
    return isLowests ? occupied.trailingZeroBitCount : Levels.highest(occupied)
  }
}
