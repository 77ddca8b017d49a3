import Operations
import Synchronization
import TestSupport
import Testing

/// Row 66.6: `for await` over states and progress.
@Suite("States and progress of operations, awaited")
struct UpdatesTests {
  private func states(of operation: Operation) async -> [OperationState] {
    var states: [OperationState] = []
    for await state in operation.states { states.append(state) }
    return states
  }

  @Test("row 66.6: each state comes once, in order, and the loop ends behind the finish", arguments: allBackends)
  func everyState(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let (gate, first) = (AsyncGate(), BlockOperation {})
      let operation = TaskOperation { await gate.pass() }
      operation.addDependency(first)
      queue.addOperation(operation)
      let seen = EventLog<OperationState>()
      let loop = AsynchronousTest.spawn {
        for await state in operation.states { seen.append(state) }
        return operation.isFinished
      }
      func sees(_ states: [OperationState]) async throws {
        try await AsynchronousTest.eventually("\(states)") { seen.events == states }
      }
      try await sees([.waiting])
      queue.addOperation(first)
      first.cancel()
      queue.isSuspended = false
      try await AsynchronousTest.eventually("the start") { operation.isExecuting }
      try await AsynchronousTest.eventually("executing") { seen.events.last == .executing }
      gate.open()
      let isFinished = try await loop.value
      #expect(isFinished)
      #expect(seen.events.first == .waiting && seen.events.last == .finished)
      #expect(seen.events == seen.events.sorted() && Set(seen.events).count == seen.events.count)
      // One that has finished.
      #expect(await states(of: operation) == [.finished])
    }
  }

  @Test("row 66.6: a cancelled operation goes to finished, and several loops get the same", arguments: allBackends)
  func cancelled(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let operation = BlockOperation {}
      queue.addOperation(operation)
      let begun = Counter()
      let loops = (0..<5).map { _ in
        AsynchronousTest.spawn {
          var states: [OperationState] = []
          for await state in operation.states {
            if states.isEmpty { begun.increment() }
            states.append(state)
          }
          return states
        }
      }
      try await AsynchronousTest.eventually("all loops") { begun.value == 5 }
      operation.cancel()
      queue.isSuspended = false
      for loop in loops {
        let states = try await loop.value
        #expect(states == [.ready, .finished])
      }
    }
  }

  @Test("row 66.6: cancelling the task ends the loop, and nobody is held", arguments: allBackends)
  func endsWithTheTask(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      weak var released: Operation?
      do {
        let operation = BlockOperation {}
        released = operation
        let begun = Gate()
        let loop = AsynchronousTest.spawn { [operation] in
          var count = 0
          for await _ in operation.states {
            count += 1
            begun.open()
          }
          return count
        }
        try await AsynchronousTest.spawn { passBlocking(begun) }.value
        loop.cancel()
        let count = try await loop.value
        #expect(count == 1)
        for await state in operation.states where state == .ready { break }
      }
      // The thread of the task that was cancelled lets go of its closure behind the task's end.
      for _ in 0..<100_000 where released != nil { await Task.yield() }
      let isReleased = released == nil
      #expect(isReleased)
    }
  }

  @Test("row 66.6: the progress comes at once, and the newest after changes", arguments: allBackends)
  func progress(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.progress.totalUnitCount = 50
      var last: Int64 = -1
      for await now in queue.progress.updates {
        #expect(now.completedUnitCount >= last && now.totalUnitCount == 50)
        if last < 0 {
          #expect(now.completedUnitCount == 0 && now.fractionCompleted == 0)
          for _ in 0..<50 { queue.addOperation {} }
        }
        last = now.completedUnitCount
        if now.fractionCompleted == 1 { break }
      }
      #expect(last == 50)
      let waits = AsynchronousTest.spawn {
        for await _ in queue.progress.updates {}
        return true
      }
      waits.cancel()
      let hasEnded = try await waits.value
      #expect(hasEnded)
    }
  }
}

private func passBlocking(_ gate: Gate) { gate.pass() }
