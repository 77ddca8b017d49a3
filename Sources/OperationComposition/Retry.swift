import OperationCore
import OperationExecutors
import Operations

/// What to do after an attempt that threw.
public struct RetryAction: Sendable, Hashable {
  /// Nil: the error is final.
  let wait: Duration?
  /// Whether a cancellation of the attempt is not final.
  let goesOnAfterCancellation: Bool

  /// The error is thrown.
  public static let stop = RetryAction(wait: nil, goesOnAfterCancellation: false)
  /// The next attempt begins after `duration`. Less than 0 counts as 0, and more than a hundred years as a hundred.
  /// - Parameters:
  ///   - duration: how long to wait.
  ///   - afterCancellation: whether there is a next attempt also when the attempt was cancelled, or its queue is
  ///     cancelled before the next one.
  public static func backoff(_ duration: Duration, afterCancellation: Bool = false) -> RetryAction {
    RetryAction(wait: max(duration, .zero), goesOnAfterCancellation: afterCancellation)
  }
}

/// Attempts an operation again when it throws.
///
/// ```swift
/// import OperationComposition
///
/// struct Busy: Error {}
///
/// func fetch(_ attempt: @Sendable () async throws -> String) async throws -> String {
///   var backoff = Backoff.exponential(factor: 2, initial: .milliseconds(50)).maximum(.seconds(2)).fullJitter()
///   return try await retry(maxAttempts: 4) {
///     try await attempt()
///   } strategy: { error in
///     error is Busy ? .backoff(backoff.nextDuration()) : .stop
///   }
/// }
/// ```
///
/// Throws the error of the last attempt. A task that has been cancelled attempts nothing again, and throws
/// `CancellationError` when it is cancelled while it waits.
///
/// A cancellation of the attempt is final too, whatever wait the strategy asks for, unless the strategy says
/// `afterCancellation`. That is an attempt that throws `CancellationError`, and a call of `cancelAllOperations()` on a
/// queue to which the attempts have added operations with `addTask`: also a call between two attempts, or as one
/// begins. What an attempt cancels itself does not count, and neither does what the bodies of its operations cancel.
/// Inside an operation the waits hold its place in the queue. The words are those of the retry that is proposed for
/// [swift-async-algorithms](https://github.com/apple/swift-async-algorithms/pull/364).
///
/// - Parameters:
///   - maxAttempts: how often the operation is attempted, the first time included. Traps below 1.
///   - tolerance: how much later an attempt may begin, as `Clock.sleep(until:tolerance:)` has it.
///   - clock: the clock of the waits, such as that of a `DeterministicBackend`.
///   - budget: what all callers of a service may spend on further attempts together; nil for no bound.
///   - operation: runs in the caller's task.
///   - strategy: is asked after each attempt that threw; after the last one only when there is a budget.
public nonisolated(nonsending) func retry<Success, Failure: Error, C: Clock>(
  maxAttempts: Int, tolerance: Duration? = nil, clock: C = ContinuousClock(), budget: RetryBudget? = nil,
  operation: nonisolated(nonsending) () async throws(Failure) -> Success,
  strategy: (Failure) -> RetryAction = { _ in .backoff(.zero) }
) async throws -> Success where C.Duration == Duration {
  require(maxAttempts > 0, "retry needs 1 attempt or more, not \(maxAttempts)")
  let scope = RetryScope()
  for attempt in 1... {
    switch await RetryScope.$current.withValue(scope, operation: { await result(of: operation) }) {
    case .success(let success):
      budget?.succeeded()
      return success
    case .failure(let error):
      if Task.isCancelled { throw error }
      let wasCancelled = error is CancellationError || scope.isCancelled
      // The budget has to know which errors are final: those say nothing of the service, and cost nothing.
      let action = attempt < maxAttempts || budget != nil ? strategy(error) : .stop
      guard let wait = action.wait else { throw error }
      if action.goesOnAfterCancellation { scope.forgive() } else if wasCancelled { throw error }
      let mayGoOn = budget?.failed() ?? true
      guard attempt < maxAttempts, mayGoOn else { throw error }
      if wait > .zero {
        tellRealTime(of: C.self, "the wait of a retry")
        try await Alarm.sleep(
          until: clock.now.advanced(by: min(wait, .century)), on: clock, tolerance: clock.withinACentury(tolerance))
      }
      try Task.checkCancellation()
      if action.goesOnAfterCancellation { scope.forgive() } else if scope.isCancelled { throw CancellationError() }
    }
  }
  fatalError("Operations: retry made no attempt")
}

private nonisolated(nonsending) func result<Success, Failure: Error>(
  of operation: nonisolated(nonsending) () async throws(Failure) -> Success
) async -> Result<Success, Failure> {
  do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
}
