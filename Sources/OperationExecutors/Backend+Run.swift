import OperationForks
import OperationJobs

extension Backend {
  /// Calls a body on a thread of this backend. Forks, loops and scopes in the body are on this backend.
  ///
  /// ```swift
  /// func sorted(_ numbers: [Int]) async -> [Int] {
  ///   var numbers = numbers
  ///   await OperationQueue.defaultBackend.run { numbers.concurrentSort() }
  ///   return numbers
  /// }
  /// ```
  ///
  /// The task moves to a thread of the backend, calls the body there, and comes back. So no thread of Swift's own is
  /// blocked. The body sees the task's cancellation, name and task-local values, and so does a fork that another thread
  /// took. Cancelling the task stops nothing. The task's priority is the level of the forks, as `qualityOfService`
  /// stands for one.
  ///
  /// *Cost*: a job of the backend, and the way back.
  ///
  /// Traps when the backend has been shut down.
  ///
  /// - Parameter body: may call what blocks: `join(_:_:)`, `withForkScope(_:)`,
  ///   `concurrentPerform(iterations:execute:)`, and the loops of a collection.
  /// - Returns: what the body returned.
  @discardableResult
  public func run<Result: ~Copyable, Failure: Error>(
    _ body: sending () throws(Failure) -> sending Result
  ) async throws(Failure) -> sending Result {
    var handed: Handed<Result>?
    try await withTaskExecutorPreference(BackendTaskExecutor(self)) { () async throws(Failure) in
      handed = Handed(value: try runAtTaskLevel(body))
    }
    guard let handed = handed.take() else { fatalError("Operations: a body has ended without a result") }
    return handed.value
  }

  private func runAtTaskLevel<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let scope = ForkScope(on: self, level: Job.level(ofTask: Task.currentPriority.rawValue))
    defer { scope?.end() }
    return try body()
  }
}

/// What a body has given away.
private struct Handed<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Sendable: the body gave the value away (`sending`), and nobody but the caller gets it.
  let value: Value
}
