import Operations
import TestSupport
import Testing

/// Rows 39 and 52: `operations` and `operationCount`, and what distinguishes operations.
@Suite("Listing")
struct ListingTests {
  @Test("row 39: a snapshot in add order of what has not finished", arguments: allBackends, [1, -1])
  func addOrder(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      #expect(queue.operations == [] && queue.operationCount == 0)
      let running = GatedOperation()
      queue.addOperation(running)
      try running.started.wait("the first operation")
      let waiting = (0..<50).map { index in
        let operation = Operation()
        operation.queuePriority = index.isMultiple(of: 2) ? .veryHigh : .low
        operation.addDependency(running)
        return operation
      }
      for operation in waiting { queue.addOperation(operation) }
      #expect(queue.operations == [running] + waiting)
      #expect(queue.operationCount == 51)
      waiting[20].cancel()
      try waiting[20].finishIfNotHeld(by: limit)
      let snapshot = queue.operations
      running.release.open()
      try queue.drainInTime()
      #expect(queue.operations == [] && queue.operationCount == 0)
      #expect(snapshot.filter { $0 !== waiting[20] } == [running] + waiting.filter { $0 !== waiting[20] })
    }
  }

  @Test("row 39: an operation is listed while it runs and gone when it has finished", arguments: allBackends)
  func insideAndAfter(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let insideCount = EventLog<Bool>()
      let operation = CountingOperation { insideCount.append(queue.operations.contains($0)) }
      queue.addOperation(operation)
      try operation.finishInTime()
      try eventually("the operation to leave the list") { queue.operations.isEmpty && queue.operationCount == 0 }
      #expect(insideCount.events == [true])
    }
  }

  @Test("row 39: a snapshot under load: in add order, no duplicates, each one alive", arguments: allBackends)
  func underLoad(backend: TestBackend) throws {
    final class Numbered: Operation, @unchecked Sendable {
      let number: Int
      init(_ number: Int) { self.number = number }
    }
    try backend.withQueue { queue in
      for limit in [-1, 2] {
        queue.maxConcurrentOperationCount = limit
        let unsorted = Counter()
        let stop = Gate()
        let watchersEnded = CountdownLatch(2)
        for _ in 0..<2 {
          startThread {
            while !stop.isOpen {
              let numbers = queue.operations.map { ($0 as? Numbered)?.number ?? -1 }
              if zip(numbers, numbers.dropFirst()).contains(where: { $0 >= $1 }) { unsorted.increment() }
              if queue.operationCount < 0 { unsorted.increment() }
            }
            watchersEnded.countDown()
          }
        }
        for number in 0..<5_000 { queue.addOperation(Numbered(number)) }
        try queue.drainInTime()
        stop.open()
        try watchersEnded.wait("the watching threads")
        #expect(unsorted.value == 0)
        #expect(queue.operationCount == 0 && queue.operations.isEmpty)
      }
    }
  }

  @Test("row 39: the count is exact while nothing can finish, whoever adds", arguments: allBackends)
  func exactCount(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      try onThreads(4, "four threads that add") { _ in
        for index in 0..<250 {
          if index.isMultiple(of: 2) { queue.addOperation(Operation()) } else { queue.addOperation {} }
        }
      }
      #expect(queue.operationCount == 1_000)
      #expect(Set(queue.operations).count == 1_000)
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(queue.operationCount == 0)
    }
  }

  @Test("row 39: what was added by one thread is listed before the call returns", arguments: allBackends)
  func listedOnReturn(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let missing = Counter()
      try onThreads(3, "three threads that add and look") { _ in
        for _ in 0..<200 {
          let operation = Operation()
          queue.addOperation(operation)
          if !queue.operations.contains(operation) && !operation.isFinished { missing.increment() }
        }
      }
      try queue.drainInTime()
      #expect(missing.value == 0)
    }
  }

  @Test("row 52: names and descriptions of operations and queues", arguments: allBackends)
  func names(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = BlockOperation {}
      #expect(operation.name == nil)
      operation.name = "thumbnail 7"
      #expect(operation.name == "thumbnail 7")
      #expect(String(describing: operation).contains("thumbnail 7"))
      #expect(String(describing: operation).contains("BlockOperation"))
      queue.name = "thumbnails"
      #expect(queue.name == "thumbnails")
      #expect(queue.backend.name == backend.name)
      operation.name = nil
      #expect(operation.name == nil)
    }
  }

  @Test("row 52: operations and queues are equal to themselves only", arguments: allBackends)
  func identity(backend: TestBackend) throws {
    try backend.withQueues { first, second in
      let (operation, another) = (Operation(), Operation())
      #expect(operation == operation && operation != another)
      #expect(Set([operation, another, operation]).count == 2)
      #expect(first == first && first != second)
      #expect(Set([first, second, first]).count == 2)
    }
  }
}

extension Operation {
  /// A cancelled operation of a serial queue waits for its place; otherwise it finishes at once.
  fileprivate func finishIfNotHeld(by limit: Int) throws {
    if limit == -1 { try finishInTime("the cancelled operation") }
  }
}
