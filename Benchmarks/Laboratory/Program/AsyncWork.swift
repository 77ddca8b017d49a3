import Dispatch
import Synchronization

/// Runs asynchronous work to its end, for callers that are not asynchronous.
enum AsyncWork {
  /// Runs `work` in a task of its own. The calling thread sleeps until the task has ended.
  static func run<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) throws -> Result {
    let ended = DispatchSemaphore(value: 0)
    let outcome = Outcome<Result>()
    Task.detached {
      do { outcome.set(.success(try await work())) } catch { outcome.set(.failure(error)) }
      ended.signal()
    }
    ended.wait()
    return try outcome.get()
  }

  private final class Outcome<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func set(_ new: Result<Value, any Error>) { result.withLock { $0 = new } }

    /// To be called after `set`.
    func get() throws -> Value { try result.withLock { $0! }.get() }
  }
}
