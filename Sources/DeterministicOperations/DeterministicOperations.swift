import OperationCore
import OperationJobs
import Primitives
import Scheduling
import VirtualScheduling

/// Runs a test on a fresh deterministic backend.
///
/// Inside, `OperationQueue()` makes a queue on the backend. Jobs run only while `body` waits: in a wait of the library,
/// or in `run()`, `run(until:)`, `advance(by:)` or `yield()` of the backend. So what the body does in between is one
/// step, and all steps are decided by the seed. At the end the backend runs what is left, and is shut down.
///
/// When `body` throws while something is left, a line tells the error first. Then a body that waits for what can happen
/// no more is given up: when nothing has happened for a second, the call throws the error, and the threads of such
/// bodies stay where they wait.
///
/// ```swift
/// import DeterministicOperations
/// import Operations
///
/// withDeterministicOperations(seed: 7) { backend in
///   let queue = OperationQueue()
///   for number in 1...3 { queue.addOperation { print(number) } }
///   queue.waitUntilAllOperationsAreFinished()
/// }
/// ```
/// - Parameters:
///   - seed: what the order follows from. `OPERATIONS_SEED` in the environment takes its place.
///   - workers: virtual workers.
///   - strategy: how the imitated pool schedules.
///   - advancesByItself: whether the clock goes on to the next event when nothing is left to do at the present time.
///   - recordsSteps: whether the backend's `steps` has the steps.
///   - body: the test. Throws what the body throws.
public func withDeterministicOperations<Result, Failure: Error>(
  seed: UInt64, workers: Int = 4, strategy: StealingStrategy = .init(), advancesByItself: Bool = true,
  recordsSteps: Bool = false, _ body: (DeterministicBackend) throws(Failure) -> Result
) throws(Failure) -> Result {
  let backend = DeterministicBackend(
    workers: workers, strategy: strategy, seed: SeedVariable.value ?? seed, runsByItself: false,
    advancesByItself: advancesByItself, recordsSteps: recordsSteps)
  return try backend.host(body)
}

/// Runs an asynchronous test on a fresh deterministic backend.
///
/// Inside, and in all tasks that the body makes, `OperationQueue()` makes a queue on the backend. Jobs run only while
/// the body awaits: an operation of the backend, an actor or a task on its executors, its clock, or `run()`,
/// `run(until:)`, `advance(by:)` or `waitUntil(_:)` of the backend. The body and its child tasks go on on threads of
/// the backend, one at a time, and the seed decides when. Where the body is on the main actor, or on another actor with
/// an executor of its own, it goes on there. What other tasks do is not decided by the seed.
///
/// When the body awaits something that the backend does not know, such as a task of its own, and something is left to
/// run, nothing happens for a second. Then a line says so, and jobs run meanwhile.
///
/// ```swift
/// import DeterministicOperations
/// import Operations
///
/// await withDeterministicOperations(seed: 7) { backend in
///   let queue = OperationQueue()
///   queue.addOperation { print("ran") }
///   await backend.run()
/// }
/// ```
public func withDeterministicOperations<Result, Failure: Error>(
  seed: UInt64, workers: Int = 4, strategy: StealingStrategy = .init(), advancesByItself: Bool = true,
  recordsSteps: Bool = false, isolation: isolated (any Actor)? = #isolation,
  _ body: (DeterministicBackend) async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let backend = DeterministicBackend(
    workers: workers, strategy: strategy, seed: SeedVariable.value ?? seed, runsByItself: false,
    advancesByItself: advancesByItself, recordsSteps: recordsSteps)
  return try await backend.host(isolation: isolation, body)
}

extension DeterministicBackend {
  /// Runs `body` with the calling thread as a thread of this backend's user, and shuts the backend down.
  func host<Result, Failure: Error>(
    _ body: (DeterministicBackend) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outcome: Swift.Result<Result, Failure>
    do throws(Failure) { outcome = .success(try hosting { () throws(Failure) in try body(self) }) } catch {
      outcome = .failure(error)
    }
    end(outcome)
    return try outcome.get()
  }

  /// Runs `body` in the calling task, as far as the task is not bound to an actor as strands of the backend, and shuts
  /// the backend down.
  func host<Result, Failure: Error>(
    isolation: isolated (any Actor)?, _ body: (DeterministicBackend) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    driver.setTest(isUnderWay: true)
    let outcome = await DrivenBackends.$ofTest.withValue(self) {
      await withTaskExecutorPreference(TestExecutor(driver)) { () async -> Swift.Result<Result, Failure> in
        do throws(Failure) { return .success(try await body(self)) } catch { return .failure(error) }
      }
    }
    driver.setTest(isUnderWay: false)
    end(outcome)
    return try outcome.get()
  }

  /// The test has ended. What is left runs, and the backend is shut down.
  func end<Result, Failure: Error>(_ outcome: Swift.Result<Result, Failure>) {
    switch outcome {
    case .success: shutdown()
    case .failure(let error): driver.stopAfterFailure { "with seed \(seed) the test threw \(error)" }
    }
  }

  /// Runs `body` with the calling thread as a thread of this backend's user.
  package func hosting<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let host = HostThread(self)
    var outcome: Swift.Result<Result, Failure>?
    WorkerLocal.become(host, of: host) {
      // For tasks that the body makes.
      DrivenBackends.$ofTest.withValue(self) {
        do throws(Failure) { outcome = .success(try body()) } catch { outcome = .failure(error) }
      }
    }
    return try outcome.unsafelyUnwrapped.get()
  }
}
