import Testing

/// Runs each test of a suite on a thread of its own.
///
/// Tests run on the threads of Swift's concurrency, and there is one for each CPU. A test that waits for a process
/// would hold such a thread, and no other test could use the CPU meanwhile. A body that blocks until tasks are done
/// would hold what they run on.
public struct OwnThread: SuiteTrait, TestTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(ThreadPerPart(), operation: function)
  }

  private final class ThreadPerPart: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      // A test may recurse as deep as it may on any other thread.
      startThread(stackSize: 8 << 20) { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}

extension Trait where Self == OwnThread {
  /// For suites whose tests wait for processes, or block until tasks are done.
  public static var ownThread: Self { OwnThread() }
}
