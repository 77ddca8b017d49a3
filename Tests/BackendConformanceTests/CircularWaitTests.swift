import Operations
import Synchronization
import TestSupport
import Testing

/// Row 69: waits that lead back to the operation whose body waits.
@Suite("Circular waits")
struct CircularWaitTests {
  private func queue(on backend: TestBackend) -> OperationQueue { OperationQueue(backend: backend.leftRunning()) }

  @Test("row 69.1: a body that awaits what awaits it gets an error with the names", arguments: allBackends)
  func awaits(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let queue = queue(on: backend)
      let second = Mutex<TaskOperation<Int, any Error>?>(nil)
      let gate = AsyncGate()
      let a = queue.addTask(name: "a") {
        await gate.pass()
        guard let b = second.withLock({ $0 }) else { return 0 }
        return try await b.value + 1
      }
      let b = queue.addTask(name: "b") { try await a.value + 1 }
      second.withLock { $0 = b }
      gate.open()
      let error = await #expect(throws: CircularWait.self) { try await b.value }
      #expect(error?.operations.count == 3, "\(String(describing: error))")
      #expect(error?.description.contains("\"a\"") == true && error?.description.contains("\"b\"") == true)
      await queue.drained()
    }
  }

  @Test("row 69.1: a body that awaits an operation which depends on it", arguments: allBackends)
  func dependent(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let (queue, other) = (queue(on: backend), queue(on: backend))
      let last = Mutex<TaskOperation<Int, Never>?>(nil)
      let body = TaskOperation { () async throws -> Int in
        guard let last = last.withLock({ $0 }) else { return 0 }
        return try await last.value
      }
      body.name = "body"
      let between = BlockOperation(dependencies: [body]) {}
      let end = TaskOperation { 1 }
      end.name = "end"
      end.addDependency(between)
      last.withLock { $0 = end }
      other.addOperation(end)
      other.addOperation(between)
      queue.addOperation(body)
      let error = await #expect(throws: CircularWait.self) { try await body.value }
      #expect(error?.operations.count == 4 && error?.operations.first == error?.operations.last)
      let value = try await end.value
      #expect(value == 1)
      // One that is cancelled waits for no dependency.
      let cancelled = Mutex<TaskOperation<Int, Never>?>(nil)
      let waits = TaskOperation { await cancelled.withLock { $0 }?.finished() }
      let skipped = TaskOperation { 1 }
      skipped.addDependency(waits)
      skipped.cancel()
      cancelled.withLock { $0 = skipped }
      queue.addOperation(waits)
      other.addOperation(skipped)
      let isOver = try await waits.value
      #expect(isOver == true)
    }
  }

  @Test("row 69.1: a body that awaits what stands behind a barrier that waits for the body", arguments: allBackends)
  func behindABarrier(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let (queue, ran) = (queue(on: backend), Counter())
      let body = queue.addTask(name: "body") {
        queue.addBarrierBlock { ran.increment() }
        return try await queue.addTask(name: "behind") { ran.increment() }.value
      }
      let error = await #expect(throws: CircularWait.self) { try await body.value }
      #expect(error?.description.contains("\"behind\"") == true)
      await queue.drained()
      #expect(ran.value == 2)
    }
  }

  @Test("row 69.2: bodies that hold all places of a limit, and await what needs one", arguments: allBackends, 1...3)
  func places(backend: TestBackend, limit: Int) async throws {
    try await AsynchronousTest.run {
      let (queue, inner) = (queue(on: backend), queue(on: backend))
      queue.maxConcurrentOperationCount = limit
      let (inside, failed) = (Counter(), Counter())
      let bodies = (0..<limit).map { number in
        queue.addTask(name: "outer \(number)") {
          inside.increment()
          try await AsynchronousTest.eventually("all to be inside") { inside.value == limit }
          do {
            // Through an operation elsewhere.
            return try await inner.addTask { try await queue.addTask(name: "inner \(number)") { 1 }.value }.value
          } catch let error as CircularWait {
            #expect(error.description.contains("outer") && error.description.contains("inner"))
            failed.increment()
            return 2
          }
        }
      }
      for body in bodies {
        let value = try await body.value
        #expect(value == 1 || value == 2)
      }
      // One that is told ends, and then there is a place for the others.
      #expect(failed.value >= 1)
      await queue.drained()
      // A place that somebody holds who does not wait comes free.
      queue.maxConcurrentOperationCount = 2
      let waits = Mutex<TaskOperation<Int, Never>?>(nil)
      let gate = AsyncGate()
      let busy = queue.addTask { await gate.pass() }
      let outer = queue.addTask {
        let last = queue.addTask { 5 }
        waits.withLock { $0 = last }
        return try await last.value
      }
      try await AsynchronousTest.eventually("the wait") { waits.withLock { $0 } != nil }
      for _ in 1...100 { await Task.yield() }
      #expect(!outer.isFinished)
      gate.open()
      let value = try await outer.value
      #expect(value == 5)
      await busy.finished()
    }
  }

  @Test("row 69.4: a diagnosis says what a body awaits", arguments: allBackends)
  func diagnosis(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let (queue, gate) = (queue(on: backend), AsyncGate())
      let inner = queue.addTask(name: "inner") { await gate.pass() }
      let outer = queue.addTask(name: "outer") { try await inner.value }
      try await AsynchronousTest.eventually("the wait") { outer.debugDescription.contains("awaits") }
      let text = outer.debugDescription
      #expect(text.contains("ends when its body returns") && text.contains("\"inner\""), "\(text)")
      #expect(!text.contains("finish()"), "\(text)")
      let whole = queue.diagnosis().description
      #expect(whole.contains("ends when its body returns, which awaits <TaskOperation"), "\(whole)")
      #expect(!whole.contains("finish()"), "\(whole)")
      gate.open()
      await queue.drained()
      #expect(!outer.debugDescription.contains("awaits"))
    }
  }

  @Test(
    "row 69.5: a circle of more than 1,000 operations, or through an unstructured task, is not found",
    arguments: allBackends, [(between: 1_001, isStructured: true), (between: 1, isStructured: false)])
  func notFound(backend: TestBackend, circle: (between: Int, isStructured: Bool)) async throws {
    try await AsynchronousTest.run {
      let (queue, begun) = (queue(on: backend), AsyncGate())
      let end = TaskOperation { 1 }
      let body = TaskOperation { () async throws -> Int in
        begun.open()
        return circle.isStructured ? try await end.value : try await Task { try await end.value }.value
      }
      let chain = (0..<circle.between).map { _ in BlockOperation {} }
      chain[0].addDependency(body)
      for (earlier, later) in zip(chain, chain.dropFirst()) { later.addDependency(earlier) }
      end.addDependency(chain[circle.between - 1])
      for operation in [end] + chain + [body] { queue.addOperation(operation) }
      await begun.pass()
      for _ in 1...100 { await Task.yield() }
      #expect(!body.isFinished)
      // Whoever waits in such a circle goes on when the circle is opened.
      chain[0].removeDependency(body)
      let value = try await body.value
      #expect(value == 1)
      await queue.drained()
    }
  }

  @Test("row 70.1: a chain of up to 20,000 bodies that await each other is raised", arguments: allBackends)
  func raised(backend: TestBackend) async throws {
    try await chain(on: backend) { first, last in
      let waits = AsynchronousTest.spawn(priority: .high) { try await first.value }
      try await AsynchronousTest.eventually("the raise") { last.priorityInForce.rawValue > 0 }
      return waits
    }
  }

  @Test("row 70.2: a chain of up to 20,000 bodies that await each other is cancelled", arguments: allBackends)
  func cancelled(backend: TestBackend) async throws {
    try await chain(on: backend) { first, last in
      first.cancel()
      #expect(last.isCancelled)
      return nil
    }
  }

  /// - Parameter act: gets the first and the last one of a chain, and returns a task to be awaited.
  private func chain(
    on backend: TestBackend,
    _ act: @escaping @Sendable (TaskOperation<Int, any Error>, Operation) async throws -> Task<Int, any Error>?
  ) async throws {
    try await AsynchronousTest.run {
      let (queue, count) = (queue(on: backend), part(backend.manyReady / 50, of: 20_000))
      let (gate, reached) = (AsyncGate(), AsyncGate())
      let lastOne = Mutex<Operation?>(nil)
      @Sendable func add(_ number: Int) -> TaskOperation<Int, any Error> {
        queue.addTask(priority: .low) {
          if number == count {
            reached.open()
            await gate.pass()
            return number
          }
          let next = add(number + 1)
          if number == count - 1 { lastOne.withLock { $0 = next } }
          return try await next.value(cancelling: true)
        }
      }
      let first = add(1)
      await reached.pass()
      try await AsynchronousTest.eventually("the last one") { lastOne.withLock { $0 } != nil }
      guard let last = lastOne.withLock({ $0 }) else { return }
      let task = try await act(first, last)
      gate.open()
      if let task {
        let value = try await task.value
        #expect(value == count)
      }
      await queue.drained()
    }
  }
}
