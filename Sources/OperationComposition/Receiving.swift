import Operations

/// Adds operations that receive what others returned.
extension OperationQueue {
  /// Adds an operation that receives what other operations returned, each with its own type.
  ///
  /// ```swift
  /// import OperationComposition
  /// import Operations
  ///
  /// func price() async throws -> Double {
  ///   let queue = OperationQueue()
  ///   let amount = queue.addTask { 3 }
  ///   let unit = queue.addTask { 0.5 }
  ///   let total = queue.addTask(receiving: amount, unit) { Double($0) * $1 }
  ///   return try await total.value
  /// }
  /// ```
  ///
  /// The operation depends on its inputs. When one of them threw, the body does not run, and the operation's result is
  /// that error: of several the first in the order of the arguments. An input that was cancelled before its start
  /// counts as one that threw `CancellationError`.
  ///
  /// There are functions for one to four inputs. (One function with a parameter pack would make the compiler of Swift
  /// 6.3.1 crash on a closure with too few parameters.)
  ///
  /// Traps as `addOperation(_:)` does. O(1).
  ///
  /// - Parameters:
  ///   - name: as `Operation.name`.
  ///   - priority: as `Operation.queuePriority`; nil leaves it to the qualities of service.
  ///   - a: an operation of any queue, which may have finished.
  ///   - body: runs as a task on the queue's backend.
  /// - Returns: the operation, whose `value` is what the body returns.
  @discardableResult
  public final func addTask<A: Sendable, AFailure: Error, Success: Sendable>(
    name: String? = nil, priority: Operation.QueuePriority? = nil,
    receiving a: TaskOperation<A, AFailure>,
    body: @escaping @Sendable (A) async throws -> Success
  ) -> TaskOperation<Success, any Error> {
    addTask(name: name, priority: priority, behind: [a]) { try await body(a.value) }
  }

  /// Adds an operation that receives what two others returned: see ``addTask(name:priority:receiving:body:)``.
  @discardableResult
  public final func addTask<A: Sendable, AFailure: Error, B: Sendable, BFailure: Error, Success: Sendable>(
    name: String? = nil, priority: Operation.QueuePriority? = nil,
    receiving a: TaskOperation<A, AFailure>, _ b: TaskOperation<B, BFailure>,
    body: @escaping @Sendable (A, B) async throws -> Success
  ) -> TaskOperation<Success, any Error> {
    addTask(name: name, priority: priority, behind: [a, b]) { try await body(a.value, b.value) }
  }

  /// Adds an operation that receives what three others returned: see ``addTask(name:priority:receiving:body:)``.
  @discardableResult
  public final func addTask<
    A: Sendable, AFailure: Error, B: Sendable, BFailure: Error, C: Sendable, CFailure: Error, Success: Sendable
  >(
    name: String? = nil, priority: Operation.QueuePriority? = nil,
    receiving a: TaskOperation<A, AFailure>, _ b: TaskOperation<B, BFailure>, _ c: TaskOperation<C, CFailure>,
    body: @escaping @Sendable (A, B, C) async throws -> Success
  ) -> TaskOperation<Success, any Error> {
    addTask(name: name, priority: priority, behind: [a, b, c]) { try await body(a.value, b.value, c.value) }
  }

  /// Adds an operation that receives what four others returned: see ``addTask(name:priority:receiving:body:)``.
  @discardableResult
  public final func addTask<
    A: Sendable, AFailure: Error, B: Sendable, BFailure: Error, C: Sendable, CFailure: Error, D: Sendable,
    DFailure: Error, Success: Sendable
  >(
    name: String? = nil, priority: Operation.QueuePriority? = nil,
    receiving a: TaskOperation<A, AFailure>, _ b: TaskOperation<B, BFailure>, _ c: TaskOperation<C, CFailure>,
    _ d: TaskOperation<D, DFailure>,
    body: @escaping @Sendable (A, B, C, D) async throws -> Success
  ) -> TaskOperation<Success, any Error> {
    addTask(name: name, priority: priority, behind: [a, b, c, d]) { try await body(a.value, b.value, c.value, d.value) }
  }

  /// - Parameter body: awaits the inputs, which have finished: nothing waits there.
  private func addTask<Success: Sendable>(
    name: String?, priority: Operation.QueuePriority?, behind inputs: [Operation],
    _ body: @escaping @Sendable () async throws -> Success
  ) -> TaskOperation<Success, any Error> {
    let operation = TaskOperation(body)
    for input in inputs { operation.addDependency(input) }
    add(operation, name: name, priority: priority)
    return operation
  }

  func add(_ operation: Operation, name: String?, priority: Operation.QueuePriority?) {
    if let name { operation.name = name }
    if let priority { operation.queuePriority = priority }
    addOperation(operation)
  }
}
