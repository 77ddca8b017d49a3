import OperationComposition
import Operations

/// Misuse of the composition of operations.
enum CompositionScenarios {
  static let all: [String: @Sendable () -> Void] = [
    "no-attempts": { inTask { try await retry(maxAttempts: 0) {} } },
    "budget-without-tokens": { _ = RetryBudget(maxTokens: 0, tokenRatio: 0.1) },
    "budget-without-ratio": { _ = RetryBudget(maxTokens: 10, tokenRatio: .nan) },
    "backoff-below-zero": { _ = Backoff.exponential(factor: 2, initial: .seconds(-1)) },
    "backoff-that-shrinks": { _ = Backoff.exponential(factor: 0, initial: .seconds(1)) },
    "maximum-below-zero": { _ = Backoff.constant(.seconds(1)).maximum(.seconds(-3)) },
    "bucket-without-rate": { _ = TokenBucket(rate: 0, burst: 1) },
    "bucket-without-burst": { _ = TokenBucket(rate: 1, burst: 0) },
    "bucket-without-period": { _ = TokenBucket(rate: 1, per: .zero, burst: 1) },
    "member-drains-the-outer-queue": {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let group = queue.addGroup(name: "group") { members in
        members.addTask(name: "member") { await queue.drained() }
      }
      // Stands behind the group, and is what the queue would be waited for first.
      queue.addOperation {}
      group.operation.waitUntilFinished()
    },
    "more-than-the-burst": { _ = TokenBucket(rate: 1, burst: 2).takeNow(3) },
  ]

  private static func inTask(_ body: @escaping @Sendable () async throws -> Void) {
    OperationQueue().addTask(body).waitUntilFinished()
  }
}
