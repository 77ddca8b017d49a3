import Operations
import TestSupport
import Testing

/// Row 24: a suspended queue starts nothing.
@Suite("Suspension")
struct SuspensionTests {
  /// Checks that of `operations` only those that had started when `suspend` returned ever run until `resume`.
  private func checkNothingStarts(
    of operations: [CountingOperation], afterSuspending queue: OperationQueue, meanwhile: () throws -> Void = {}
  ) throws {
    queue.isSuspended = true
    let held = operations.filter { !$0.isExecuting && !$0.isFinished }
    try meanwhile()
    let running = operations.filter { operation in !held.contains { $0 === operation } }
    for operation in running { try operation.finishInTime("an operation that had started") }
    giveOthersAChance()
    #expect(held.allSatisfy { $0.mains.value == 0 && !$0.isExecuting && !$0.isFinished })
    #expect(queue.operationCount == held.count)
    queue.isSuspended = false
    try queue.drainInTime("the queue to drain after it was resumed")
    #expect(operations.allSatisfy { $0.mains.value == 1 && $0.starts.value == 1 })
  }

  @Test("row 24: a suspended queue starts nothing, a resumed one everything", arguments: allBackends)
  func suspendThenAdd(backend: TestBackend) throws {
    try backend.withQueue { queue in
      #expect(!queue.isSuspended)
      for limit in [1, 2, -1] {
        queue.maxConcurrentOperationCount = limit
        queue.isSuspended = true
        #expect(queue.isSuspended)
        let operations = (0..<100).map { _ in CountingOperation() }
        for operation in operations.prefix(50) { queue.addOperation(operation) }
        queue.addOperations(Array(operations.suffix(50)), waitUntilFinished: false)
        giveOthersAChance()
        #expect(operations.allSatisfy { $0.starts.value == 0 && $0.isReady && !$0.isExecuting })
        #expect(queue.operationCount == 100)
        queue.isSuspended = false
        try queue.drainInTime()
        #expect(operations.allSatisfy { $0.mains.value == 1 })
      }
    }
  }

  @Test("row 24: Foundation: operations already handed to the backend stay as well", arguments: allBackends)
  func suspendWhatTheBackendHolds(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for limit in [4, -1] {
        queue.maxConcurrentOperationCount = limit
        let release = Gate()
        let started = Counter()
        let operations = (0..<40).map { _ in
          CountingOperation { _ in
            started.increment()
            release.pass()
          }
        }
        queue.addOperations(operations, waitUntilFinished: false)
        try started.wait(for: 2, "two operations to start")
        try checkNothingStarts(of: operations, afterSuspending: queue) { release.open() }
      }
    }
  }

  @Test("row 24: the moment the setter returns, under load", arguments: allBackends)
  func suspendUnderLoad(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for round in 0..<40 {
        queue.maxConcurrentOperationCount = [1, 2, -1][round % 3]
        let operations = (0..<200).map { _ in CountingOperation() }
        queue.addOperations(operations, waitUntilFinished: false)
        for _ in 0..<round * 10 { _ = currentThread() }
        try checkNothingStarts(of: operations, afterSuspending: queue)
      }
    }
  }

  @Test("row 24: dependents that become ready meanwhile stay", arguments: allBackends)
  func dependentsStay(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let first = GatedOperation()
      let dependents = (0..<20).map { _ in CountingOperation() }
      for operation in dependents { operation.addDependency(first) }
      queue.addOperation(first)
      queue.addOperations(dependents, waitUntilFinished: false)
      try first.started.wait("the first operation")
      queue.isSuspended = true
      first.release.open()
      try first.finishInTime()
      giveOthersAChance()
      #expect(dependents.allSatisfy { $0.starts.value == 0 && $0.isReady })
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(dependents.allSatisfy { $0.mains.value == 1 })
    }
  }

  @Test("row 24: executing operations go on", arguments: allBackends)
  func executingGoOn(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let running = GatedOperation()
      queue.addOperation(running)
      try running.started.wait("the operation")
      queue.isSuspended = true
      #expect(running.isExecuting)
      running.release.open()
      try running.finishInTime()
      try queue.drainInTime("an empty suspended queue")
      queue.isSuspended = false
    }
  }

  @Test("row 24: cancelled operations stay until resumed, then finish without main()", arguments: allBackends)
  func cancelledStay(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for limit in [1, -1] {
        queue.maxConcurrentOperationCount = limit
        queue.isSuspended = true
        let ready = CountingOperation()
        let waiting = CountingOperation()
        waiting.addDependency(Operation())
        let cancelledBefore = CountingOperation()
        cancelledBefore.cancel()
        let operations = [ready, waiting, cancelledBefore]
        queue.addOperations(operations, waitUntilFinished: false)
        ready.cancel()
        waiting.cancel()
        giveOthersAChance()
        #expect(operations.allSatisfy { $0.isCancelled && !$0.isFinished && $0.starts.value == 0 })
        #expect(queue.operations == operations)
        queue.isSuspended = false
        try queue.drainInTime()
        #expect(operations.allSatisfy { $0.isFinished && $0.mains.value == 0 && $0.starts.value == 1 })
        for operation in operations { try operation.completions.wait(for: 1, "the completion block") }
      }
    }
  }

  @Test("row 24: suspended from inside an operation of the queue", arguments: allBackends)
  func suspendFromInside(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let first = CountingOperation { _ in queue.isSuspended = true }
      let second = CountingOperation()
      queue.addOperations([first, second], waitUntilFinished: false)
      try first.finishInTime()
      giveOthersAChance()
      #expect(second.starts.value == 0 && queue.isSuspended)
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(second.mains.value == 1)
    }
  }

  @Test(
    "row 24: toggled by one thread while another adds and others run: each operation runs once",
    arguments: allBackends)
  func toggling(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for limit in [1, 3, -1] {
        queue.maxConcurrentOperationCount = limit
        let operations = (0..<1_000).map { _ in CountingOperation() }
        try race(
          "adding and toggling",
          { for operation in operations { queue.addOperation(operation) } },
          { for index in 0..<501 { queue.isSuspended = index.isMultiple(of: 2) } },
          { for index in 0..<501 { queue.isSuspended = !index.isMultiple(of: 2) } })
        queue.isSuspended = false
        try queue.drainInTime()
        #expect(operations.allSatisfy { $0.starts.value == 1 && $0.mains.value == 1 })
      }
    }
  }

  @Test("row 24: a waiter of a suspended queue waits until it was resumed", arguments: allBackends)
  func waitOnSuspendedQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let operation = CountingOperation()
      queue.addOperation(operation)
      let woken = Gate()
      startThread {
        queue.waitUntilAllOperationsAreFinished()
        woken.open()
      }
      giveOthersAChance()
      #expect(!woken.isOpen)
      queue.isSuspended = false
      try woken.wait("the waiter of the queue")
      #expect(operation.isFinished)
    }
  }
}
