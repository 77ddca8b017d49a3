import Operations

/// Where asynchronous tests run. The threads of Swift's own pool run the tests that block: there each step of a task
/// would wait until those have ended. Several tests run here at once, so a body must not block for long: what polls has
/// a thread of its own (`eventually`).
public enum AsynchronousTest {
  private static let executor = StealingBackend(workers: 8).taskExecutor

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

  /// Polls as the function of that name does, on a thread of its own. The calling task is suspended meanwhile, so that
  /// the task which makes `condition` true finds a worker.
  public static func eventually(
    _ what: String, file: StaticString = #fileID, line: Int = #line, _ condition: @escaping @Sendable () -> Bool
  ) async throws {
    try await withCheckedThrowingContinuation { continuation in
      startThread {
        continuation.resume(
          with: Result { try TestSupport.eventually(what, file: file, line: line, condition) })
      }
    }
  }
}
