import OperationCore
import OperationExecutors
import Operations
import Synchronization

/// Runs a body, and cancels its task when a deadline passes. Waits for the body in any case.
///
/// ```swift
/// import OperationComposition
/// import Operations
///
/// func answer(on queue: OperationQueue) async throws -> Int {
///   let operation = queue.addTask { 6 * 7 }
///   // Cancels the operation when it has not finished in time, also while it still waits in the queue.
///   return try await withDeadline(.now + .seconds(5)) { try await operation.value(cancelling: true) }
/// }
/// ```
///
/// What the body returns or throws counts, also after the deadline: only a `CancellationError` that the deadline has
/// caused becomes `DeadlineExceeded`. No thread of a backend has to be free for the deadline: it cancels bodies that
/// compute, also when they have all workers. (A clock that is none of the system's and none of a `DeterministicBackend`
/// wakes sleepers in its own way: one that uses `Task.sleep` needs a free thread of Swift's.) A body that does not look
/// at its cancelling takes as long as it takes. The words are those of the proposal
/// [SE-0526](https://github.com/swiftlang/swift-evolution/blob/main/proposals/0526-deadline.md).
///
/// - Parameters:
///   - deadline: an instant of the clock. One that has passed cancels the body at once. One more than a hundred years
///     away counts as a hundred.
///   - tolerance: how much later the cancelling may come, as `Clock.sleep(until:tolerance:)` has it.
///   - clock: the clock of the deadline, such as that of a `DeterministicBackend`.
///   - body: runs as a task where the caller's task runs, with its task-local values and its priority.
public func withDeadline<Success: Sendable, C: Clock>(
  _ deadline: C.Instant, tolerance: C.Duration? = nil, clock: C = ContinuousClock(),
  body: @escaping @Sendable () async throws -> Success
) async throws -> Success {
  tellRealTime(of: C.self, "withDeadline")
  // An unstructured task has no executor of its maker's by itself. Unlike a child task it can be cancelled from
  // outside: the caller's task cannot do that, where bodies that compute have all workers of its executor.
  let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
  let task = Task(executorPreference: executor, operation: body)
  let expiry = Expiry()
  var alarm: Alarm?
  if deadline <= clock.now {
    expiry.cancel(task)
  } else {
    alarm = Alarm.set(
      clock.withinACentury(deadline), on: clock, tolerance: clock.withinACentury(tolerance)
    ) { expiry.cancel(task) }
  }
  let result = await withTaskCancellationHandler {
    await task.result
  } onCancel: {
    task.cancel()
  }
  alarm?.cancel()
  if expiry.hasPassed, !Task.isCancelled, case .failure(let error) = result, error is CancellationError {
    throw DeadlineExceeded()
  }
  return try result.get()
}

/// Not for use: a deadline is an instant.
@available(
  *, unavailable, message: "a deadline is an instant of a clock; write withDeadline(.now + .seconds(1)) { … }"
)
public func withDeadline<Success: Sendable>(
  _ duration: Duration, tolerance: Duration? = nil, body: @escaping @Sendable () async throws -> Success
) async throws -> Success { fatalError() }

/// Whether a deadline has passed.
private final class Expiry: Sendable {
  private let passed = Atomic<Bool>(false)

  var hasPassed: Bool { passed.load(ordering: .acquiring) }

  func cancel<Success>(_ task: Task<Success, any Error>) {
    passed.store(true, ordering: .releasing)
    task.cancel()
  }
}

/// The body of `withDeadline` was cancelled by its deadline.
public struct DeadlineExceeded: Error, Hashable, CustomStringConvertible {
  /// The error.
  public init() {}
  public var description: String { "the deadline has passed" }
}
