import Synchronization

/// How many further attempts all callers of a service may make together, so that a service that fails is not drowned by
/// its callers' attempts.
///
/// The rule is that of [gRPC's retry
/// throttling](https://github.com/grpc/proposal/blob/master/A6-client-retries.md#throttling-retry-attempts-and-hedged-rpcs):
/// a budget begins full. An attempt that fails costs one token, one that succeeds gives back `tokenRatio`. While half
/// of the tokens or fewer are left, no attempt is made again.
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
  ///   - tokenRatio: what an attempt that succeeds gives back: more than 0; counted to the nearest thousandth.
  public init(maxTokens: Int, tokenRatio: Double) {
    require(
      (1...1_000_000).contains(maxTokens), "maxTokens of a retry budget is 1 to 1000000, not \(maxTokens)")
    require(
      tokenRatio >= 0.001 && tokenRatio <= 1_000_000,
      "tokenRatio of a retry budget is 0.001 to 1000000, not \(tokenRatio)")
    maximum = maxTokens * 1000
    ratio = Int((tokenRatio * 1000).rounded())
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
