import Operations
import TestSupport
import Testing

/// Row 27: several blocks in one `BlockOperation`.
@Suite("Execution blocks")
struct ExecutionBlockTests {
  @Test("row 27: the first block runs on the thread that called start(), the others beside it", arguments: allBackends)
  func firstOnTheCaller(backend: TestBackend) throws {
    let seen = try backend.onWorker {
      let threads = EventLog<(index: Int, thread: UInt)>()
      let together = Rendezvous(2)
      let operation = BlockOperation {
        threads.append((0, currentThread()))
        together.arrive()
      }
      operation.addExecutionBlock {
        threads.append((1, currentThread()))
        together.arrive()
      }
      operation.start()
      return (currentThread(), threads.events.sorted { $0.index < $1.index }, operation.isFinished)
    }
    #expect(seen.1.map(\.index) == [0, 1])
    #expect(seen.1[0].thread == seen.0 && seen.1[1].thread != seen.0)
    #expect(seen.2)
  }

  @Test("row 27: all blocks of an operation in a queue run at the same time", arguments: compensatingBackends)
  func allTogether(backend: TestBackend) throws {
    try backend.withQueue(workers: 2) { queue in
      let together = Rendezvous(5)
      let met = Counter()
      let operation = BlockOperation()
      for _ in 0..<5 { operation.addExecutionBlock { if together.arrive() { met.increment() } } }
      queue.addOperation(operation)
      try queue.drainInTime("five blocks that wait for one another")
      #expect(met.value == 5)
    }
  }

  @Test("row 27: finished when all have returned", arguments: allBackends, [1, 2])
  func finishedWithTheLast(backend: TestBackend, workers: Int) throws {
    try backend.withQueue(workers: workers) { queue in
      for round in 0..<100 {
        let ran = Counter()
        let operation = BlockOperation { ran.increment() }
        for _ in 0..<round % 12 { operation.addExecutionBlock { ran.increment() } }
        #expect(operation.executionBlocks.count == round % 12 + 1)
        queue.addOperation(operation)
        try operation.finishInTime()
        #expect(ran.value == round % 12 + 1)
      }
    }
  }

  @Test("row 27: not finished while one block runs, whichever", arguments: allBackends)
  func notFinishedBefore(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for slow in 0..<2 {
        let release = Gate()
        let others = CountdownLatch(1)
        let operation = BlockOperation()
        for index in 0..<2 {
          operation.addExecutionBlock {
            if index == slow { release.pass() } else { others.countDown() }
          }
        }
        queue.addOperation(operation)
        try others.wait("the other block")
        giveOthersAChance()
        #expect(!operation.isFinished && operation.isExecuting)
        release.open()
        try operation.finishInTime()
      }
    }
  }

  @Test("row 27: many operations with many blocks on one worker", arguments: allBackends)
  func manyOnOneWorker(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let ran = Counter()
      let operations = (0..<100).map { _ in
        let operation = BlockOperation()
        for _ in 0..<10 { operation.addExecutionBlock { ran.increment() } }
        return operation
      }
      queue.addOperations(operations, waitUntilFinished: false)
      try queue.drainInTime(seconds: 2 * patience)
      #expect(ran.value == 1_000)
    }
  }

  @Test("row 27: the limit of the queue counts operations, not blocks", arguments: allBackends)
  func limitCountsOperations(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let together = Rendezvous(2)
      let met = Counter()
      let operation = BlockOperation()
      for _ in 0..<2 { operation.addExecutionBlock { if together.arrive() { met.increment() } } }
      queue.addOperation(operation)
      try queue.drainInTime("two blocks of one operation of a serial queue")
      #expect(met.value == 2)
    }
  }

  @Test("row 27: blocks may be added until the operation starts", arguments: allBackends)
  func addedWhilePending(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let ran = Counter()
      let operation = BlockOperation()
      queue.addOperation(operation)
      for _ in 0..<3 { operation.addExecutionBlock { ran.increment() } }
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(ran.value == 3)
    }
  }

  @Test("row 27: an operation without blocks finishes; a cancelled one runs none", arguments: allBackends)
  func noneAndCancelled(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let empty = BlockOperation()
      #expect(empty.executionBlocks.isEmpty)
      let ran = Counter()
      let cancelled = BlockOperation { ran.increment() }
      cancelled.addExecutionBlock { ran.increment() }
      cancelled.cancel()
      queue.addOperations([empty, cancelled], waitUntilFinished: false)
      try queue.drainInTime()
      #expect(empty.isFinished && cancelled.isFinished && ran.value == 0)
    }
  }

  @Test("rows 27 and 28: a block that waits for an operation of the same queue", arguments: allBackends)
  func blockThatWaits(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let ran = Counter()
      let operation = BlockOperation()
      for _ in 0..<4 {
        operation.addExecutionBlock {
          let inner = BlockOperation { ran.increment() }
          queue.addOperation(inner)
          inner.waitUntilFinished()
          ran.increment()
        }
      }
      queue.addOperation(operation)
      try queue.drainInTime()
      #expect(ran.value == 8)
    }
  }
}
