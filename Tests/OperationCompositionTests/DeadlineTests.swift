import DeterministicOperations
import OperationComposition
import Operations
import TestSupport
import Testing

@Suite("Deadlines")
struct DeadlineTests {
  @Test("what is ready in time is returned, and nobody waits for the deadline", arguments: seeds)
  func inTime(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let queue = OperationQueue(backend: backend)
      let (clock, start) = (backend.clock, backend.clock.now)
      let value = try await queue.addTask {
        try await withDeadline(start.advanced(by: .seconds(10)), clock: clock) {
          try await clock.sleep(for: .seconds(9))
          return 9
        }
      }.value
      #expect(value == 9 && backend.now == .seconds(9))
      await #expect(throws: Refused(number: 1)) {
        try await withDeadline(start.advanced(by: .seconds(100)), clock: clock) { throw Refused(number: 1) }
      }
    }
  }

  @Test("what is late is cancelled at the deadline", arguments: seeds)
  func late(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let queue = OperationQueue(backend: backend)
      let (clock, start) = (backend.clock, backend.clock.now)
      let late = queue.addTask {
        try await withDeadline(start.advanced(by: .seconds(10)), clock: clock) {
          try await clock.sleep(for: .seconds(11))
        }
      }
      await #expect(throws: DeadlineExceeded.self) { try await late.value }
      #expect(backend.now == .seconds(10))
      // The body's own result counts, also after the deadline.
      let stubborn = queue.addTask {
        try await withDeadline(start.advanced(by: .seconds(20)), clock: clock) {
          try? await clock.sleep(for: .seconds(100))
          return Task.isCancelled
        }
      }
      let wasCancelled = try await stubborn.value
      #expect(wasCancelled && backend.now == .seconds(20))
      let past = queue.addTask {
        try await withDeadline(start, clock: clock) { try await clock.sleep(for: .seconds(1)) }
      }
      await #expect(throws: DeadlineExceeded.self) { try await past.value }
    }
  }

  @Test("a deadline for the wait cancels an operation in the queue", arguments: seeds)
  func waiting(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let (clock, start) = (backend.clock, backend.clock.now)
      let operation = queue.addTask { Issue.record("the body ran") }
      await #expect(throws: DeadlineExceeded.self) {
        try await withDeadline(start.advanced(by: .seconds(3)), clock: clock) {
          try await operation.value(cancelling: true)
        }
      }
      #expect(operation.isCancelled && backend.now == .seconds(3))
      queue.isSuspended = false
    }
  }

  @Test("a cancelled caller gets a CancellationError, not a deadline's")
  func cancelledCaller() async throws {
    let started = AsyncGate()
    let task = AsynchronousTest.spawn {
      try await withDeadline(.now + .seconds(3600)) {
        started.open()
        try await Task.sleep(for: .seconds(3600))
      }
    }
    await started.pass()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect("\(DeadlineExceeded())" == "the deadline has passed")
  }

  @Test("twice as many computing bodies as workers are cancelled at their deadlines", arguments: allBackends)
  func computing(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend, blocks: true) { backend in
      let queue = OperationQueue(backend: backend)
      let bodies = (0..<4).map { _ in
        queue.addTask {
          try await withDeadline(.now + .milliseconds(100)) {
            while !Task.isCancelled {}
            try Task.checkCancellation()
          }
        }
      }
      for body in bodies { await #expect(throws: DeadlineExceeded.self) { try await body.value } }
      let value = try await queue.addTask { try await withDeadline(.now + .seconds(3600)) { 6 * 7 } }.value
      #expect(value == 42)
    }
  }

  @Test("a deadline on a clock of one's own does not queue behind what it ends", arguments: realBackends)
  func computingOnAnotherClock(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let clock = ThreadClock()
      let bodies = (0..<4).map { _ in
        queue.addTask {
          try await withDeadline(clock.now.advanced(by: .milliseconds(50)), clock: clock) {
            while !Task.isCancelled {}
            try Task.checkCancellation()
          }
        }
      }
      for body in bodies { await #expect(throws: DeadlineExceeded.self) { try await body.value } }
    }
  }

  @Test("instants before and after all time are as far away as a century")
  func hugeInstants() async throws {
    try await AsynchronousTest.run {
      let (continuous, suspending) = (ContinuousClock(), SuspendingClock())
      let first = try await withDeadline(.now + .seconds(Int64.max), tolerance: .seconds(Int64.max)) { 1 }
      let second = try await withDeadline(suspending.now + .seconds(Int64.max), clock: suspending) { 2 }
      let third = try await withDeadline(WrittenClock().now + .seconds(Int64.max), clock: WrittenClock()) { 3 }
      #expect([first, second, third] == [1, 2, 3])
      let wasCancelled = try await withDeadline(.now - .seconds(Int64.max)) {
        while !Task.isCancelled { await Task.yield() }
        return true
      }
      #expect(wasCancelled)
      // Who waits that long is cancelled as ever.
      let queue = OperationQueue()
      let waits: [TaskOperation<Void, any Error>] = [
        queue.addTask(conditions: [Delay(until: continuous.now + .seconds(Int64.max))]) {},
        queue.addTask(conditions: [Delay(until: suspending.now + .seconds(Int64.max), clock: suspending)]) {},
        queue.addTask(conditions: [Delay(for: .seconds(Int64.max), tolerance: .seconds(Int64.max))]) {},
        queue.addTask {
          try await retry(maxAttempts: 2, tolerance: .seconds(Int64.max)) {
            throw Refused()
          } strategy: { _ in
            .backoff(.seconds(Int64.max))
          }
        },
        queue.addTask {
          let bucket = TokenBucket(rate: 1, per: .seconds(Int64.max), tolerance: .seconds(Int64.max))
          for _ in 1...2 { try await bucket.take() }
        },
      ]
      for _ in 1...100 { await Task.yield() }
      for wait in waits {
        #expect(!wait.isFinished)
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
      }
      // And what has passed for ever is over.
      try await queue.addTask(conditions: [Delay(until: continuous.now - .seconds(Int64.max))]) {}.value
      try await queue.addTask(conditions: [Delay(until: suspending.now - .seconds(Int64.max), clock: suspending)]) {}
        .value
    }
  }

  @Test("in a test whose tasks belong to a seed, deadlines, retries, delays and rates go by its time on any clock")
  func timeOfASeed() async throws {
    try await forEachSeed(0..<5, patience: .seconds(100), mayLeave: false) { backend in
      let hour = Duration.seconds(3_600)
      await #expect(throws: DeadlineExceeded.self) {
        try await withDeadline(.now + hour) { try await Task.sleep(for: hour * 2) }
      }
      #expect(backend.now == hour)
      let quick = try await withDeadline(SuspendingClock.now + hour, clock: SuspendingClock()) { 7 }
      #expect(quick == 7 && backend.now == hour)
      let attempts = Counter()
      try await retry(maxAttempts: 3) {
        if attempts.increment() < 3 { throw Refused() }
      } strategy: { _ in
        .backoff(.seconds(60))
      }
      #expect(backend.now == hour + .seconds(120))
      try await Delay(for: .seconds(60)).evaluate()
      #expect(backend.now == hour + .seconds(180))
      let bucket = TokenBucket(rate: 1, burst: 1)
      for _ in 0..<4 { try await bucket.take() }
      #expect(backend.now == hour + .seconds(183))
    }
  }
}
