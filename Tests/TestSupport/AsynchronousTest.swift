import DeterministicOperations
import Operations
import Testing

/// Where asynchronous tests run. The threads of Swift's own pool run the tests that block: there each step of a task
/// would wait until those have ended. Several tests run here at once, so a body must not block for long: what polls has
/// a thread of its own (`eventually`).
public enum AsynchronousTest {
  private static let executor = StealingBackend(workers: 8).taskExecutor

  /// Whether all tasks of the calling test belong to a seed.
  @TaskLocal private static var isSeeded = false

  /// Runs the body of a test about a backend. All tasks of a test about the deterministic backend belong to a seed, and
  /// the body runs once for each of five.
  /// - Parameter blocks: whether something in the test blocks or computes until others go on: no test for seeds.
  public static func run(
    on backend: TestBackend, workers: Int = 2, blocks: Bool = false,
    _ body: @escaping @Sendable (any Backend) async throws -> Void
  ) async throws {
    guard backend.name == TestBackend.deterministic.name, !blocks, let test = Test.current else {
      return try await run { try await body(backend.leftRunning(workers: workers)) }
    }
    let seeds: SeededTrait = .seeded(0..<5, workers: workers, patience: .seconds(20))
    try await seeds.provideScope(for: test, testCase: .current) {
      try await $isSeeded.withValue(true) { try await body(DeterministicBackend.current.unsafelyUnwrapped) }
    }
  }

  /// Runs the body of a test.
  public static func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result
  {
    try await spawn(body).value
  }

  /// An unstructured task of a test.
  public static func spawn<Result: Sendable>(
    priority: TaskPriority? = nil, _ body: @escaping @Sendable () async throws -> Result
  ) -> Task<Result, any Error> {
    Task(executorPreference: isSeeded ? nil : executor, priority: priority, operation: body)
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
