import Operations
import ServiceLifecycle

/// A queue as a service of swift-service-lifecycle: a graceful shutdown waits for the queue's operations.
///
/// ```swift
/// import Logging
/// import OperationInstrumentation
/// import Operations
/// import ServiceLifecycle
///
/// func serve(_ queue: OperationQueue) async throws {
///   let service = OperationQueueService(queue)
///   let logger = Logger(label: "server")
///   let group = ServiceGroup(services: [service], gracefulShutdownSignals: [.sigterm], logger: logger)
///   try await group.run()
/// }
/// ```
///
/// Services are shut down in the reverse order of their list. So a queue stands before the services that add operations
/// to it: those have stopped when the queue's turn comes.
public struct OperationQueueService: Service {
  /// What happens to operations that have not finished when the shutdown comes.
  public enum Remainder: Sendable, Hashable {
    /// All of them run.
    case finishes
    /// They are cancelled. Bodies that run may look at that, and end.
    case isCancelled
  }

  private let queue: OperationQueue
  private let remainder: Remainder

  /// A service for a queue.
  /// - Parameters:
  ///   - queue: may be used before the service runs, and by many.
  ///   - remainder: what happens to operations that have not finished when the shutdown comes.
  public init(_ queue: OperationQueue, remainder: Remainder = .finishes) {
    self.queue = queue
    self.remainder = remainder
  }

  /// Returns after a graceful shutdown, when the queue has no operation any more. A service that is cancelled cancels
  /// the operations, and waits for those that run.
  public func run() async throws {
    do {
      try await gracefulShutdown()
      if remainder == .isCancelled { cancel() }
    } catch {
      cancel()
    }
    await withTaskCancellationHandler {
      // A task of its own: the wait of a cancelled task would end at once.
      _ = await Task { await queue.drained() }.value
    } onCancel: {
      cancel()
    }
  }

  private func cancel() {
    queue.cancelAllOperations()
    // A suspended queue keeps even what was cancelled.
    queue.isSuspended = false
    // Nor does it come to an end where nothing may start. Other limits hold: what runs gives its places up.
    if queue.maxConcurrentOperationCount == 0 { queue.maxConcurrentOperationCount = 1 }
    var limits = queue.limits
    for priority in Operation.QueuePriority.allCases where limits[below: priority] == 0 { limits[below: priority] = 1 }
    queue.limits = limits
  }
}
