import OperationJobs
import Primitives
import Synchronization

/// Operations that became ready while all places of their queue are taken. They wait here for the next visit to the
/// controller, so that whoever adds operations to a busy queue does not compete for the controller's lock.
///
/// A thread that brings an operation pushes it, and then reads `quietLevel`. A visitor that makes the controller less
/// quiet stores `quietLevel`, and then looks whether something was pushed. All four are sequentially consistent, so one
/// of the two sees the other: no operation stays here without a visit to come.
struct Arrivals: ~Copyable {
  private struct Words: ~Copyable {
    /// Top of a stack of operations, each by its link, the newest first.
    let stack = Atomic<UInt>(0)
    /// An operation of this level or a lower one needs no visit of its own. -1: every operation does. Seldom written,
    /// and read by whoever has just written `stack`: so both lie on one cache line.
    let quietLevel = Atomic<Int>(-1)
  }

  private let words = PaddedPointer(Words())

  deinit { words.deallocate() }

  /// - Parameter entry: an operation by its link. The operation may be gone when the call returns.
  /// - Returns: whether the caller has to visit the controller.
  func push(_ entry: UInt, level: Int) -> Bool {
    var head = words.pointer.pointee.stack.load(ordering: .relaxed)
    while true {
      JobNode.setNext(of: entry, to: head)
      let result = words.pointer.pointee.stack.compareExchange(
        expected: head, desired: entry, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
      if result.exchanged { break }
      head = result.original
    }
    return level > words.pointer.pointee.quietLevel.load(ordering: .sequentiallyConsistent)
  }

  /// Under the controller's lock.
  /// - Returns: what was pushed since the last call, the oldest first.
  func take() -> JobFIFO {
    var list = JobFIFO()
    if words.pointer.pointee.stack.load(ordering: .relaxed) != 0 {
      list.appendReversed(stack: words.pointer.pointee.stack.exchange(0, ordering: .acquiring))
    }
    return list
  }

  /// Under the controller's lock.
  /// - Returns: false when an operation was pushed that counted on the visitors of before: this visitor has to take it.
  func publish(quietLevel level: Int) -> Bool {
    let before = words.pointer.pointee.quietLevel.load(ordering: .relaxed)
    if level == before { return true }
    words.pointer.pointee.quietLevel.store(level, ordering: .sequentiallyConsistent)
    return level > before || words.pointer.pointee.stack.load(ordering: .sequentiallyConsistent) == 0
  }
}
