/// What to do after an attempt that threw.
public struct RetryAction: Sendable, Hashable {
  /// Nil: the error is final.
  let wait: Duration?

  /// The error is thrown.
  public static let stop = RetryAction(wait: nil)
  /// The next attempt begins after `duration`. Less than 0 counts as 0.
  public static func backoff(_ duration: Duration) -> RetryAction { RetryAction(wait: max(duration, .zero)) }
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
/// Throws the error of the last attempt. A task that has been cancelled attempts nothing again, and throws `CancellationError`
/// when it is cancelled while it waits. Inside an operation the waits hold its place in the queue. The words are those of the
/// retry that is proposed for [swift-async-algorithms](https://github.com/apple/swift-async-algorithms/pull/364).
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
  for attempt in 1... {
    do throws(Failure) {
      let success = try await operation()
      budget?.succeeded()
      return success
    } catch {
      if Task.isCancelled { throw error }
      // The budget has to know which errors are final: those say nothing of the service, and cost nothing.
      let action = attempt < maxAttempts || budget != nil ? strategy(error) : .stop
      guard let wait = action.wait else { throw error }
      let mayGoOn = budget?.failed() ?? true
      guard attempt < maxAttempts, mayGoOn else { throw error }
      if wait > .zero {
        try await clock.sleep(until: clock.now.advanced(by: min(wait, .century)), tolerance: tolerance)
      }
      try Task.checkCancellation()
    }
  }
  fatalError("Operations: retry made no attempt")
}
