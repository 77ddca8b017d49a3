import OperationJobs
import Primitives

/// Adds operations with asynchronous bodies.
extension OperationQueue {
  /// Adds an operation with an asynchronous body, and returns it.
  ///
  /// ```swift
  /// import Operations
  ///
  /// func pages() async throws -> Int {
  ///   let queue = OperationQueue(maxConcurrentOperationCount: 4)
  ///   let counts = (1...10).map { number in queue.addTask { number } }
  ///   var total = 0
  ///   for count in counts { total += try await count.value }
  ///   return total
  /// }
  /// ```
  ///
  /// The name is that of `TaskGroup.addTask`. An `addOperation` with an asynchronous closure would be another function
  /// than the one with a synchronous closure, and a missing `await` in the closure would choose between them.
  ///
  /// Traps as `addOperation(_:)` does. O(dependencies).
  ///
  /// - Parameters:
  ///   - name: as `Operation.name`.
  ///   - priority: as `Operation.queuePriority`; nil leaves it to the qualities of service.
  ///   - dependencies: what the operation waits for, read once. The same twice counts once. May be in other queues.
  ///   - body: runs as a task on the queue's backend, with the task-local values of the caller.
  /// - Returns: the operation, whose `value` is what the body returns.
  @discardableResult
  @inlinable
  public final func addTask<Success: Sendable, Failure: Error, Dependencies: Sequence>(
    name: String? = nil, priority: Operation.QueuePriority? = nil,
    dependencies: Dependencies = EmptyCollection<Operation>(),
    _ body: @escaping @Sendable () async throws(Failure) -> Success
  ) -> TaskOperation<Success, Failure> where Dependencies.Element: Operation {
    let operation = TaskOperation(name: name, body)
    if let priority { operation.queuePriority = priority }
    // An empty collection is known at compile time.
    if Dependencies.self != EmptyCollection<Operation>.self { operation.addDependencies(dependencies) }
    addOperation(operation)
    return operation
  }

  /// Runs an asynchronous body when everything that was added before has finished, and before anything that is added
  /// later starts, as `addBarrierBlock(_:)` does. Returns what the body returned. The task is suspended meanwhile.
  ///
  /// ```swift
  /// import Operations
  ///
  /// func flush(_ queue: OperationQueue) async throws {
  ///   try await queue.barrier { print("nothing else of the queue runs") }
  /// }
  /// ```
  ///
  /// Throws what the body threw. Cancelling the waiting task cancels the body, because nobody else knows it, and the
  /// call throws `CancellationError` at once. Traps in an operation of the same queue. Throws a ``CircularWait`` where
  /// the wait leads back to the operation whose body waits.
  ///
  /// - Parameter body: runs as a task on the queue's backend.
  public nonisolated(nonsending) final func barrier<Success: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Success
  ) async throws -> Success {
    if TaskRun.currentOperation?.owner === self {
      misuse(self, "barrier(_:) in an operation of the same queue would wait for itself")
    }
    let operation = TaskOperation(body)
    addBarrier(operation)
    do { return try await operation.value(cancelling: true) } catch let error as CircularWait {
      operation.cancel()
      throw error
    }
  }
}
