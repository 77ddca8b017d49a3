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
      let queue = OperationQueue(on: backend)
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
      let queue = OperationQueue(on: backend)
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
      let queue = OperationQueue(on: backend)
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
}
