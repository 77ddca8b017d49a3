import OperationExecutors
import OperationForks

/// What a thread has put off, and what others may wait for: a thread pays before it waits for others.
///
/// There is one list, because a wait that leaves out a line may wait for what its own thread holds back, for ever.
enum ThreadDebts {
  /// Called in front of every wait: for an operation, a queue, a fork, a scope, or the blocks of an operation. May run
  /// code of users, such as an overridden `cancel()`.
  static func pay() {
    // What runs no code of users comes first: that code may wait for it.
    // The next job of a task, which the thread would have run behind this one.
    TaskSlot.close()
    // Forks that only their maker sees.
    Forks.showAll()
    // Operations that the thread was handing over when it asked a subclass something.
    Handover.carryOutPending()
    // What the thread was cancelling when it called an overridden `cancel()`.
    CancelRound.carryOutPending()
    // References to queues (`OwedReferences`) are no part of the list: a thread in a body owes them to the body's own
    // queue alone, and that queue is alive for as long as the body runs.
  }
}

/// Called by C for forks, which know no operations: what waits for a fork pays first, too.
@_documentation(visibility: internal)
@c(operations_pay_debts)
public func operationsPayDebts() { ThreadDebts.pay() }
