import OperationExecutors
import OperationJobs
import Primitives
import Synchronization

// A task that waits for an operation's finish, as an edge in the operation's stack of dependents.

extension FinishWaiter {
  /// The edge of a new waiter, which owns a reference to the waiter.
  static func edge(_ waiter: FinishWaiter) -> UInt {
    UInt(bitPattern: Unmanaged.passRetained(waiter).toOpaque()) | EdgeWord.waiter
  }

  // Not inlined: the edges of operations are what the callers are fast for.

  @inline(never)
  static func next(of edge: UInt) -> UInt {
    of(edge)._withUnsafeGuaranteedRef { $0.next.load(ordering: .relaxed) }
  }

  @inline(never)
  static func setNext(of edge: UInt, to next: UInt) {
    of(edge)._withUnsafeGuaranteedRef { $0.next.store(next, ordering: .relaxed) }
  }

  /// Ends the waits of edges that were taken out of their stack.
  @inline(never)
  static func resume(_ edges: consuming EdgeList, isFinished: Bool) {
    while let edge = edges.popFirst() { of(edge).takeRetainedValue().end(isFinished: isFinished) }
  }

  static func of(_ edge: UInt) -> Unmanaged<FinishWaiter> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: edge & ~15).unsafelyUnwrapped)
  }
}
