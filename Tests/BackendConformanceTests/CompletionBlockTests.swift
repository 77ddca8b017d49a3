import Operations
import TestSupport
import Testing

/// Rows 10 and 11: when the completion block runs, what it may do, and who does not wait for it.
@Suite("Completion blocks")
struct CompletionBlockTests {
  @Test(
    "rows 10.1 and 10.2: once, after isFinished, waiters, dependents and the queue have been served",
    arguments: allBackends)
  func completionComesLast(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<100 {
        let seen = EventLog<(finished: Bool, executing: Bool, listed: Bool, dependentReady: Bool)>()
        let operation = BlockOperation {}
        let dependent = Operation()
        dependent.addDependency(operation)
        operation.completionBlock = {
          seen.append(
            (
              operation.isFinished, operation.isExecuting, queue.operations.contains(operation), dependent.isReady
            ))
        }
        queue.addOperation(operation)
        try seen.wait(count: 1, "the completion block")
        #expect(seen.events[0] == (true, false, false, true))
      }
    }
  }

  @Test("row 10.1: exactly once however many operations finish together", arguments: allBackends)
  func completionRunsOnce(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operations = (0..<500).map { _ in CountingOperation() }
      queue.addOperations(operations, waitUntilFinished: false)
      for operation in operations.shuffled().prefix(100) { operation.cancel() }
      try queue.drainInTime()
      for operation in operations { try operation.completions.wait(for: 1, "a completion block") }
      giveOthersAChance()
      #expect(operations.allSatisfy { $0.completions.value == 1 })
    }
  }

  @Test("row 10.4: also for operations cancelled before, during and outside a queue", arguments: allBackends)
  func completionOfCancelledOperations(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let before = CountingOperation()
      before.cancel()
      let during = CountingOperation { $0.cancel() }
      let outside = CountingOperation()
      outside.cancel()
      queue.addOperations([before, during], waitUntilFinished: false)
      try backend.onWorker { outside.start() }
      for operation in [before, during, outside] {
        try operation.completions.wait(for: 1, "the completion block of a cancelled operation")
      }
    }
  }

  @Test("row 10.7: then cleared", arguments: allBackends)
  func completionIsCleared(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operations = [BlockOperation {}, AsynchronousOperation { $0.finish() }, Operation()]
      let ran = CountdownLatch(operations.count)
      for operation in operations { operation.completionBlock = { ran.countDown() } }
      #expect(operations.allSatisfy { $0.completionBlock != nil })
      queue.addOperations(operations, waitUntilFinished: false)
      try ran.wait("the completion blocks")
      for operation in operations { try eventually("the block to be cleared") { operation.completionBlock == nil } }
    }
  }

  @Test("row 10: the block set last is the one that runs; it may be set from inside main()", arguments: allBackends)
  func completionSetLate(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let log = EventLog<String>()
      let replaced = BlockOperation {}
      replaced.completionBlock = { log.append("first") }
      replaced.completionBlock = { log.append("second") }
      let inside = CountingOperation { $0.completionBlock = { log.append("inside") } }
      let removed = BlockOperation {}
      removed.completionBlock = { log.append("removed") }
      removed.completionBlock = nil
      queue.addOperations([replaced, inside, removed], waitUntilFinished: false)
      try log.wait(count: 2, "the completion blocks")
      giveOthersAChance()
      #expect(Set(log.events) == ["second", "inside"])
    }
  }

  @Test(
    "row 10.6: finish() of an asynchronous operation may be called with a lock held that the block takes",
    arguments: allBackends)
  func finishUnderALock(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<100 {
        let lock = UserLock()
        let completed = Gate()
        let started = Gate()
        let operation = AsynchronousOperation { _ in started.open() }
        operation.completionBlock = {
          lock.withLock {}
          completed.open()
        }
        queue.addOperation(operation)
        try started.wait("the asynchronous operation to start")
        lock.withLock { operation.finish() }
        try completed.wait("the completion block")
        #expect(lock.reentries == 0)
      }
    }
  }

  @Test("row 10.6: finish() under a lock, called on a worker thread inside another operation", arguments: allBackends)
  func finishUnderALockOnAWorker(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let lock = UserLock()
      let served = CountdownLatch(2)
      let started = Gate()
      let operation = AsynchronousOperation { _ in started.open() }
      operation.completionBlock = {
        lock.withLock {}
        served.countDown()
      }
      let dependent = BlockOperation {
        lock.withLock {}
        served.countDown()
      }
      dependent.addDependency(operation)
      queue.addOperations([operation, dependent], waitUntilFinished: false)
      try started.wait("the asynchronous operation to start")
      queue.addOperation { lock.withLock { operation.finish() } }
      try served.wait("the completion block and the dependent")
      #expect(lock.reentries == 0)
    }
  }

  @Test("row 10: an asynchronous operation in no queue completes as well", arguments: allBackends)
  func finishOutsideAQueue(backend: TestBackend) throws {
    let completed = Gate()
    let lock = UserLock()
    let operation = AsynchronousOperation { _ in }
    operation.completionBlock = {
      lock.withLock {}
      completed.open()
    }
    try backend.onWorker {
      operation.start()
      lock.withLock { operation.finish() }
    }
    try completed.wait("the completion block")
    #expect(lock.reentries == 0)
  }

  @Test("row 10: the block may add operations, wait for others and start the next one", arguments: allBackends)
  func completionUsesTheQueue(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let done = CountdownLatch(50)
      for _ in 0..<50 {
        let operation = BlockOperation {}
        operation.completionBlock = {
          let next = BlockOperation {}
          queue.addOperation(next)
          next.waitUntilFinished()
          done.countDown()
        }
        queue.addOperation(operation)
      }
      try done.wait("completion blocks that wait for an operation of a queue with one worker")
    }
  }

  @Test("row 10: a block that blocks does not hold up the queue", arguments: allBackends)
  func blockedCompletion(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let release = Gate()
      let inBlock = Gate()
      let operation = BlockOperation {}
      operation.completionBlock = {
        inBlock.open()
        release.pass()
      }
      queue.addOperation(operation)
      try inBlock.wait("the completion block")
      let next = CountingOperation()
      queue.addOperation(next)
      try queue.drainInTime()
      #expect(next.mains.value == 1)
      release.open()
    }
  }

  @Test("row 11: waitUntilFinished does not wait for the completion block", arguments: allBackends)
  func waitersDoNotWaitForTheBlock(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let release = Gate()
      let operation = BlockOperation {}
      operation.completionBlock = { release.pass() }
      queue.addOperation(operation)
      try operation.finishInTime("the operation whose completion block is blocked")
      #expect(!release.isOpen)
      release.open()
    }
  }

  @Test("row 11: waitUntilFinished from the completion block of the operation and of others", arguments: allBackends)
  func waitInsideTheBlock(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let done = Gate()
      let other = GatedOperation()
      let operation = BlockOperation {}
      operation.completionBlock = {
        operation.waitUntilFinished()
        other.waitUntilFinished()
        if other.isFinished { done.open() }
      }
      queue.addOperations([other, operation], waitUntilFinished: false)
      try operation.finishInTime()
      try other.started.wait("the other operation to start")
      #expect(!done.isOpen)
      other.release.open()
      try done.wait("the completion block that waits")
    }
  }

  @Test("row 11: waitUntilFinished from many threads", arguments: allBackends)
  func manyWaiters(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<10 {
        let operation = GatedOperation()
        let waiting = Rendezvous(33)
        let woken = CountdownLatch(32)
        for _ in 0..<32 {
          startThread {
            waiting.arrive()
            operation.waitUntilFinished()
            if operation.isFinished { woken.countDown() }
          }
        }
        waiting.arrive()
        queue.addOperation(operation)
        operation.release.open()
        try woken.wait("32 waiting threads")
      }
    }
  }

  @Test("row 11: a waiter that begins before the operation is added anywhere", arguments: allBackends)
  func waitBeforeAdding(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = BlockOperation {}
      let waiting = Gate()
      let woken = Gate()
      startThread {
        waiting.open()
        operation.waitUntilFinished()
        woken.open()
      }
      try waiting.wait("the waiter")
      giveOthersAChance()
      #expect(!woken.isOpen)
      queue.addOperation(operation)
      try woken.wait("the waiter to be woken")
    }
  }
}
