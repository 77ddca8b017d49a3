import OperationJobs

extension Backend {
  /// Calls a body, in which forks, loops and scopes are on this backend.
  ///
  /// ```swift
  /// let backend = ThreadPoolBackend(workers: 2)
  /// let (left, right) = backend.run { join({ 1 + 1 }, { 2 + 2 }) }
  /// print(left + right)
  /// ```
  ///
  /// The body runs on the calling thread, whatever backend the thread belongs to, and threads of this backend help.
  /// Until the body returns, the thread counts as one that runs on this backend: keep out of the body what does not
  /// fork.
  ///
  /// *Cost*: that of an outermost `join(_:_:)`.
  ///
  /// Traps when the backend has been shut down.
  ///
  /// - Parameter body: calls `join(_:_:)`, `withForkScope(_:)`, `concurrentPerform(iterations:execute:)` or a loop of a
  ///   collection.
  /// - Returns: what the body returned.
  @available(*, noasync, message: "blocks the thread; await the asynchronous method of this name")
  @inlinable
  @discardableResult
  public func run<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let scope = ForkScope(on: self)
    defer { scope?.end() }
    return try body()
  }
}
