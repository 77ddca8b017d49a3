import Foundation
import HarnessWords

/// Foundation's `OperationQueue` with its default settings: the system chooses the width. A limit,
/// `maxConcurrentOperationCount`, would change the code path of the queue, so a limit is set only when a benchmark is
/// about limits.
public final class FoundationSubject: OperationSubject {
  public static var name: String { "foundation" }
  public static var summary: String { "Foundation's OperationQueue" }
  public static var role: SubjectRole { .standingReference }
  public static var workersAreAdjustable: Bool { false }

  @usableFromInline let queue = OperationQueue()

  public init(workers: Int) {}

  public static var abilities: Abilities { [.threads, .cancellation, .operations, .barriers, .suspension, .queues] }

  public static func queues(_ count: Int, workers: Int) -> [FoundationSubject] {
    (0..<max(1, count)).map { _ in FoundationSubject(workers: workers) }
  }

  @inlinable public func submit(_ body: @escaping @Sendable () -> Void) { queue.addOperation(body) }
  @inlinable public func drain() { queue.waitUntilAllOperationsAreFinished() }

  /// An operation that passes itself to its body.
  public final class Cancellable: Operation, @unchecked Sendable {
    // `body` is immutable, so sharing the operation is safe.
    private let body: @Sendable (Cancellable) -> Void

    init(_ body: @escaping @Sendable (Cancellable) -> Void) {
      self.body = body
      super.init()
    }

    public override func main() { body(self) }
  }

  public func submitCancellable(_ body: @escaping @Sendable (Cancellable) -> Void) -> Cancellable {
    let operation = Cancellable(body)
    queue.addOperation(operation)
    return operation
  }

  @inlinable public static func cancel(_ work: Cancellable) { work.cancel() }
  @inlinable public static func isCancelled(_ work: Cancellable) -> Bool { work.isCancelled }

  @inlinable
  public static func makeOperation(_ body: @escaping @Sendable () -> Void) -> Operation {
    BlockOperation(block: body)
  }

  @inlinable
  public static func setPriority(_ level: PriorityLevel, of item: Operation) {
    switch level {
    case .veryLow: item.queuePriority = .veryLow
    case .low: item.queuePriority = .low
    case .normal: item.queuePriority = .normal
    case .high: item.queuePriority = .high
    case .veryHigh: item.queuePriority = .veryHigh
    }
  }

  @inlinable
  public static func addDependency(of item: Operation, on dependency: Operation) {
    item.addDependency(dependency)
  }

  @inlinable
  public static func setCompletion(_ block: consuming @escaping @Sendable () -> Void, of item: Operation) {
    item.completionBlock = consume block
  }

  @inlinable public static func isExecuting(_ item: Operation) -> Bool { item.isExecuting }
  @inlinable public static func isFinished(_ item: Operation) -> Bool { item.isFinished }
  @inlinable public static func isCancelled(_ item: Operation) -> Bool { item.isCancelled }
  @inlinable public static func cancel(_ item: Operation) { item.cancel() }
  @inlinable public static func start(_ item: Operation) { item.start() }
  @inlinable public static func wait(for item: Operation) { item.waitUntilFinished() }
  @inlinable public func add(_ item: Operation) { queue.addOperation(item) }

  @inlinable
  public func add(contentsOf items: [Operation]) { queue.addOperations(items, waitUntilFinished: false) }

  @inlinable public func submitBarrier(_ body: @escaping @Sendable () -> Void) { queue.addBarrierBlock(body) }
  @inlinable public func cancelAll() { queue.cancelAllOperations() }
  @inlinable public func setLimit(_ count: Int) { queue.maxConcurrentOperationCount = count }
  @inlinable public func setSuspended(_ suspended: Bool) { queue.isSuspended = suspended }
  @inlinable public var remaining: Int { queue.operationCount }
}
