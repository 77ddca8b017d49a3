public import Foundation
public import Operations

/// A queue of Foundation's that hands every block to a queue of Operations: the delegate queue of a `URLSession`.
///
/// The limit and the suspension are those of the other queue. A delegate that expects one call at a time needs a queue
/// with a limit of one. Only blocks are handed on: an operation of Foundation's is started by a block.
public final class ForwardingQueue: Foundation.OperationQueue, @unchecked Sendable {
  // Sendable: the only stored property never changes.
  private let target: Operations.OperationQueue

  /// A queue in front of `target`.
  public init(to target: Operations.OperationQueue) {
    self.target = target
    super.init()
  }

  /// Adds the block to the other queue.
  override public func addOperation(_ block: @escaping @Sendable () -> Void) { target.addOperation(block) }

  /// Adds a block to the other queue that starts the operation.
  override public func addOperation(_ operation: Foundation.Operation) { target.addOperation { operation.start() } }

  /// Adds the block to the other queue as a barrier.
  override public func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { target.addBarrierBlock(barrier) }
}

/// Notifications that are observed on a queue of Operations.
extension NotificationCenter {
  /// Observes a notification on a queue of Operations. The thread that posts waits for the block, as it does with a queue
  /// of Foundation's, where the block may run.
  public func addObserver(
    forName name: Notification.Name?, object: Any?, queue: Operations.OperationQueue,
    using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    addObserver(forName: name, object: object, queue: nil as Foundation.OperationQueue?) { notification in
      // Sendable: the poster waits, so the notification has one user at a time.
      nonisolated(unsafe) let notification = notification
      let operation = Operations.BlockOperation { block(notification) }
      queue.addOperations([operation], waitUntilFinished: true)
    }
  }
}
