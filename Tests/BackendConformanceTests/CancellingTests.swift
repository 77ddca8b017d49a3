import Operations
import TestSupport
import Testing

/// Rows 5 to 9: cancelling one operation.
@Suite("Cancelling")
struct CancellingTests {
  @Test("row 05: cancel() after finish has no effect", arguments: allBackends)
  func cancelAfterFinish(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = CountingOperation()
      queue.addOperation(operation)
      try operation.finishInTime()
      operation.cancel()
      #expect(operation.isFinished && !operation.isCancelled)
      let manual = BlockOperation {}
      manual.start()
      manual.cancel()
      #expect(!manual.isCancelled)
    }
  }

  @Test("row 05: cancel() never runs operation code synchronously", arguments: allBackends)
  func cancelRunsNothingOnTheCaller(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<50 {
        let lock = UserLock()
        let never = Operation()
        let ran = CountdownLatch(3)
        let operation = CountingOperation()
        operation.addDependency(never)
        operation.completionBlock = {
          lock.withLock {}
          ran.countDown()
        }
        let dependent = BlockOperation {
          lock.withLock {}
          ran.countDown()
        }
        dependent.addDependency(operation)
        dependent.completionBlock = {
          lock.withLock {}
          ran.countDown()
        }
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        lock.withLock { operation.cancel() }
        try ran.wait("what the cancelled operation released")
        #expect(lock.reentries == 0)
      }
    }
  }

  @Test(
    "row 05: cancel() twice, and from inside main(), of a dependent and of the operation itself",
    arguments: allBackends)
  func cancelFromInside(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let dependent = CountingOperation()
      let operation = CountingOperation {
        $0.cancel()
        $0.cancel()
        dependent.cancel()
      }
      dependent.addDependency(operation)
      queue.addOperations([operation, dependent], waitUntilFinished: false)
      try queue.drainInTime()
      #expect(operation.isCancelled && operation.isFinished && operation.mains.value == 1)
      #expect(dependent.isCancelled && dependent.isFinished && dependent.mains.value == 0)
      try dependent.completions.wait(for: 1, "the completion block of the dependent")
    }
  }

  @Test("row 06: cancel() on an operation in no queue does not finish it", arguments: allBackends)
  func cancelOutsideAQueue(backend: TestBackend) throws {
    let operation = CountingOperation()
    operation.cancel()
    giveOthersAChance()
    #expect(operation.isCancelled && !operation.isFinished && !operation.isExecuting)
    #expect(operation.completions.value == 0)
    try backend.onWorker { operation.start() }
    #expect(operation.isFinished && operation.mains.value == 0)
  }

  @Test("row 06: a cancelled operation added to a queue is started and finishes without main()", arguments: allBackends)
  func cancelThenAdd(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let never = Operation()
      let operation = CountingOperation()
      operation.addDependency(never)
      operation.cancel()
      queue.addOperation(operation)
      try queue.drainInTime()
      #expect(operation.isFinished && operation.starts.value == 1 && operation.mains.value == 0)
      try operation.completions.wait(for: 1, "the completion block")
    }
  }

  @Test("row 07: cancel with unfinished dependencies: ready, started, finished without main()", arguments: allBackends)
  func cancelWithDependencies(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let never = Operation()
      let operation = CountingOperation()
      let dependent = CountingOperation()
      operation.addDependency(never)
      dependent.addDependency(operation)
      queue.addOperations([operation, dependent], waitUntilFinished: false)
      #expect(!operation.isReady)
      giveOthersAChance()
      #expect(operation.starts.value == 0)
      operation.cancel()
      try queue.drainInTime()
      #expect(operation.isReady && operation.isFinished)
      #expect(operation.starts.value == 1 && operation.mains.value == 0)
      #expect(dependent.mains.value == 1 && !dependent.isCancelled)
      #expect(!never.isFinished)
      #expect(queue.operations.isEmpty)
      try operation.completions.wait(for: 1, "the completion block")
    }
  }

  @Test("row 07: cancel with one of many dependencies finished, then the others finish", arguments: allBackends)
  func dependenciesFinishAfterTheCancelledOperation(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let dependencies = (0..<10).map { _ in Operation() }
      let operation = CountingOperation()
      dependencies.forEach(operation.addDependency)
      queue.addOperation(operation)
      dependencies[3].start()
      operation.cancel()
      try operation.finishInTime()
      queue.addOperations(dependencies.filter { !$0.isFinished }, waitUntilFinished: false)
      try queue.drainInTime()
      #expect(operation.starts.value == 1 && operation.mains.value == 0)
      try operation.completions.wait(for: 1, "the completion block")
      giveOthersAChance()
      #expect(operation.completions.value == 1)
    }
  }

  @Test("row 07: cancel() against the last dependency finishing", arguments: allBackends)
  func cancelRacesWithDependency(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<200 {
        let dependency = Operation()
        let operation = CountingOperation()
        let dependent = CountingOperation()
        operation.addDependency(dependency)
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        try race("a cancel and a finish", { operation.cancel() }, { dependency.start() })
        try queue.drainInTime()
        #expect(operation.starts.value == 1 && operation.mains.value <= 1)
        #expect(dependent.mains.value == 1)
        try operation.completions.wait(for: 1, "the completion block")
        #expect(operation.completions.value == 1)
      }
    }
  }

  @Test("row 07: many threads cancel the same operation", arguments: allBackends)
  func cancelFromManyThreads(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<50 {
        let operation = CountingOperation()
        operation.addDependency(Operation())
        queue.addOperation(operation)
        try onThreads(4, "four cancels") { _ in operation.cancel() }
        try operation.finishInTime()
        try operation.completions.wait(for: 1, "the completion block")
        #expect(operation.starts.value == 1 && operation.completions.value == 1)
      }
    }
  }

  @Test("row 08: cancel() while executing sets the flag only", arguments: allBackends)
  func cancelWhileExecuting(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = GatedOperation()
      queue.addOperation(operation)
      try operation.started.wait("the operation to start")
      operation.cancel()
      #expect(operation.isCancelled && operation.isExecuting && !operation.isFinished)
      #expect(queue.operations == [operation])
      giveOthersAChance()
      #expect(operation.isExecuting)
      operation.release.open()
      try operation.finishInTime()
      #expect(operation.isCancelled && !operation.isExecuting)
    }
  }

  @Test("row 08: main() sees the flag and may end early", arguments: allBackends)
  func mainLooksAtTheFlag(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let started = Gate()
      let sawFlag = Gate()
      let operation = CountingOperation { operation in
        started.open()
        if (try? eventually("the flag", { operation.isCancelled })) != nil { sawFlag.open() }
      }
      queue.addOperation(operation)
      try started.wait("the operation to start")
      operation.cancel()
      try sawFlag.wait("main() to see the flag")
      try queue.drainInTime()
    }
  }

  @Test("row 09: dependents of a cancelled operation run normally", arguments: allBackends)
  func dependentsOfACancelledOperation(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let chain = (0..<20).map { _ in CountingOperation() }
      for (earlier, later) in zip(chain, chain.dropFirst()) { later.addDependency(earlier) }
      queue.addOperations(chain, waitUntilFinished: false)
      chain[0].cancel()
      chain[10].cancel()
      queue.isSuspended = false
      try queue.drainInTime()
      for (index, operation) in chain.enumerated() {
        let isCancelled = index == 0 || index == 10
        #expect(operation.isCancelled == isCancelled)
        #expect(operation.mains.value == (isCancelled ? 0 : 1))
      }
    }
  }
}
