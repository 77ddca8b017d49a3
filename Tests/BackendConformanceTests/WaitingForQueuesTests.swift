import Operations
import TestSupport
import Testing

/// Row 29: `waitUntilAllOperationsAreFinished` and the waiting batch.
@Suite("Waiting for queues")
struct WaitingForQueuesTests {
  @Test("row 29: an empty queue returns at once", arguments: allBackends)
  func emptyQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      try queue.drainInTime()
      #expect(queue.operationCount == 0)
    }
  }

  @Test("row 29: operationCount is 0 and operations is empty on return", arguments: allBackends, [1, 2, -1])
  func nothingIsLeft(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      let leftovers = try inTime("300 rounds of adding and waiting", seconds: 2 * patience) {
        var leftovers = 0
        for round in 0..<300 {
          for _ in 0...round % 7 { queue.addOperation {} }
          queue.waitUntilAllOperationsAreFinished()
          leftovers += queue.operationCount + queue.operations.count
        }
        return leftovers
      }
      #expect(leftovers == 0)
    }
  }

  @Test("row 29: includes operations added meanwhile, by operations", arguments: allBackends)
  func addedByOperations(backend: TestBackend) throws {
    @Sendable func grow(_ depth: Int, _ queue: OperationQueue, _ ran: Counter) {
      ran.increment()
      guard depth > 0 else { return }
      for _ in 0..<2 { queue.addOperation { grow(depth - 1, queue, ran) } }
    }
    try backend.withQueue { queue in
      for _ in 0..<20 {
        let ran = Counter()
        queue.addOperation { grow(7, queue, ran) }
        try queue.drainInTime()
        #expect(ran.value == 255)
      }
    }
  }

  @Test("row 29: includes operations and barriers added meanwhile, by other threads", arguments: allBackends)
  func addedByOthers(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let first = GatedOperation()
      queue.addOperation(first)
      let waiting = Gate()
      let woken = Gate()
      startThread {
        waiting.open()
        queue.waitUntilAllOperationsAreFinished()
        woken.open()
      }
      try waiting.wait("the waiter")
      giveOthersAChance()
      let second = GatedOperation()
      queue.addOperation(second)
      first.release.open()
      try first.finishInTime()
      giveOthersAChance()
      #expect(!woken.isOpen)
      let barrier = Gate()
      queue.addBarrierBlock { barrier.pass() }
      second.release.open()
      try second.finishInTime()
      giveOthersAChance()
      #expect(!woken.isOpen)
      barrier.open()
      try woken.wait("the waiter of the queue")
    }
  }

  @Test("row 29: waits for dependencies in other queues and for asynchronous operations", arguments: allBackends)
  func waitsForUnready(backend: TestBackend) throws {
    try backend.withQueues { here, there in
      let asynchronous = AsynchronousOperation { _ in }
      let operation = CountingOperation()
      operation.addDependency(asynchronous)
      here.addOperation(operation)
      there.addOperation(asynchronous)
      let woken = Gate()
      startThread {
        here.waitUntilAllOperationsAreFinished()
        woken.open()
      }
      try eventually("the dependency") { asynchronous.isExecuting }
      giveOthersAChance()
      #expect(!woken.isOpen)
      asynchronous.finish()
      try woken.wait("the waiter")
      #expect(operation.isFinished)
    }
  }

  @Test("row 29: many threads wait for one queue", arguments: allBackends)
  func manyWaiters(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<20 {
        let gate = Gate()
        for _ in 0..<10 { queue.addOperation { gate.pass() } }
        let woken = Counter()
        for _ in 0..<16 {
          startThread {
            queue.waitUntilAllOperationsAreFinished()
            if queue.operations.isEmpty { woken.increment() }
          }
        }
        gate.open()
        try woken.wait(for: 16, "16 waiting threads")
      }
    }
  }

  @Test("row 29: a batch that waits returns when its own operations have finished", arguments: allBackends)
  func waitingBatch(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let other = AsynchronousOperation { _ in }
      queue.addOperation(other)
      let operations = (0..<50).map { _ in CountingOperation() }
      try inTime("a waiting batch") { queue.addOperations(operations, waitUntilFinished: true) }
      #expect(operations.allSatisfy { $0.isFinished && $0.mains.value == 1 })
      try eventually("the other operation") { other.isExecuting }
      #expect(queue.operations == [other])
      try inTime("an empty waiting batch") { queue.addOperations([], waitUntilFinished: true) }
      other.finish()
      try queue.drainInTime()
    }
  }

  @Test("row 29: cancelAllOperations wakes who waits for the queue", arguments: allBackends)
  func cancelWakes(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<10 {
        let never = Operation()
        for _ in 0..<50 {
          let operation = Operation()
          operation.addDependency(never)
          queue.addOperation(operation)
        }
        let woken = Gate()
        startThread {
          queue.waitUntilAllOperationsAreFinished()
          woken.open()
        }
        queue.cancelAllOperations()
        try woken.wait("the waiter of the queue")
        #expect(queue.operationCount == 0)
      }
    }
  }
}
