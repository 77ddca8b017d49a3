import Operations
import TestSupport
import Testing

/// Row 25: `maxConcurrentOperationCount`.
@Suite("Concurrency limits")
struct ConcurrencyLimitTests {
  @Test("row 25: the default is -1, no limit", arguments: allBackends)
  func defaultLimit(backend: TestBackend) throws {
    try backend.withQueue { queue in
      #expect(OperationQueue.defaultMaxConcurrentOperationCount == -1)
      #expect(queue.maxConcurrentOperationCount == -1)
      queue.maxConcurrentOperationCount = 3
      #expect(queue.maxConcurrentOperationCount == 3)
      queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
      #expect(queue.maxConcurrentOperationCount == -1)
    }
  }

  @Test("row 25: never more than n at a time", arguments: allBackends, [1, 2, 3, 5])
  func neverMore(backend: TestBackend, limit: Int) throws {
    try backend.withQueue(workers: 4) { queue in
      queue.maxConcurrentOperationCount = limit
      let meter = ConcurrencyMeter()
      for index in 0..<400 {
        queue.addOperation {
          meter.measure { for _ in 0..<index % 100 { _ = currentThread() } }
        }
      }
      try queue.drainInTime()
      #expect(meter.total == 400)
      #expect(meter.maximum <= limit)
    }
  }

  @Test("row 25: never more than n of a graph with cancelled and asynchronous members", arguments: allBackends)
  func neverMoreOfAGraph(backend: TestBackend) throws {
    try backend.withQueue(workers: 4) { queue in
      queue.maxConcurrentOperationCount = 2
      let meter = ConcurrencyMeter()
      var operations: [Operation] = []
      for index in 0..<400 {
        let operation: Operation
        if index.isMultiple(of: 3) {
          operation = AsynchronousOperation { operation in
            meter.enter()
            startThread {
              meter.leave()
              operation.finish()
            }
          }
        } else {
          operation = BlockOperation { meter.measure {} }
        }
        if index > 4, index % 5 < 3 { operation.addDependency(operations[index - 3]) }
        operations.append(operation)
      }
      queue.addOperations(operations, waitUntilFinished: false)
      for index in stride(from: 0, to: 400, by: 7) { operations[index].cancel() }
      try queue.drainInTime()
      #expect(meter.maximum <= 2)
      #expect(operations.allSatisfy { $0.isFinished })
    }
  }

