import OperationCore
import Operations
import Synchronization
import TestSupport
import Testing

/// Row 66.5: a task that waits lends its priority.
@Suite("Escalation")
struct EscalationTests {
  private func queue(on backend: any Backend, limit: Int = 1) -> OperationQueue {
    let queue = OperationQueue(backend: backend)
    queue.maxConcurrentOperationCount = limit
    return queue
  }

  private func block(_ priority: Operation.QueuePriority, _ body: @escaping @Sendable () -> Void = {}) -> BlockOperation
  {
    let operation = BlockOperation(block: body)
    operation.queuePriority = priority
    return operation
  }

  /// A chain in which each operation depends on the one before.
  private func chain(_ count: Int, _ priority: Operation.QueuePriority, _ body: @escaping @Sendable () -> Void)
    -> [Operation]
  {
    var chain: [Operation] = []
    for _ in 0..<count {
      let operation = block(priority, body)
      if let last = chain.last { operation.addDependency(last) }
      chain.append(operation)
    }
    return chain
  }

  private func raised(_ operation: Operation, to priority: Operation.QueuePriority) async throws {
    try await AsynchronousTest.eventually("the raise to \(priority)") { operation.priorityInForce == priority }
  }

  @Test("row 66.5: a chain that is awaited overtakes what is more urgent than its members", arguments: allBackends)
  func chainOvertakes(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = queue(on: backend)
      let gate = AsyncGate()
      let log = EventLog<String>()
      let holder = queue.addTask { await gate.pass() }
      let chain = chain(100, .veryLow) { log.append("chain") }
      // The raise comes to this operation last: chain[0] has moved in the queue's list then.
      let last = block(.veryLow)
      chain[99].removeDependency(chain[98])
      for operation in [last, chain[98]] { chain[99].addDependency(operation) }
      for operation in chain { queue.addOperation(operation) }
      for _ in 0..<200 { queue.addOperation(block(.normal) { log.append("other") }) }
      let waits = AsynchronousTest.spawn(priority: .high) { await chain[99].finished() }
      try await raised(last, to: .high)
      #expect(chain.allSatisfy { $0.priorityInForce == .high && $0.queuePriority == .veryLow })
      OperationQueue(backend: backend).addOperation(last)
      await last.finished()
      gate.open()
      let isFinished = try await waits.value
      #expect(isFinished)
      await queue.drained()
      #expect(log.events.firstIndex(of: "other") == 100)
      #expect(holder.isFinished && log.events.count == 300)
    }
  }

  @Test("row 66.5: when the waiting task is raised later, all that it waits for is raised", arguments: allBackends)
  func laterRaise(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = queue(on: backend)
      let gate = AsyncGate()
      queue.addTask { await gate.pass() }
      let chain = chain(10, .veryLow) {}
      for operation in chain { queue.addOperation(operation) }
      let waits = AsynchronousTest.spawn(priority: .utility) { await chain[9].finished() }
      try await raised(chain[0], to: .low)
      let urgent = AsynchronousTest.spawn(priority: .high) { try await waits.value }
      try await raised(chain[0], to: .high)
      #expect(chain.allSatisfy { $0.priorityInForce == .high })
      gate.open()
      let isFinished = try await urgent.value
      #expect(isFinished)
    }
  }

  @Test(
    "row 66.5: what a barrier puts before an operation is raised, and a limit below a priority counts the raise",
    arguments: allBackends)
  func barriersAndLimits(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = queue(on: backend, limit: -1)
      queue.limits[below: .normal] = 0
      let ran = Counter()
      let before = block(.low) { ran.increment() }
      let other = block(.low)
      queue.addOperation(before)
      let barrier = AsynchronousTest.spawn(priority: .utility) { try await queue.barrier { ran.increment() } }
      try await AsynchronousTest.eventually("the barrier") { queue.operationCount == 2 }
      let behind = block(.normal) { ran.increment() }
      queue.addOperation(behind)
      queue.addOperation(other)
      #expect(before.priorityInForce == .low && ran.value == 0)
      let isFinished = try await AsynchronousTest.spawn(priority: .high) { await behind.finished() }.value
      #expect(isFinished && ran.value == 3)
      _ = try await barrier.value
      // Nobody waits for this one.
      #expect(other.priorityInForce == .low && !other.isFinished)
      queue.limits = PriorityLimits()
      await queue.drained()
    }
  }

  @Test("row 66.5: the task of an asynchronous body rises", arguments: allBackends)
  func bodyRises(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = queue(on: backend)
      let operation = queue.addTask(priority: .low) {
        while Task.currentPriority < .high { await Task.yield() }
        return Task.currentPriority
      }
      let priority = try await AsynchronousTest.spawn(priority: .high) { try await operation.value }.value
      #expect(priority >= .high)
    }
  }

  @Test("row 66.5: drained() raises all of the queue", arguments: allBackends)
  func drained(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = queue(on: backend)
      let gate = AsyncGate()
      queue.addTask { await gate.pass() }
      let low = (0..<20).map { _ in block(.low) }
      for operation in low { queue.addOperation(operation) }
      let waits = AsynchronousTest.spawn(priority: .high) { await queue.drained() }
      try await raised(low[0], to: .high)
      try await raised(low[19], to: .high)
      gate.open()
      let isDrained = try await waits.value
      #expect(isDrained)
    }
  }

  @Test(
    "row 66.5: when a task that waits for a queue is raised later, all of the queue is raised", arguments: allBackends)
  func drainedRaisedLater(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = queue(on: backend)
      let gate = AsyncGate()
      queue.addTask { await gate.pass() }
      let low = (0..<20).map { _ in block(.veryLow) }
      for operation in low { queue.addOperation(operation) }
      let waits = AsynchronousTest.spawn(priority: .utility) { await queue.drained() }
      try await raised(low[0], to: .low)
      let urgent = AsynchronousTest.spawn(priority: .high) { try await waits.value }
      for operation in low { try await raised(operation, to: .high) }
      gate.open()
      let isDrained = try await urgent.value
      #expect(isDrained)
    }
  }

  @Test("row 66.5: waits and raises beside finishes and changes of priority lose nobody", arguments: allBackends)
  func race(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = queue(on: backend, limit: 2)
      let operations = chain(400, .low) {} + (0..<400).map { _ in block(.veryLow) }
      for operation in operations { queue.addOperation(operation) }
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for (index, operation) in operations.enumerated() {
          group.addTask(priority: index % 3 == 0 ? .high : .background) {
            if index % 5 == 0 { operation.queuePriority = .normal }
            return await operation.finished()
          }
        }
        for try await isFinished in group { #expect(isFinished) }
      }
      #expect(await queue.drained())
    }
  }

  @Test(
    "row 28.8: an operation that blocks in a wait lends its priority to all that it waits for", arguments: allBackends)
  func blockingWait(backend: TestBackend) throws {
    try backend.withBackend(workers: 2) { backend in
      let (first, second) = (OperationQueue(backend: backend), OperationQueue(backend: backend))
      first.maxConcurrentOperationCount = 1
      let (gate, waits, log) = (Gate(), Gate(), EventLog<String>())
      // A failure must not leave the operations waiting.
      defer { gate.open() }
      first.addOperation { gate.pass() }
      let chain = chain(20, .veryLow) { log.append("chain") }
      // The raise comes to this operation last: chain[0] has moved in the queue's list then.
      let last = block(.veryLow)
      chain[19].removeDependency(chain[18])
      for operation in [last, chain[18]] { chain[19].addDependency(operation) }
      for operation in chain { first.addOperation(operation) }
      for _ in 0..<20 { first.addOperation(block(.normal) { log.append("other") }) }
      let urgent = block(.high) {
        waits.open()
        chain[19].waitUntilFinished()
        log.append("urgent")
      }
      second.addOperation(urgent)
      try waits.wait("the wait to begin")
      try eventually("the raise") { last.priorityInForce == .high }
      #expect(chain.allSatisfy { $0.priorityInForce == .high && $0.queuePriority == .veryLow })
      OperationQueue(backend: backend).addOperation(last)
      try eventually("the last one") { last.isFinished }
      gate.open()
      try second.drainInTime()
      try first.drainInTime()
      let chained = log.events.prefix { $0 == "chain" }.count
      #expect(chained == 20, "\(log.events)")
    }
  }

  @Test(
    "row 28.8: a wait for a whole queue lends the priority to its operations, and a wait outside raises nothing",
    arguments: allBackends)
  func blockingWaitForAQueue(backend: TestBackend) throws {
    try backend.withBackend(workers: 2) { backend in
      let (first, second) = (OperationQueue(backend: backend), OperationQueue(backend: backend))
      first.isSuspended = true
      // A failure must not leave the operations waiting.
      defer { first.isSuspended = false }
      let low = (0..<5).map { _ in block(.veryLow) }
      for operation in low { first.addOperation(operation) }
      let outside = Gate()
      startThread {
        first.waitUntilAllOperationsAreFinished()
        outside.open()
      }
      giveOthersAChance()
      #expect(low.allSatisfy { $0.priorityInForce == .veryLow })
      second.addOperation(block(.veryHigh) { first.waitUntilAllOperationsAreFinished() })
      try eventually("the raise") { low.allSatisfy { $0.priorityInForce == .veryHigh } }
      first.isSuspended = false
      try second.drainInTime()
      try outside.wait("the thread outside")
    }
  }

  @Test("row 66.5: a dependency that is added between two waits, or during one, is raised", arguments: allBackends)
  func addedDependencies(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = queue(on: backend)
      queue.isSuspended = true
      let (last, between, during) = (block(.veryLow), block(.veryLow), [block(.veryLow), block(.veryLow)])
      let first = AsynchronousTest.spawn(priority: .high) { await last.finished() }
      try await raised(last, to: .high)
      first.cancel()
      _ = try await first.value
      last.addDependency(between)
      let second = AsynchronousTest.spawn(priority: .high) { await last.finished() }
      try await raised(between, to: .high)
      last.addDependencies(during)
      #expect(during.allSatisfy { $0.priorityInForce == .high && $0.queuePriority == .veryLow })
      for operation in during + [between, last] { queue.addOperation(operation) }
      queue.isSuspended = false
      let isFinished = try await second.value
      #expect(isFinished)
    }
  }

  @Test(
    "row 66.5: what a barrier puts before an operation rises for a wait that began before the adding",
    arguments: allBackends)
  func addedBehindABarrier(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      for isBatch in [false, true] {
        let queue = queue(on: backend)
        queue.isSuspended = true
        let before = [block(.veryLow), block(.veryLow)]
        for operation in before { queue.addOperation(operation) }
        queue.addBarrierBlock {}
        let operation = TaskOperation { 1 }
        operation.queuePriority = .veryLow
        let waits = AsynchronousTest.spawn(priority: .high) { try await operation.value }
        try await raised(operation, to: .high)
        #expect(before.allSatisfy { $0.priorityInForce == .veryLow })
        if isBatch { add([operation], to: queue) } else { queue.addOperation(operation) }
        #expect(before.allSatisfy { $0.priorityInForce == .high && $0.queuePriority == .veryLow })
        queue.isSuspended = false
        _ = try await waits.value
      }
    }
  }

  /// The call that waits is not for asynchronous code.
  private func add(_ operations: [Operation], to queue: OperationQueue) {
    queue.addOperations(operations, waitUntilFinished: false)
  }

  @Test("row 66.5: the task of a body that became urgent after its adding rises", arguments: allBackends)
  func bodyOfAnUrgentOperation(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = queue(on: backend)
      queue.isSuspended = true
      let operation = queue.addTask {
        while Task.currentPriority < .high { await Task.yield() }
        return Task.currentPriority
      }
      // The level is above that of the waiting task: nothing but the task rises.
      operation.queuePriority = .veryHigh
      let waits = AsynchronousTest.spawn(priority: .high) { try await operation.value }
      queue.isSuspended = false
      let priority = try await waits.value
      #expect(priority >= .high)
    }
  }
}
