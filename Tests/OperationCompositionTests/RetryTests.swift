import DeterministicOperations
import OperationComposition
import Operations
import Synchronization
import TestSupport
import Testing

@Suite("Retry")
struct RetryTests {
  @Test("attempts end with the first success, and the waits are those of the strategy", arguments: seeds)
  func waits(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let attempts = EventLog<Duration>()
      let value = try await OperationQueue(backend: backend).addTask {
        var backoff = Backoff.exponential(factor: 2, initial: .seconds(1)).maximum(.seconds(3))
        return try await retry(maxAttempts: 9, clock: backend.clock) { () async throws(Refused) -> Int in
          attempts.append(backend.now)
          if attempts.count < 5 { throw Refused(number: attempts.count) }
          return attempts.count
        } strategy: { error in
          #expect(error == Refused(number: attempts.count))
          return .backoff(backoff.nextDuration())
        }
      }.value
      #expect(value == 5)
      #expect(attempts.events == [0, 1, 3, 6, 9].map { .seconds($0) })
    }
  }

  @Test("the last error is thrown; a final one at once")
  func errors() async throws {
    try await AsynchronousTest.run {
      let attempts = Counter()
      await #expect(throws: Refused(number: 3)) {
        try await retry(maxAttempts: 3) { throw Refused(number: attempts.increment()) }
      }
      await #expect(throws: Refused(number: 4)) {
        try await retry(maxAttempts: 9) {
          throw Refused(number: attempts.increment())
        } strategy: { _ in
          .stop
        }
      }
      await #expect(throws: Refused(number: 5)) {
        try await retry(maxAttempts: 1) {
          throw Refused(number: attempts.increment())
        } strategy: { _ in
          Issue.record("asked after the last attempt")
          return .stop
        }
      }
      #expect(attempts.value == 5)
    }
  }

  @Test("a cancelled task attempts nothing again")
  func cancelling() async throws {
    let (attempts, waits) = (Counter(), AsyncGate())
    let sleeper = AsynchronousTest.spawn {
      try await retry(maxAttempts: 5) {
        throw Refused(number: attempts.increment())
      } strategy: { _ in
        waits.open()
        return .backoff(.seconds(3600))
      }
    }
    await waits.pass()
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    let running = AsynchronousTest.spawn {
      try await retry(maxAttempts: 5) {
        withUnsafeCurrentTask { $0?.cancel() }
        throw Refused(number: attempts.increment())
      }
    }
    await #expect(throws: Refused(number: 2)) { try await running.value }
  }

  @Test("a budget ends attempts when half of it is spent, and successes fill it")
  func budget() async throws {
    try await AsynchronousTest.run {
      let budget = RetryBudget(maxTokens: 10, tokenRatio: 0.5)
      let attempts = Counter()
      func fail(_ action: RetryAction = .backoff(.zero)) async {
        _ = try? await retry(maxAttempts: 4, budget: budget) {
          attempts.increment()
          throw Refused()
        } strategy: { _ in
          action
        }
      }
      // Final errors cost nothing.
      await fail(.stop)
      #expect(budget.tokens == 10 && attempts.value == 1)
      await fail()
      #expect(budget.tokens == 6 && budget.allowsRetry && attempts.value == 5)
      // 5 tokens are half: no further attempt.
      await fail()
      #expect(budget.tokens == 5 && !budget.allowsRetry && attempts.value == 6)
      await fail()
      #expect(budget.tokens == 4 && attempts.value == 7)
      for _ in 0..<3 { try await retry(maxAttempts: 1, budget: budget) {} }
      #expect(budget.tokens == 5.5 && budget.allowsRetry)
      for _ in 0..<100 { budget.succeeded() }
      #expect(budget.tokens == 10)
      for _ in 0..<100 { budget.failed() }
      #expect(budget.tokens == 0)
    }
  }

  @Test("backoff strategies")
  func strategies() {
    func first(_ count: Int, _ strategy: some BackoffStrategy) -> [Duration] {
      var strategy = strategy
      return (0..<count).map { _ in strategy.nextDuration() }
    }
    #expect(first(3, Backoff.constant(.seconds(2))) == [2, 2, 2].map { .seconds($0) })
    #expect(first(3, Backoff.linear(increment: .seconds(2), initial: .seconds(1))) == [1, 3, 5].map { .seconds($0) })
    #expect(
      first(4, Backoff.exponential(factor: 3, initial: .seconds(1)).maximum(.seconds(10)))
        == [1, 3, 9, 10].map { .seconds($0) })
    #expect(
      first(3, Backoff.exponential(factor: 2, initial: .seconds(1)).minimum(.seconds(2)))
        == [2, 2, 4].map { .seconds($0) })
    // Nothing overflows.
    let long = first(1000, Backoff.exponential(factor: 1000, initial: .seconds(1)))
    #expect(long.last == .seconds(100 * 365 * 86_400))
    #expect(first(1000, Backoff.decorrelatedJitter(factor: 1000, base: .seconds(1))).allSatisfy { $0 >= .seconds(1) })
  }

  @Test("jitter lies in its range, and follows its seed", arguments: seeds)
  func jitter(seed: UInt64) {
    func draw(_ strategy: some BackoffStrategy) -> [Duration] {
      var strategy = strategy
      return (0..<50).map { _ in strategy.nextDuration() }
    }
    let whole = Backoff.constant(.seconds(8))
    let full = draw(whole.fullJitter(using: SeededGenerator(seed: seed)))
    #expect(full == draw(whole.fullJitter(using: SeededGenerator(seed: seed))))
    #expect(full != draw(whole.fullJitter(using: SeededGenerator(seed: seed + 1000))))
    #expect(full.allSatisfy { $0 >= .zero && $0 <= .seconds(8) })
    #expect(full.contains { $0 < .seconds(3) } && full.contains { $0 > .seconds(5) })
    let equal = draw(whole.equalJitter(using: SeededGenerator(seed: seed)))
    #expect(equal.allSatisfy { $0 >= .seconds(4) && $0 <= .seconds(8) } && Set(equal).count > 40)
    var last = Duration.seconds(1)
    for wait in draw(
      Backoff.decorrelatedJitter(factor: 3, base: .seconds(1), using: SeededGenerator(seed: seed)))
    {
      #expect(wait >= .seconds(1) && wait <= last * 3)
      last = wait
    }
    #expect(draw(Backoff.constant(.zero).fullJitter()).allSatisfy { $0 == .zero })
  }

  @Test("waits grow up to a century, whatever the numbers")
  func hugeNumbers() {
    func last(_ strategy: some BackoffStrategy) -> Duration {
      var strategy = strategy
      for _ in 1...5 { _ = strategy.nextDuration() }
      return strategy.nextDuration()
    }
    let century = Duration.seconds(100 * 365 * 86_400)
    #expect(last(Backoff.exponential(factor: .max, initial: .seconds(1))) == century)
    #expect(last(Backoff.exponential(factor: .max, initial: .seconds(Int64.max))) == century)
    #expect(last(Backoff.linear(increment: .seconds(Int64.max), initial: .seconds(Int64.max))) == century)
    #expect(last(Backoff.constant(.seconds(Int64.max))) == century)
    #expect(last(Backoff.decorrelatedJitter(factor: .max, base: .seconds(Int64.max))) == century)
    #expect(last(Backoff.exponential(factor: .max, initial: .seconds(1)).maximum(.seconds(7))) == .seconds(7))
  }

  @Test("a cancellation is final: nothing begins behind cancelAllOperations", arguments: allBackends)
  func cancelledQueue(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let begun = Counter()
      let tasks = (0..<20).map { _ in
        AsynchronousTest.spawn {
          try await retry(maxAttempts: 4) { try await queue.addTask { begun.increment() }.value }
        }
      }
      try await AsynchronousTest.eventually("the attempts") { queue.operationCount == 20 }
      queue.cancelAllOperations()
      queue.isSuspended = false
      for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
      await queue.drained()
      #expect(begun.value == 0)
    }
  }

  @Test("cancelAllOperations ends retries between two attempts, and as one begins", arguments: allBackends)
  func cancelledBetween(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let begun = Counter()
      @Sendable func attempt() async throws {
        try await queue.addTask {
          begun.increment()
          throw Refused()
        }.value
      }
      await #expect(throws: CancellationError.self) {
        try await retry(maxAttempts: 4, operation: attempt) { _ in
          queue.cancelAllOperations()
          return .backoff(.milliseconds(1))
        }
      }
      #expect(begun.value == 1)
      // The attempt has begun, and has not added its operation yet.
      let attempts = Counter()
      await #expect(throws: CancellationError.self) {
        try await retry(maxAttempts: 4) {
          if attempts.increment() == 2 { await Task.detached { queue.cancelAllOperations() }.value }
          try await attempt()
        } strategy: { _ in
          .backoff(.zero)
        }
      }
      #expect(attempts.value == 2 && begun.value == 2)
      // A body that was cancelled and says so in its own words.
      let started = AsyncGate()
      let spoken = AsynchronousTest.spawn {
        try await retry(maxAttempts: 4) {
          try await queue.addTask {
            begun.increment()
            started.open()
            while !Task.isCancelled { await Task.yield() }
            throw Refused(number: 7)
          }.value
        }
      }
      await started.pass()
      queue.cancelAllOperations()
      await #expect(throws: Refused(number: 7)) { try await spoken.value }
      #expect(begun.value == 3)
    }
  }

  @Test("what an attempt cancels itself is not the retry's cancellation", arguments: allBackends)
  func ownCancelling(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let attempts = Counter()
      await #expect(throws: Refused(number: 3)) {
        try await retry(maxAttempts: 3) {
          let other = queue.addTask {
            while !Task.isCancelled { await Task.yield() }
          }
          // A group that fails cancels its members' queue.
          let group = OperationGroup(backend: backend) { members in
            members.addTask { while !Task.isCancelled { await Task.yield() } }
            throw Refused()
          }
          queue.addOperation(group.operation)
          await group.operation.finished()
          queue.cancelAllOperations()
          await other.finished()
          throw Refused(number: attempts.increment())
        }
      }
      #expect(attempts.value == 3)
    }
  }

  @Test("a strategy may say that a cancellation is not final", arguments: allBackends)
  func afterCancellation(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let asked = Counter()
      await #expect(throws: CancellationError.self) {
        try await retry(maxAttempts: 4) {
          throw CancellationError()
        } strategy: { _ in
          asked.increment()
          return .backoff(.zero)
        }
      }
      #expect(asked.value == 1)
      let attempts = Counter()
      let value = try await retry(maxAttempts: 4) {
        if attempts.increment() == 3 { return try await queue.addTask { 3 }.value }
        queue.isSuspended = true
        let operation = queue.addTask { 0 }
        await Task.detached { queue.cancelAllOperations() }.value
        queue.isSuspended = false
        return try await operation.value
      } strategy: { _ in
        .backoff(.milliseconds(1), afterCancellation: true)
      }
      #expect(value == 3 && attempts.value == 3)
    }
  }

  @Test("a ratio is counted to the nearest thousandth")
  func ratio() {
    for ratio in [1.001, 0.001, 0.019, 2.3, 4.35, 0.57, 1.005] {
      let budget = RetryBudget(maxTokens: 100, tokenRatio: ratio)
      for _ in 0..<50 { budget.failed() }
      for _ in 0..<4 { budget.succeeded() }
      #expect(abs(budget.tokens - 50 - 4 * ratio) < 0.000_1, "\(ratio): \(budget.tokens)")
    }
  }
}
