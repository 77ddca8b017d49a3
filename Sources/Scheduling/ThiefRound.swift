/// A round of a thief over all workers, in the order of their numbers.
@usableFromInline package struct ThiefRound: Sendable {
  /// The index of the first worker.
  @usableFromInline package let first: Int
  /// The number of workers.
  @usableFromInline package let count: Int
  /// How many workers have been visited, or passed.
  @usableFromInline package var visited = 0

  @usableFromInline init(first: Int, count: Int) { (self.first, self.count) = (first, count) }

  /// The index of the next worker; nil at the end of the round. The caller counts the visit.
  @inlinable package var next: Int? {
    guard visited < count else { return nil }
    return first + visited < count ? first + visited : first + visited - count
  }
}
