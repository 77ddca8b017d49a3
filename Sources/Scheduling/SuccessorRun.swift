/// A run of operations that one thread runs in a row, each the successor of the one before.
@usableFromInline package struct SuccessorRun: Sendable {
  @usableFromInline let length: Int
  @usableFromInline var left: Int

  /// - Parameter length: how many operations the run may have, 1 or more.
  @inlinable @inline(__always)
  package init(length: Int) { (self.length, left) = (length, length) }

  /// Decides what happens to the successor of a job that has ended. After a run other queued jobs have a turn, if there
  /// are any.
  /// - Parameters:
  ///   - hasOthers: whether other jobs are queued. Asked at the end of a run alone.
  ///   - isOutranked: whether a more urgent job is queued.
  /// - Returns: whether the successor is queued behind the others, and not run.
  @inlinable @inline(__always)
  package mutating func isQueued(hasOthers: @autoclosure () -> Bool, isOutranked: @autoclosure () -> Bool) -> Bool {
    left -= 1
    if left == 0, !hasOthers() { left = length }
    return left == 0 || isOutranked()
  }
}
