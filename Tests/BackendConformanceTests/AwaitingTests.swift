import DeterministicOperations
import Operations
import Synchronization
import TestSupport
import Testing

/// Row 66: tasks that wait for operations.
@Suite("Awaiting")
struct AwaitingTests {
  struct Refused: Error, Equatable {}

  @Test("row 66.1: finished() and value return when the operation has finished", arguments: allBackends)
  func finishes(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let runs = Counter()
      let block = BlockOperation { runs.increment() }
      queue.addOperation(block)
      #expect(await block.finished())
      #expect(block.isFinished && runs.value == 1)
      #expect(await block.finished())
      let answer = try await queue.addTask { 6 * 7 }.value
      #expect(answer == 42)
      await #expect(throws: Refused.self) {
        try await queue.addTask { () async throws(Refused) -> Int in throw Refused() }.value
      }
      // The queue does not list the operation any more.
      let gate = AsyncGate()
      let open = queue.addTask { await gate.pass() }
      let lists = AsynchronousTest.spawn {
        await open.finished()
        return queue.operationCount
      }
      gate.open()
      let listed = try await lists.value
      #expect(listed == 0)
      let unrun = TaskOperation { 1 }
      unrun.cancel()
      queue.addOperation(unrun)
      await #expect(throws: CancellationError.self) { try await unrun.value }
      #expect(await queue.drained())
    }
  }

  @Test("row 66.1: many tasks wait for one operation, and one task for many", arguments: allBackends)
  func many(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let gate = AsyncGate()
      let operation = queue.addTask { await gate.pass() }
      let sum = await withTaskGroup(of: Int.self) { group in
        for number in 0..<500 {
          group.addTask { await operation.finished() ? number : -1_000_000 }
        }
        gate.open()
        return await group.reduce(0, +)
      }
      #expect(sum == (0..<500).reduce(0, +))
      var total = 0
      for operation in (0..<500).map({ number in queue.addTask { number } }) { total += try await operation.value }
      #expect(total == sum)
      let blocks = (0..<500).map { _ in BlockOperation {} }
      for block in blocks { queue.addOperation(block) }
      for block in blocks { #expect(await block.finished()) }
      #expect(await queue.drained())
    }
  }

  @Test("row 66.1: tasks wait beside operations that depend", arguments: allBackends)
  func besideDependents(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let gate = AsyncGate()
      let operations = (0..<8).map { _ in TaskOperation { await gate.pass() } }
      let runs = Counter()
      var waits: [Task<Bool, any Error>] = []
      for operation in operations { queue.addOperation(operation) }
      for _ in 0..<10 {
        waits += operations.map { operation in AsynchronousTest.spawn { await operation.finished() } }
        // Edges inside of the dependent, and edges of a list.
        for dependencies in [operations, Array(operations.prefix(1))] {
          let dependent = BlockOperation { runs.increment() }
          for operation in dependencies { dependent.addDependency(operation) }
          queue.addOperation(dependent)
          waits.append(AsynchronousTest.spawn { await dependent.finished() })
        }
        await Task.yield()
      }
      gate.open()
      for wait in waits {
        let isFinished = try await wait.value
        #expect(isFinished)
      }
      #expect(runs.value == 20)
      #expect(await queue.drained())
    }
  }

  @Test("row 66.2: cancelling the waiting task ends the wait, and not the operation", arguments: allBackends)
  func cancelled(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let gate = AsyncGate()
      let operation = queue.addTask {
        await gate.pass()
        return 1
      }
      let waits = AsynchronousTest.spawn { await operation.finished() }
      let awaits = AsynchronousTest.spawn { try await operation.value }
      let drains = AsynchronousTest.spawn { await queue.drained() }
      let barrier = AsynchronousTest.spawn { try await queue.barrier { 2 } }
      waits.cancel()
      awaits.cancel()
      drains.cancel()
      barrier.cancel()
      let waited = try await waits.value
      #expect(waited == false)
      await #expect(throws: CancellationError.self) { try await awaits.value }
      await #expect(throws: CancellationError.self) { try await barrier.value }
      let drained = try await drains.value
      #expect(drained == false)
      #expect(!operation.isCancelled && !operation.isFinished)
      gate.open()
      let value = try await operation.value
      #expect(value == 1)
      #expect(await queue.drained())
    }
  }

  @Test("row 66.2: cancelling the waiting task cancels the operation on request", arguments: allBackends)
  func cancelling(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let operation = queue.addTask {
        while !Task.isCancelled { await Task.yield() }
        return 3
      }
      let awaits = AsynchronousTest.spawn { try await operation.value(cancelling: true) }
      awaits.cancel()
      await #expect(throws: CancellationError.self) { try await awaits.value }
      #expect(operation.isCancelled)
      // The body had its chance to end in order, unless it had not started.
      #expect(await operation.finished())
      #expect(await queue.drained())
    }
  }

  @Test("row 66.3: a cancel at the instant of the finish", arguments: allBackends)
  func races(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      for _ in 0..<300 {
        let operation = BlockOperation {}
        let waits = AsynchronousTest.spawn { await operation.finished() }
        queue.addOperation(operation)
        waits.cancel()
        if try await waits.value { #expect(operation.isFinished) }
        #expect(await operation.finished())
      }
      #expect(await queue.drained())
    }
  }

  @Test("row 66.4: barrier runs alone", arguments: allBackends)
  func barrier(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let order = EventLog<Int>()
      let gate = AsyncGate()
      queue.addTask {
        await gate.pass()
        order.append(1)
      }
      let barrier = AsynchronousTest.spawn {
        try await queue.barrier {
          await Task.yield()
          order.append(2)
          return "done"
        }
      }
      while queue.operationCount < 2 { await Task.yield() }
      queue.addTask { order.append(3) }
      gate.open()
      let ofBarrier = try await barrier.value
      #expect(ofBarrier == "done")
      #expect(await queue.drained())
      #expect(order.events == [1, 2, 3])
    }
  }

  /// Its methods compute: the calls of others stand in line meanwhile.
  private actor Line {
    func hold(until go: Counter) { try? eventually("the other task") { go.value > 0 } }
    func pass() {}
    func wait(for operation: Operation, in queue: OperationQueue) {
      operation.waitUntilFinished()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  /// Runs a task, in 5 repeats. Its first call of the actor waits behind an operation's call. The operation's thread
  /// runs the task's call, and then the task.
  private func behindAnOperation(
    on backend: TestBackend, _ body: @escaping @Sendable (Line, Operation, OperationQueue) async -> Void
  ) async throws {
    for _ in 1...5 {
      try await AsynchronousTest.run {
        let queue = OperationQueue(backend: backend.leftRunning(workers: 1))
        let (line, begun, inLine) = (Line(), Counter(), Counter())
        let operation = queue.addTask {
          begun.increment()
          await line.hold(until: inLine)
        }
        try await AsynchronousTest.spawn {
          while begun.value == 0 { await Task.yield() }
          startThread {
            giveOthersAChance()
            inLine.increment()
          }
          await body(line, operation, queue)
        }.value
        #expect(operation.isFinished)
      }
    }
  }

  @Test("rows 30 and 66.3: another task may wait on an operation's thread, and is in no queue", arguments: allBackends)
  func othersOnTheThread(backend: TestBackend) async throws {
    try await behindAnOperation(on: backend) { line, operation, queue in
      await line.pass()
      #expect(OperationQueue.current !== queue)
      await queue.drained()
      await operation.finished()
    }
  }

  @Test("row 66.3: another task may block on an operation's thread", arguments: allBackends)
  func othersBlockOnTheThread(backend: TestBackend) async throws {
    try await behindAnOperation(on: backend) { line, operation, queue in
      await line.wait(for: operation, in: queue)
    }
  }

  @Test("row 66.3: a task that an operation makes on its thread may wait for the operation", arguments: allBackends)
  func immediateTasks(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let queue = OperationQueue(backend: backend.leftRunning())
      let (waits, box) = (Counter(), Monitor<Operation?>(nil))
      let block = BlockOperation {
        guard let own = box.value else { return }
        Task.immediate {
          await own.finished()
          waits.increment()
        }
      }
      box.with { $0 = block }
      queue.addOperation(block)
      let task = TaskOperation {
        Task.immediate {
          await queue.drained()
          waits.increment()
        }
      }
      queue.addOperation(task)
      await queue.drained()
      while waits.value < 2 { await Task.yield() }
    }
  }
}
