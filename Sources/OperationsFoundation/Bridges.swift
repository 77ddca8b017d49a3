public import Foundation
public import Operations
import Synchronization

/// A queue of Foundation's that hands everything to a queue of Operations: the delegate queue of a `URLSession`.
///
/// The limit, the suspension and the name are those of the other queue. A delegate that expects one call at a time
/// needs a queue with a limit of one. Cancelling all operations, and waiting for all, concerns all operations of the
/// other queue.
///
/// An operation of Foundation's is started by an operation of the other queue, when its dependencies have finished.
/// That operation keeps its place until Foundation's has finished. A class that overrides `isReady` cannot wait there,
/// because nobody but a queue of Foundation's is told of its posts: an operation that is not ready when its
/// dependencies have finished traps.
///
/// `operations`, `operationCount` and `progress` cannot be overridden. They know nothing of what was handed on: ask the
/// other queue.
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

  /// Adds an operation to the other queue that starts this one.
  override public func addOperation(_ operation: Foundation.Operation) { target.addOperation(forwarded(operation)) }

  /// Adds operations to the other queue that start these, in one step.
  override public func addOperations(_ operations: [Foundation.Operation], waitUntilFinished wait: Bool) {
    target.addOperations(operations.map(forwarded), waitUntilFinished: wait)
  }

  /// Adds the block to the other queue as a barrier.
  override public func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { target.addBarrierBlock(barrier) }

  /// Cancels all operations of the other queue, and those of Foundation's that they start.
  override public func cancelAllOperations() { target.cancelAllOperations() }

  /// Waits for all operations of the other queue.
  override public func waitUntilAllOperationsAreFinished() { target.waitUntilAllOperationsAreFinished() }

  /// That of the other queue.
  override public var maxConcurrentOperationCount: Int {
    get { target.maxConcurrentOperationCount }
    set { target.maxConcurrentOperationCount = newValue }
  }

  /// Whether the other queue is suspended.
  override public var isSuspended: Bool {
    get { target.isSuspended }
    set { target.isSuspended = newValue }
  }

  /// That of the other queue.
  override public var name: String? {
    get { target.name }
    set { target.name = newValue }
  }

  private func forwarded(_ operation: Foundation.Operation) -> ForwardedOperation {
    let forwarded = ForwardedOperation(operation)
    if let priority = Operations.Operation.QueuePriority(rawValue: operation.queuePriority.rawValue) {
      forwarded.queuePriority = priority
    }
    forwarded.name = operation.name
    let unfinished = operation.dependencies.filter { !$0.isFinished }
    if !unfinished.isEmpty {
      forwarded.addDependency(forwarded.dependenciesEnded)
      // A queue of Foundation's alone is told when they finish.
      ForwardedOperation.afterAll(of: unfinished, forwarded.endDependencies)
    }
    return forwarded
  }
}

/// Starts an operation of Foundation's, and ends with it.
private final class ForwardedOperation: AsynchronousOperation, @unchecked Sendable {
  // Sendable: the constants synchronise themselves.
  private let operation: Foundation.Operation
  /// Finishes when Foundation's operation waits for nothing any more.
  let dependenciesEnded = Operations.BlockOperation {}
  private let hasEnded = Atomic<Bool>(false)

  /// Has the blocks run that wait for operations of Foundation's.
  private static let followers = Foundation.OperationQueue()

  init(_ operation: Foundation.Operation) {
    self.operation = operation
    super.init()
  }

  static func afterAll(of operations: [Foundation.Operation], _ block: @escaping @Sendable () -> Void) {
    let follower = Foundation.BlockOperation(block: block)
    for operation in operations { follower.addDependency(operation) }
    followers.addOperation(follower)
  }

  @Sendable func endDependencies() {
    if !hasEnded.exchange(true, ordering: .relaxed) { dependenciesEnded.start() }
  }

  override func main() {
    if !operation.isReady, !operation.isFinished {
      fatalError(
        "Operations: \(operation) was added to a ForwardingQueue and is not ready although its dependencies have finished; "
          + "add a class that overrides isReady to a queue of Foundation's")
    }
    operation.start()
    if operation.isFinished { finish() } else { Self.afterAll(of: [operation], finish) }
  }

  /// The cancelled operation of Foundation's is started all the same, and finishes itself: so this one is not skipped.
  override func cancel() {
    operation.cancel()
    endDependencies()
  }
}

/// Notifications that are observed on a queue of Operations.
extension NotificationCenter {
  /// Observes a notification on a queue of Operations. The thread that posts waits for the block, as it does with a
  /// queue of Foundation's, where the block may run.
  ///
  /// A notification that is posted in an operation of the queue, or on the main thread with the main queue, is
  /// delivered in place.
  public func addObserver(
    forName name: Notification.Name?, object: Any?, queue: Operations.OperationQueue,
    using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    addObserver(forName: name, object: object, queue: nil as Foundation.OperationQueue?) { notification in
      if Operations.OperationQueue.current === queue || queue === Operations.OperationQueue.main && MainQueue.isHere {
        return block(notification)
      }
      // Sendable: the poster waits, so the notification has one user at a time.
      nonisolated(unsafe) let notification = notification
      let operation = Operations.BlockOperation { block(notification) }
      queue.addOperations([operation], waitUntilFinished: true)
    }
  }
}

/// Whether code runs on the main dispatch queue: in a program with an asynchronous `main` that is no matter of the
/// thread.
private enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isHere: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: key) == true }
}
