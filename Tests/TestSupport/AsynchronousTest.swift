import Operations

/// Where asynchronous tests run. The threads of Swift's own pool run the tests that block: there each step of a task would
/// wait until those have ended.
public enum AsynchronousTest {
  private static let executor = StealingBackend(workers: 2).taskExecutor

  /// Runs the body of a test.
  public static func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result
  {
    try await spawn(body).value
  }

  /// An unstructured task of a test.
  public static func spawn<Result: Sendable>(
    priority: TaskPriority? = nil, _ body: @escaping @Sendable () async throws -> Result
  ) -> Task<Result, any Error> {
    Task(executorPreference: executor, priority: priority, operation: body)
  }
}
