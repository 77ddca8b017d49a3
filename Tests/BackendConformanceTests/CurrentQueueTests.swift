import OperationBackends
import TestSupport
import Testing

/// Row 30: `OperationQueue.current`.
@Suite("The current queue")
struct CurrentQueueTests {
  @Test("row 30: the queue inside an operation, of every kind", arguments: allBackends)
  func inside(backend: TestBackend) throws {
    try backend.withQueues { first, second in
      for queue in [first, second] {
        let seen = EventLog<Bool>()
        let look: @Sendable () -> Void = { seen.append(OperationQueue.current === queue) }
        queue.addOperation(look)
        queue.addBarrierBlock(look)
        let several = BlockOperation(block: look)
        several.addExecutionBlock(look)
        several.addExecutionBlock(look)
        queue.addOperations(
          [
            several, CountingOperation { _ in look() },
            AsynchronousOperation {
              look()
              $0.finish()
            },
            StringKeyedOperation {
              look()
              $0.finish()
            },
          ], waitUntilFinished: false)
        try queue.drainInTime()
        #expect(seen.events == Array(repeating: true, count: 8))
      }
    }
  }

  @Test("rows 27 and 30: in each block of an operation, on whatever thread it runs", arguments: allBackends)
  func insideEveryBlock(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<20 {
        let seen = EventLog<Bool>()
        let together = Rendezvous(2)
        let operation = BlockOperation()
        for _ in 0..<2 {
          operation.addExecutionBlock {
            // Both are held until the other has come: they cannot run on one thread.
            together.arrive()
            seen.append(OperationQueue.current === queue)
          }
        }
        queue.addOperation(operation)
        try queue.drainInTime()
        #expect(seen.events == [true, true])
      }
    }
  }

  @Test("row 30: nil on plain threads and in completion blocks", arguments: allBackends)
  func outside(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let onThread = try inTime("a plain thread") { OperationQueue.current == nil }
      #expect(onThread)
      let seen = EventLog<Bool>()
      for index in 0..<100 {
        let operation = index.isMultiple(of: 2) ? BlockOperation {} : AsynchronousOperation { $0.finish() }
        operation.completionBlock = { seen.append(OperationQueue.current == nil) }
        if index.isMultiple(of: 5) { operation.cancel() }
        queue.addOperation(operation)
      }
      try seen.wait(count: 100, "the completion blocks")
      #expect(seen.events.allSatisfy { $0 })
    }
  }

  @Test("row 30: nil when an operation is started by hand on a plain thread", arguments: allBackends)
  func startedByHand(backend: TestBackend) throws {
    let seen = EventLog<Bool>()
    try inTime("a start on a plain thread") {
      BlockOperation { seen.append(OperationQueue.current == nil) }.start()
    }
    #expect(seen.events == [true])
  }

  @Test("row 30: an operation started by hand inside another sees the outer queue", arguments: allBackends)
  func startedInside(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let seen = EventLog<Bool>()
      queue.addOperation {
        let inner = BlockOperation { seen.append(OperationQueue.current === queue) }
        inner.start()
        seen.append(OperationQueue.current === queue)
      }
      try queue.drainInTime()
      #expect(seen.events == [true, true])
    }
  }

  @Test(
    "rows 28 and 30: an awaited operation of another queue sees that queue, and the waiter its own",
    arguments: allBackends)
  func aroundAWait(backend: TestBackend) throws {
    try backend.withQueues(workers: 1) { outer, inner in
      let seen = EventLog<Bool>()
      for _ in 0..<50 {
        outer.addOperation {
          let operation = BlockOperation { seen.append(OperationQueue.current === inner) }
          inner.addOperation(operation)
          operation.waitUntilFinished()
          seen.append(OperationQueue.current === outer)
        }
      }
      try outer.drainInTime()
      #expect(seen.count == 100 && seen.events.allSatisfy { $0 })
    }
  }

  @Test("row 30: alternating queues on one worker", arguments: allBackends)
  func alternating(backend: TestBackend) throws {
    try backend.withQueues(workers: 1) { first, second in
      let wrong = Counter()
      var last: Operation?
      for index in 0..<200 {
        let queue = index.isMultiple(of: 2) ? first : second
        let operation = BlockOperation { if OperationQueue.current !== queue { wrong.increment() } }
        if let last { operation.addDependency(last) }
        queue.addOperation(operation)
        last = operation
      }
      try first.drainInTime()
      try second.drainInTime()
      #expect(wrong.value == 0)
    }
  }

  @Test("row 30: a bare job of a backend has no queue", arguments: allBackends)
  func bareJob(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let seen = EventLog<Bool>()
      for _ in 0..<20 {
        queue.addOperation {}
        queue.backend.submit(Job { seen.append(OperationQueue.current == nil) })
      }
      try seen.wait(count: 20, "the jobs")
      #expect(seen.events.allSatisfy { $0 })
      try queue.drainInTime()
    }
  }

  @Test("row 30: the queue in the forks of an asynchronous body, on every thread", arguments: allBackends)
  func inForksOfAnAsynchronousBody(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let queue = OperationQueue(backend: backend.leftRunning(workers: 3))
      @Sendable func fork(_ depth: Int) -> Bool {
        if depth == 0 { return OperationQueue.current === queue }
        let (one, other) = join({ fork(depth - 1) }, { fork(depth - 1) })
        return one && other
      }
      for _ in 1...20 {
        let isHere = try await queue.addTask { () async -> Bool in
          await Task.yield()
          return (0..<20).allSatisfy { _ in fork(6) }
        }.value
        #expect(isHere)
      }
    }
  }
}
