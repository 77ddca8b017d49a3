import Synchronization

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
      if wait > .zero { try await clock.sleep(until: clock.now.advanced(by: wait), tolerance: tolerance) }
      try Task.checkCancellation()
    }
  }
  fatalError("Operations: retry made no attempt")
}

/// How many further attempts all callers of a service may make together, so that a service that fails is not drowned by its
/// callers' attempts.
///
/// The rule is that of [gRPC's retry throttling](https://github.com/grpc/proposal/blob/master/A6-client-retries.md#throttling-retry-attempts-and-hedged-rpcs):
/// a budget begins full. An attempt that fails costs one token, one that succeeds gives back `tokenRatio`. While half of the
/// tokens or fewer are left, no attempt is made again.
///
/// ```swift
/// import OperationComposition
///
/// let budget = RetryBudget(maxTokens: 100, tokenRatio: 0.1)
///
/// func ask(_ attempt: @Sendable () async throws -> Int) async throws -> Int {
///   try await retry(maxAttempts: 3, budget: budget) { try await attempt() }
/// }
/// ```
public final class RetryBudget: Sendable {
  /// In thousandths, as gRPC counts: adding tenths would not be exact.
  private let thousandths: Mutex<Int>
  private let maximum: Int
  private let ratio: Int

  /// - Parameters:
  ///   - maxTokens: 1 to 1,000,000. Half of them may be lost before attempts are no longer made again.
  ///   - tokenRatio: what an attempt that succeeds gives back: more than 0; counted in thousandths.
  public init(maxTokens: Int, tokenRatio: Double) {
    require(
      (1...1_000_000).contains(maxTokens), "maxTokens of a retry budget is 1 to 1000000, not \(maxTokens)")
    require(
      tokenRatio >= 0.001 && tokenRatio <= 1_000_000,
      "tokenRatio of a retry budget is 0.001 to 1000000, not \(tokenRatio)")
    maximum = maxTokens * 1000
    ratio = Int(tokenRatio * 1000)
    thousandths = Mutex(maximum)
  }

  /// The tokens that are left.
  public var tokens: Double { Double(thousandths.withLock { $0 }) / 1000 }

  /// Whether an attempt may be made again now.
  public var allowsRetry: Bool { thousandths.withLock { $0 > maximum / 2 } }

  /// Tells of an attempt that succeeded. `retry` calls this. O(1).
  public func succeeded() { thousandths.withLock { $0 = min(maximum, $0 + ratio) } }

  /// Tells of an attempt that failed. `retry` calls this. O(1).
  /// - Returns: whether it may be made again.
  @discardableResult
  public func failed() -> Bool {
    thousandths.withLock {
      $0 = max(0, $0 - 1000)
      return $0 > maximum / 2
    }
  }
}
