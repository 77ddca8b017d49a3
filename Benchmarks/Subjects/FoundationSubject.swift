import Foundation

/// Foundation's `OperationQueue` as it comes: its width is the system's to choose. A limit of
/// `maxConcurrentOperationCount` would change the path it takes, so it is not set unless a benchmark is about limits.
package final class FoundationSubject: OperationSubject {
  package static var name: String { "foundation" }
  package static var summary: String { "Foundation's OperationQueue" }
  package static var role: SubjectRole { .standingReference }
  package static var workersAreAdjustable: Bool { false }

  @usableFromInline let queue = OperationQueue()

  package init(workers: Int) {}

  @inlinable package func submit(_ body: @escaping @Sendable () -> Void) { queue.addOperation(body) }
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
    let operation = Cancellable(body)
    queue.addOperation(operation)
    return operation
  }

  @inlinable package static func cancel(_ work: Cancellable) { work.cancel() }
  @inlinable package static func isCancelled(_ work: Cancellable) -> Bool { work.isCancelled }

  @inlinable
  package static func makeOperation(_ body: @escaping @Sendable () -> Void) -> BlockOperation {
    BlockOperation(block: body)
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
