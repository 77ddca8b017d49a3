import Operations
import TestSupport
import Testing

/// Rows 20, 21 and 36: the order among ready operations.
@Suite("Priorities")
struct PriorityTests {
  private static let levels: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
  private static let qualities: [(QualityOfService, Operation.QueuePriority)] = [
    (.userInteractive, .veryHigh), (.userInitiated, .high), (.default, .normal), (.utility, .low),
    (.background, .veryLow),
  ]

  /// Highest first, in add order within a level.
  private func expected(_ priorities: [Operation.QueuePriority]) -> [Int] {
    priorities.indices.sorted { (-priorities[$0].rawValue, $0) < (-priorities[$1].rawValue, $1) }
  }

  private func mixed(_ count: Int) -> [Operation.QueuePriority] {
    var generator = SeededGenerator(seed: 7)
    return (0..<count).map { _ in Self.levels.randomElement(using: &generator)! }
  }

  @Test("row 20: the five levels and the default")
  func levels() {
    #expect(Self.levels.map(\.rawValue) == [-8, -4, 0, 4, 8])
    #expect(Operation().queuePriority == .normal)
  }

  @Test("rows 20.1 and 20.4: highest first, FIFO within a level, when one runs at a time", arguments: allBackends)
  func orderOfASuspendedQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<Int>()
      let priorities = mixed(500)
      for (index, priority) in priorities.enumerated() {
        let operation = BlockOperation { log.append(index) }
        operation.queuePriority = priority
        queue.addOperation(operation)
      }
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(log.events == expected(priorities))
    }
  }

  @Test(
    "rows 20.1 and 20.4: the same behind a running operation, added one by one and as a batch", arguments: allBackends)
  func orderBehindARunningOperation(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      for isBatch in [true, false] {
        let running = GatedOperation()
        queue.addOperation(running)
        try running.started.wait("the first operation")
        let log = EventLog<Int>()
        let priorities = mixed(200)
        let operations = priorities.enumerated().map { index, priority in
          let operation = BlockOperation { log.append(index) }
          operation.queuePriority = priority
          return operation
        }
        if isBatch {
          queue.addOperations(operations, waitUntilFinished: false)
        } else {
          for operation in operations { queue.addOperation(operation) }
        }
        running.release.open()
        try queue.drainInTime()
        #expect(log.events == expected(priorities))
      }
    }
  }

  @Test("rows 20.1 and 20.5: one worker and no limit: the same order", arguments: allBackends.filter(\.isOrdered))
  func orderWithOneWorker(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      queue.isSuspended = true
      let log = EventLog<Int>()
      let priorities = mixed(40)
      for (index, priority) in priorities.enumerated() {
        let operation = BlockOperation { log.append(index) }
        operation.queuePriority = priority
        queue.addOperation(operation)
      }
      queue.isSuspended = false
      try queue.drainInTime()
      // The one worker may take its first operation before the rest has been handed over: one start in flight.
      let order = expected(priorities)
      let rest = log.events.dropFirst()
      #expect(Array(rest) == order.filter { $0 != log.events.first })
    }
  }

  @Test("row 20.2: a high operation that is not ready never holds back a ready low one", arguments: allBackends)
  func unreadyHighPriority(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let never = Operation()
      let high = CountingOperation()
      high.queuePriority = .veryHigh
      high.addDependency(never)
      let low = CountingOperation()
      low.queuePriority = .veryLow
      queue.addOperations([high, low], waitUntilFinished: false)
      try low.finishInTime("the low operation behind a high one that is not ready")
      #expect(high.starts.value == 0)
      never.start()
      try queue.drainInTime()
      #expect(high.mains.value == 1)
    }
  }

  @Test("row 20: a high operation that becomes ready is next", arguments: allBackends)
  func highBecomesReady(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let log = EventLog<String>()
      let running = GatedOperation()
      let trigger = Operation()
      let high = BlockOperation { log.append("high") }
      high.queuePriority = .high
      high.addDependency(trigger)
      queue.addOperations([running, high], waitUntilFinished: false)
      for _ in 0..<3 { queue.addOperation { log.append("normal") } }
      try running.started.wait("the first operation")
      trigger.start()
      running.release.open()
      try queue.drainInTime()
      #expect(log.events == ["high", "normal", "normal", "normal"])
    }
  }

  @Test("row 20: a dependent released by a finish competes by its own priority", arguments: allBackends)
  func dependentsCompete(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<String>()
      let first = BlockOperation { log.append("first") }
      first.queuePriority = .veryHigh
      let dependents = Self.levels.filter { $0 != .normal }.map { level in
        let operation = BlockOperation { log.append("dependent \(level.rawValue)") }
        operation.queuePriority = level
        operation.addDependency(first)
        return operation
      }
      let rival = BlockOperation { log.append("rival") }
      queue.addOperations(dependents + [rival, first], waitUntilFinished: false)
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(
        log.events == ["first", "dependent 8", "dependent 4", "rival", "dependent -4", "dependent -8"])
    }
  }

  @Test("row 21: a change while pending takes effect, at the tail of the new level", arguments: allBackends)
  func changeWhilePending(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<Int>()
      let operations = (0..<10).map { index in BlockOperation { log.append(index) } }
      queue.addOperations(operations, waitUntilFinished: false)
      operations[7].queuePriority = .high
      operations[2].queuePriority = .high
      operations[0].queuePriority = .low
      operations[5].queuePriority = .veryHigh
      operations[5].queuePriority = .veryLow
      operations[1].queuePriority = .high
      operations[1].queuePriority = .normal
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(log.events == [7, 2, 3, 4, 6, 8, 9, 1, 0, 5])
    }
  }

  @Test("row 21: a change behind a running operation, and of one that waits for a dependency", arguments: allBackends)
  func changeBehindARunningOperation(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      for _ in 0..<30 {
        let log = EventLog<Int>()
        let running = GatedOperation()
        let operations = (0..<4).map { index in BlockOperation { log.append(index) } }
        operations[3].addDependency(running)
        queue.addOperations([running] + operations, waitUntilFinished: false)
        try running.started.wait("the first operation")
        operations[2].queuePriority = .high
        operations[3].queuePriority = .veryHigh
        running.queuePriority = .veryLow
        #expect(operations[2].queuePriority == .high)
        running.release.open()
        try queue.drainInTime()
        // The dependent of the operation that ended is ready when the next one is chosen.
        #expect(log.events == [3, 2, 0, 1])
      }
    }
  }

  @Test("row 21: changes from many threads while the queue drains: each operation runs once", arguments: allBackends)
  func changesRaceWithStarts(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for limit in [1, 3, -1] {
        queue.maxConcurrentOperationCount = limit
        let operations = (0..<300).map { _ in CountingOperation() }
        queue.addOperations(operations, waitUntilFinished: false)
        try onThreads(3, "three threads that change priorities") { thread in
          var generator = SeededGenerator(seed: UInt64(thread))
          for _ in 0..<600 {
            let operation = operations.randomElement(using: &generator)!
            operation.queuePriority = Self.levels.randomElement(using: &generator)!
          }
        }
        try queue.drainInTime()
        #expect(operations.allSatisfy { $0.starts.value == 1 && $0.mains.value == 1 })
        #expect(queue.operationCount == 0)
      }
    }
  }

  @Test("row 21: while an operation moves, no less urgent one takes its place", arguments: allBackends)
  func movesAtOnce(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      for round in 0..<50 {
        let log = EventLog<String>()
        let urgent = BlockOperation { log.append("urgent") }
        urgent.queuePriority = .high
        queue.isSuspended = true
        queue.addOperation(urgent)
        queue.addOperation { log.append("other") }
        let begun = Gate()
        let done = CountdownLatch(1)
        startThread {
          while !urgent.isExecuting, !urgent.isFinished {
            urgent.queuePriority = .veryHigh
            urgent.queuePriority = .high
            begun.open()
          }
          done.countDown()
        }
        try begun.wait("the thread that changes the priority")
        queue.isSuspended = false
        try queue.drainInTime()
        try done.wait("the end of that thread")
        #expect(log.events == ["urgent", "other"], "round \(round)")
      }
    }
  }

  @Test("row 21: up to a million changes of one pending operation leave one operation", arguments: allBackends)
  func manyChanges(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let operation = CountingOperation()
      queue.addOperation(operation)
      try inTime("a million changes at most", seconds: 4 * patience) {
        for index in 0..<backend.manyReady { operation.queuePriority = Self.levels[index % 5] }
      }
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(operation.starts.value == 1 && operation.queuePriority == .veryHigh)
    }
  }

  @Test("row 36: quality of service chooses the level when the priority was not set", arguments: allBackends)
  func qualityChoosesTheLevel(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<String>()
      var generator = SeededGenerator(seed: 3)
      var priorities: [Operation.QueuePriority] = []
      for index in 0..<50 {
        let (quality, level) = Self.qualities.randomElement(using: &generator)!
        let operation = BlockOperation { log.append("\(index)") }
        if index.isMultiple(of: 3) { operation.queuePriority = level } else { operation.qualityOfService = quality }
        priorities.append(level)
        queue.addOperation(operation)
      }
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(log.events == expected(priorities).map(String.init))
    }
  }

  @Test("row 36: a priority that was set wins over the quality of service", arguments: allBackends)
  func priorityWins(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<String>()
      let demoted = BlockOperation { log.append("demoted") }
      demoted.qualityOfService = .userInteractive
      demoted.queuePriority = .low
      let promoted = BlockOperation { log.append("promoted") }
      promoted.queuePriority = .high
      promoted.qualityOfService = .background
      #expect(demoted.qualityOfService == .userInteractive && promoted.qualityOfService == .background)
      queue.addOperation(demoted)
      queue.addOperation { log.append("plain") }
      queue.addOperation(promoted)
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(log.events == ["promoted", "plain", "demoted"])
    }
  }

  @Test(
    "row 20: operations that add operations do not keep one from outside waiting",
    arguments: allBackends.filter(\.isOrdered))
  func outsideBesideWorkThatFeedsItself(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      for _ in 0..<20 {
        let links = Counter()
        let (running, added) = (Gate(), SpinFlag())
        for _ in 0..<2 {
          FeedingItself(queue: queue, links: links, left: 500, holdAt: 100) {
            running.open()
            added.spin()
          }.next()
        }
        try running.wait("the work that feeds itself")
        let (before, after) = (links.value, Monitor(0))
        queue.addOperation { after.with { $0 = links.value } }
        added.set()
        try queue.drainInTime()
        #expect(links.value == 1_000)
        #expect(after.value - before <= 24)
      }
    }
  }
}

/// A body that adds itself again, `left` times in all; on the way it stops once, in `hold`.
private struct FeedingItself: Sendable {
  let queue: OperationQueue
  let links: Counter
  var left: Int
  let holdAt: Int
  let hold: @Sendable () -> Void

  func next() {
    guard left > 0 else { return }
    queue.addOperation {
      links.increment()
      if left == holdAt { hold() }
      var rest = self
      rest.left -= 1
      rest.next()
    }
  }
}
