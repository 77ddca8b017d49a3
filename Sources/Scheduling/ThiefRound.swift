/// A round of a thief over workers whose numbers follow each other, in the order of their numbers.
@usableFromInline package struct ThiefRound: Sendable {
  /// The index of the first worker.
  @usableFromInline package let first: Int
  /// The lowest index of a worker.
  @usableFromInline package let base: Int
  /// The number of workers.
  @usableFromInline package let count: Int
  /// How many workers have been visited, or passed.
  @usableFromInline package var visited = 0

  @usableFromInline package init(first: Int, base: Int = 0, count: Int) {
    (self.first, self.base, self.count) = (first, base, count)
  }

  /// The index of the next worker; nil at the end of the round. The caller counts the visit.
  @inlinable package var next: Int? {
    guard visited < count else { return nil }
    return first + visited < base + count ? first + visited : first + visited - count
  }
}