  @Test("row 25: an asynchronous operation holds its place until it finishes", arguments: allBackends)
  func asynchronousHoldsItsPlace(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let started = Gate()
      let ready = AsynchronousOperation { _ in started.open() }
      let byHand = StringKeyedOperation { _ in }
      let last = CountingOperation()
      queue.addOperations([ready, byHand, last], waitUntilFinished: false)
      try started.wait("the asynchronous operation")
      giveOthersAChance()
      #expect(ready.isExecuting && !byHand.isExecuting && last.starts.value == 0)
      ready.finish()
      try eventually("the second to start") { byHand.isExecuting }
      giveOthersAChance()
      #expect(last.starts.value == 0)
      byHand.finish()
      try queue.drainInTime()
      #expect(last.mains.value == 1)
    }
  }

  @Test(
    "row 25: Foundation: n blocking bodies run n at a time on two workers",
    arguments: compensatingBackends, [3, 24, 100])
  func blockingBodiesRunTogether(backend: TestBackend, count: Int) throws {
    try backend.withQueue(workers: 2) { queue in
      queue.maxConcurrentOperationCount = count
      let rendezvous = Rendezvous(count)
      let met = Counter()
      for _ in 0..<count * 2 {
        queue.addOperation { if rendezvous.arrive() { met.increment() } }
      }
      try queue.drainInTime("\(count) bodies that wait for one another", seconds: 2 * patience)
      #expect(met.value == count * 2)
    }
  }

  @Test(
    "row 25: Foundation: n blocking bodies added as one batch run n at a time on two workers",
    arguments: compensatingBackends, [24, -1])
  func blockingBatchRunsTogether(backend: TestBackend, limit: Int) throws {
    try backend.withQueue(workers: 2) { queue in
      queue.maxConcurrentOperationCount = limit
      let rendezvous = Rendezvous(24)
      let met = Counter()
      let batch = (0..<24).map { _ in BlockOperation { if rendezvous.arrive() { met.increment() } } }
      queue.addOperations(batch, waitUntilFinished: false)
      try queue.drainInTime("24 bodies that wait for one another", seconds: 2 * patience)
      #expect(met.value == 24)
    }
  }

  @Test("row 25: dependents that block and become ready together run together", arguments: compensatingBackends)
  func blockingDependentsRunTogether(backend: TestBackend) throws {
    try backend.withQueue(workers: 2) { queue in
      let rendezvous = Rendezvous(24)
      let met = Counter()
      let first = Operation()
      for _ in 0..<24 {
        let dependent = BlockOperation { if rendezvous.arrive() { met.increment() } }
        dependent.addDependency(first)
        queue.addOperation(dependent)
      }
      queue.addOperation(first)
      try queue.drainInTime("24 bodies that wait for one another", seconds: 2 * patience)
      #expect(met.value == 24)
    }
  }

  @Test("row 25: blocking bodies of a queue without a limit run together as well", arguments: compensatingBackends)
  func blockingBodiesWithoutALimit(backend: TestBackend) throws {
    try backend.withQueue(workers: 2) { queue in
      let rendezvous = Rendezvous(24)
      let met = Counter()
      for _ in 0..<24 { queue.addOperation { if rendezvous.arrive() { met.increment() } } }
      try queue.drainInTime("24 bodies that wait for one another", seconds: 2 * patience)
      #expect(met.value == 24)
    }
  }

  @Test("row 25: 0 starts nothing, raising resumes", arguments: allBackends)
  func zero(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for limit in [1, 2, -1] {
        queue.maxConcurrentOperationCount = 0
        let operations = (0..<20).map { _ in CountingOperation() }
        queue.addOperations(operations, waitUntilFinished: false)
        operations[3].cancel()
        giveOthersAChance()
        #expect(operations.allSatisfy { $0.mains.value == 0 && !$0.isExecuting })
        queue.maxConcurrentOperationCount = limit
        try queue.drainInTime("the queue to drain after the limit was raised")
        #expect(operations.filter { $0.mains.value == 1 }.count == 19)
      }
    }
  }

  @Test("row 25: raising while operations run starts more", arguments: compensatingBackends)
  func raising(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let release = Gate()
      let meter = ConcurrencyMeter()
      for _ in 0..<8 { queue.addOperation { meter.measure { release.pass() } } }
      try eventually("one to start") { meter.current == 1 }
      giveOthersAChance()
      #expect(meter.current == 1)
      queue.maxConcurrentOperationCount = 4
      try eventually("four to run") { meter.current == 4 }
      giveOthersAChance()
      #expect(meter.current == 4)
      queue.maxConcurrentOperationCount = -1
      try eventually("all to run") { meter.current == 8 }
      release.open()
      try queue.drainInTime()
    }
  }

  @Test("row 25: lowering never stops running ones, and then holds", arguments: compensatingBackends)
  func lowering(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let first = Gate()
      let rest = Gate()
      let meter = ConcurrencyMeter()
      for index in 0..<8 {
        queue.addOperation { meter.measure { (index < 4 ? first : rest).pass() } }
      }
      try eventually("all to run") { meter.current == 8 }
      queue.maxConcurrentOperationCount = 2
      let later = (0..<4).map { _ in CountingOperation() }
      queue.addOperations(later, waitUntilFinished: false)
      giveOthersAChance()
      #expect(meter.current == 8)
      first.open()
      try eventually("four to end") { meter.current == 4 }
      giveOthersAChance()
      #expect(later.allSatisfy { $0.starts.value == 0 })
      rest.open()
      try queue.drainInTime()
      #expect(later.allSatisfy { $0.mains.value == 1 })
    }
  }

  @Test("row 25: asynchronous operations started without a limit count when one is set", arguments: allBackends)
  func loweringWithAsynchronousOperations(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let running = (0..<3).map { _ in AsynchronousOperation { _ in } }
      queue.addOperations(running, waitUntilFinished: false)
      try eventually("the three to start") { running.allSatisfy(\.isExecuting) }
      queue.maxConcurrentOperationCount = 1
      let later = CountingOperation()
      queue.addOperation(later)
      for operation in running {
        giveOthersAChance()
        #expect(later.starts.value == 0)
        operation.finish()
      }
      try queue.drainInTime()
      #expect(later.mains.value == 1)
    }
  }

  @Test("row 25: the limit changes while the queue drains: each operation runs once", arguments: allBackends)
  func changing(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operations = (0..<2_000).map { _ in CountingOperation() }
      try race(
        "adding and changing the limit",
        { for operation in operations { queue.addOperation(operation) } },
        { for index in 0..<500 { queue.maxConcurrentOperationCount = [1, -1, 0, 7, 2][index % 5] } },
        { for index in 0..<500 { queue.maxConcurrentOperationCount = [2, 0, -1, 3][index % 4] } })
      queue.maxConcurrentOperationCount = 2
      try queue.drainInTime()
      #expect(operations.allSatisfy { $0.starts.value == 1 && $0.mains.value == 1 })
      let meter = ConcurrencyMeter()
      for _ in 0..<100 { queue.addOperation { meter.measure {} } }
      try queue.drainInTime()
      #expect(meter.maximum <= 2 && meter.total == 100)
    }
  }

  @Test("row 25: operations that are not ready take no place", arguments: allBackends)
  func unreadyTakeNoPlace(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let never = Operation()
      for _ in 0..<10 {
        let waiting = Operation()
        waiting.addDependency(never)
        queue.addOperation(waiting)
      }
      let ready = CountingOperation()
      queue.addOperation(ready)
      try ready.finishInTime("a ready operation behind ten that wait")
      never.start()
      try queue.drainInTime()
    }
  }
}
