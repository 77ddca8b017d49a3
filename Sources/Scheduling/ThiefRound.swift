/// A round of a thief over all workers, in the order of their numbers.
@usableFromInline package struct ThiefRound: Sendable {
  /// The index of the first worker.
  package let first: Int
  /// The number of workers.
  package let count: Int
  /// How many workers have been visited, or passed.
  package var visited = 0

  @usableFromInline init(first: Int, count: Int) { (self.first, self.count) = (first, count) }

  /// The index of the next worker; nil at the end of the round. Does not count the visit.
  package var next: Int? {
    guard visited < count else { return nil }
    return first + visited < count ? first + visited : first + visited - count
  }
}
