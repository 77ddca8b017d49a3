import OperationJobs
import Primitives
import Synchronization

/// A task that waits, for an alarm or for an operation's finish. `OperationCore/Tasks/README.md` has the protocol.
///
/// Sendable: `continuation` is written before `state` says that a task waits, and read by the one thread that takes
/// that state away.
package final class FinishWaiter: @unchecked Sendable {
  private enum State {
    /// The task has not suspended yet.
    static let new: UInt8 = 0
    static let waits: UInt8 = 1
    static let finished: UInt8 = 2
    /// The task was cancelled: the wait has ended, and the edge stays until the finish.
    static let cancelled: UInt8 = 3
  }

  /// The next edge, where the waiter is an edge in the stack of an operation's dependents.
  package let next = Atomic<UInt>(0)
  private let state = Atomic<UInt8>(State.new)
  private var continuation: UnsafeContinuation<Bool, Never>?

  /// Runs jobs until the wait ends, and is told of the end by the thread that ends it: so the backend stops there.
  private let host: (any DrivenBackend)?

  package init(host: (any DrivenBackend)?) {
    self.host = host
    host?.beginTaskWait()
  }

  /// The task suspends.
  package func wait(_ continuation: UnsafeContinuation<Bool, Never>) {
    self.continuation = continuation
    let result = state.compareExchange(
      expected: State.new, desired: State.waits, successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
    if !result.exchanged { continuation.resume(returning: result.original == State.finished) }
  }

  /// The wait ends. The first call counts.
  package func end(isFinished: Bool) {
    var old = state.load(ordering: .relaxed)
    while old == State.new || old == State.waits {
      let result = state.compareExchange(
        expected: old, desired: isFinished ? State.finished : State.cancelled,
        successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
      if result.exchanged {
        host?.endTaskWait()
        if old == State.waits { continuation.take()?.resume(returning: isFinished) }
        return
      }
      old = result.original
    }
  }
}
