import Operations

/// Our operation queue on one of our backends. With `FoundationSubject` it is the only file that knows an operation
/// API, so that no benchmark can treat the two differently.
package final class OperationsSubject<Choice: BackendChoice>: OperationSubject {
  package static var name: String { Choice.name }
  package static var summary: String { Choice.summary }
  package static var role: SubjectRole { .backend }
  package static var workersAreAdjustable: Bool { true }

  @usableFromInline let queue: OperationQueue

  /// A private backend: what other queues of the process do is not measured.
  package init(workers: Int) { queue = Choice.makeQueue(workers: workers) }

  @inlinable
  package func submit(_ body: @escaping @Sendable () -> Void) {
    Choice.beforeEach()
    queue.addOperation(body)
  }

  @inlinable package func drain() { queue.waitUntilAllOperationsAreFinished() }

  /// An operation that passes itself to its body.
  package final class Cancellable: Operation, @unchecked Sendable {
    // Immutable: safe to share.
    private let body: @Sendable (Cancellable) -> Void

    init(_ body: @escaping @Sendable (Cancellable) -> Void) {
      self.body = body
      super.init()
    }

    package override func main() { body(self) }
  }

  package func submitCancellable(_ body: @escaping @Sendable (Cancellable) -> Void) -> Cancellable {
    Choice.beforeEach()
    let operation = Cancellable(body)
    queue.addOperation(operation)
    return operation
  }

  @inlinable package static func cancel(_ work: Cancellable) { work.cancel() }
  @inlinable package static func isCancelled(_ work: Cancellable) -> Bool { work.isCancelled }

  @inlinable
  package static func makeOperation(_ body: @escaping @Sendable () -> Void) -> BlockOperation {
    Choice.beforeEach()
    return BlockOperation(block: body)
  }

  @inlinable
  package static func setPriority(_ level: PriorityLevel, of item: BlockOperation) {
    switch level {
    case .veryLow: item.queuePriority = .veryLow
    case .low: item.queuePriority = .low
    case .normal: item.queuePriority = .normal
    case .high: item.queuePriority = .high
    case .veryHigh: item.queuePriority = .veryHigh
    }
  }

  @inlinable
  package static func addDependency(of item: BlockOperation, on dependency: BlockOperation) {
    item.addDependency(dependency)
  }

  @inlinable
  package static func setCompletion(_ block: @escaping @Sendable () -> Void, of item: BlockOperation) {
    item.completionBlock = block
  }

  @inlinable package static func isExecuting(_ item: BlockOperation) -> Bool { item.isExecuting }
  @inlinable package static func isFinished(_ item: BlockOperation) -> Bool { item.isFinished }
  @inlinable package static func isCancelled(_ item: BlockOperation) -> Bool { item.isCancelled }
  @inlinable package static func cancel(_ item: BlockOperation) { item.cancel() }
  @inlinable package static func start(_ item: BlockOperation) { item.start() }
  @inlinable package static func wait(for item: BlockOperation) { item.waitUntilFinished() }
  @inlinable package func add(_ item: BlockOperation) { queue.addOperation(item) }

  @inlinable
  package func add(contentsOf items: [BlockOperation]) { queue.addOperations(items, waitUntilFinished: false) }

  @inlinable package func submitBarrier(_ body: @escaping @Sendable () -> Void) { queue.addBarrierBlock(body) }
  @inlinable package func cancelAll() { queue.cancelAllOperations() }
  @inlinable package func setLimit(_ count: Int) { queue.maxConcurrentOperationCount = count }
  @inlinable package func setSuspended(_ suspended: Bool) { queue.isSuspended = suspended }
  @inlinable package var remaining: Int { queue.operationCount }
}

/// A backend of ours under its stable name.
package protocol BackendChoice: Sendable {
  static var name: String { get }
  static var summary: String { get }
  static func makeQueue(workers: Int) -> OperationQueue
  /// Runs before each operation is made: nothing, except in the control of `opbench validate`.
  static func beforeEach()
}

extension BackendChoice {
  @inlinable @inline(__always) package static func beforeEach() {}
}

package enum StealingChoice: BackendChoice {
  package static var name: String { "stealing" }
  package static var summary: String { "our operation queue on the work-stealing pool" }
  package static func makeQueue(workers: Int) -> OperationQueue { OperationQueue(backend: .stealing(workers: workers)) }
}

package enum ThreadPoolChoice: BackendChoice {
  package static var name: String { "threadpool" }
  package static var summary: String { "our operation queue on the pool with one lock" }
  package static func makeQueue(workers: Int) -> OperationQueue {
    OperationQueue(backend: .threadPool(workers: workers))
  }
}

package enum DispatchChoice: BackendChoice {
  package static var name: String { "dispatch" }
  package static var summary: String { "our operation queue on Dispatch's threads" }
  package static func makeQueue(workers: Int) -> OperationQueue { OperationQueue(backend: .dispatch(workers: workers)) }
}

package typealias StealingSubject = OperationsSubject<StealingChoice>
package typealias ThreadPoolSubject = OperationsSubject<ThreadPoolChoice>
package typealias DispatchSubject = OperationsSubject<DispatchChoice>
