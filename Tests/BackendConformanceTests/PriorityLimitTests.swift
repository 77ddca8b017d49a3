import Operations
import TestSupport
import Testing

/// Row 68: `limits`.
@Suite("Limits by priority")
struct PriorityLimitTests {
  /// Goes on until `finish()`, and so holds its place without a thread.
  private func holder(_ priority: Operation.QueuePriority) -> AsynchronousOperation {
    let operation = AsynchronousOperation { _ in }
    operation.queuePriority = priority
    return operation
  }

  private func holders(_ count: Int, _ priority: Operation.QueuePriority) -> [AsynchronousOperation] {
    (0..<count).map { _ in holder(priority) }
  }

  private func executing(_ operations: [Operation]) -> Int { operations.count { $0.isExecuting } }

  /// Waits until `count` of the operations run, and looks once more after a while.
  private func expectExecuting(
    _ count: Int, of operations: [Operation], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try eventually("\(count) to run") { executing(operations) == count }
    giveOthersAChance()
    #expect(executing(operations) == count, sourceLocation: sourceLocation)
  }

  private func finish(_ operations: [AsynchronousOperation], in queue: OperationQueue) throws {
    queue.limits = PriorityLimits()
    queue.maxConcurrentOperationCount = -1
    try eventually("all to run") { operations.allSatisfy { $0.isExecuting || $0.isFinished } }
    for operation in operations where !operation.isFinished { operation.finish() }
    try queue.drainInTime()
  }

  @Test("row 68.1: there are none at first, and each is kept", arguments: allBackends)
  func settings(backend: TestBackend) throws {
    try backend.withQueue { queue in
      #expect(queue.limits.isEmpty && queue.limits == PriorityLimits())
      queue.limits[below: .normal] = 3
      queue.limits[below: .veryHigh] = 5
      #expect(queue.limits[below: .normal] == 3 && queue.limits[below: .veryHigh] == 5)
      #expect(queue.limits[below: .high] == nil && queue.limits[below: .veryLow] == nil && !queue.limits.isEmpty)
      queue.limits[below: .normal] = nil
      queue.limits[below: .veryHigh] = nil
      #expect(queue.limits.isEmpty)
    }
  }

  @Test("row 68.1: never more than n below a priority at a time", arguments: allBackends, [1, 2, 3])
  func neverMore(backend: TestBackend, limit: Int) throws {
    try backend.withQueue(workers: 4) { queue in
      queue.maxConcurrentOperationCount = 4
      queue.limits[below: .normal] = limit
      queue.limits[below: .veryHigh] = 3
      let (below, most, all) = (ConcurrencyMeter(), ConcurrencyMeter(), ConcurrencyMeter())
      for index in 0..<600 {
        let priority = Operation.QueuePriority.allCases[index % 5]
        let operation = BlockOperation {
          all.enter()
          if priority != .veryHigh { most.enter() }
          if priority.rawValue < 0 { below.enter() }
          for _ in 0..<index % 100 { _ = currentThread() }
          if priority.rawValue < 0 { below.leave() }
          if priority != .veryHigh { most.leave() }
          all.leave()
        }
        operation.queuePriority = priority
        if index % 7 == 0 { operation.cancel() }
        queue.addOperation(operation)
      }
      try queue.drainInTime()
      #expect(all.maximum <= 4 && most.maximum <= 3 && below.maximum <= limit)
      #expect(all.total == 600 - 86)
    }
  }

  @Test("row 68.1: places are left for what is more urgent", arguments: allBackends)
  func placesAreLeft(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 3
      queue.limits[below: .normal] = 1
      let low = holders(4, .low)
      queue.addOperations(low, waitUntilFinished: false)
      try expectExecuting(1, of: low)
      let normal = holders(3, .normal)
      queue.addOperations(normal, waitUntilFinished: false)
      try expectExecuting(2, of: normal)
      #expect(executing(low) == 1)
      // A place comes free that is not for what is below.
      let first = try #require(normal.first { $0.isExecuting })
      first.finish()
      try expectExecuting(2, of: normal)
      try #require(low.first { $0.isExecuting }).finish()
      try expectExecuting(1, of: low)
      try finish(low + normal, in: queue)
    }
  }

  @Test("row 68.1: without a limit for all, the limit below holds alone", arguments: allBackends)
  func alone(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.limits[below: .high] = 2
      let (normal, high) = (holders(5, .normal), holders(5, .high))
      queue.addOperations(normal + high, waitUntilFinished: false)
      try expectExecuting(2, of: normal)
      try expectExecuting(5, of: high)
      try finish(normal + high, in: queue)
    }
  }

  @Test(
    "row 68.2: the priority counts as it is now, while an operation runs and while it waits", arguments: allBackends)
  func currentPriority(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.limits[below: .normal] = 1
      let low = holders(3, .low)
      queue.addOperations(low, waitUntilFinished: false)
      try expectExecuting(1, of: low)
      // One that runs becomes urgent, and leaves its place below to the next.
      try #require(low.first { $0.isExecuting }).queuePriority = .high
      try expectExecuting(2, of: low)
      // One that waits becomes urgent.
      try #require(low.first { !$0.isExecuting }).queuePriority = .normal
      try expectExecuting(3, of: low)
      // One that runs becomes less urgent: it goes on, and then no other one starts beside those below.
      for operation in low { operation.queuePriority = .veryLow }
      let later = holders(1, .veryLow)
      queue.addOperations(later, waitUntilFinished: false)
      for operation in low.dropFirst() { operation.finish() }
      try expectExecuting(0, of: later)
      low[0].finish()
      try expectExecuting(1, of: later)
      try finish(low + later, in: queue)
    }
  }

  @Test("row 68.2: a quality of service counts as the priority that it stands for", arguments: allBackends)
  func qualityOfService(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.limits[below: .normal] = 1
      let background = (0..<3).map { _ in
        let operation = AsynchronousOperation { _ in }
        operation.qualityOfService = .background
        return operation
      }
      queue.addOperations(background, waitUntilFinished: false)
      try expectExecuting(1, of: background)
      try finish(background, in: queue)
    }
  }

  @Test("row 68.3: limits that come late count what runs, and stop nothing", arguments: allBackends)
  func late(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let low = holders(3, .low)
      queue.addOperations(low, waitUntilFinished: false)
      try expectExecuting(3, of: low)
      queue.limits[below: .normal] = 2
      let later = holders(2, .low)
      queue.addOperations(later, waitUntilFinished: false)
      low[0].finish()
      try expectExecuting(0, of: later)
      low[1].finish()
      try expectExecuting(1, of: later)
      #expect(executing(low) == 1)
      queue.limits[below: .normal] = 3
      try expectExecuting(2, of: later)
      try finish(low + later, in: queue)
    }
  }

  @Test("row 68.3: 0 starts nothing below, a barrier is not held up, and nil resumes", arguments: allBackends)
  func zero(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.limits[below: .normal] = 0
      let (low, normal) = (CountingOperation(), CountingOperation())
      low.queuePriority = .low
      queue.addOperations([low, normal], waitUntilFinished: false)
      try normal.finishInTime("the operation that no limit is for")
      giveOthersAChance()
      #expect(low.starts.value == 0)
      queue.limits[below: .normal] = nil
      try queue.drainInTime("the queue to drain after the limit was taken away")
      queue.limits[below: .veryHigh] = 0
      let ran = Counter()
      queue.addBarrierBlock { ran.increment() }
      try queue.drainInTime("the barrier")
      #expect(ran.value == 1 && low.mains.value == 1)
    }
  }

  @Test("row 68.3: whoever waits is told which limit it waits for", arguments: allBackends)
  func diagnosis(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.limits[below: .normal] = 1
      queue.limits[below: .veryHigh] = 4
      let low = holders(2, .low)
      low[0].name = "holder"
      queue.addOperation(low[0])
      try eventually("the holder to run") { low[0].isExecuting }
      queue.addOperation(low[1])
      giveOthersAChance()
      let reasons = low[1].whyNotStarted().reasons
      guard case .limitBelowReached(let priority, let limit, let holders) = reasons.first, reasons.count == 1 else {
        Issue.record("\(reasons)")
        return try finish(low, in: queue)
      }
      #expect(priority == .normal && limit == 1 && holders.count == 1)
      let text = low[1].whyNotStarted().description
      #expect(text.contains("its queue's limit below normal is 1, and held by:") && text.contains("holder"), "\(text)")
      queue.limits[below: .normal] = 0
      #expect(low[1].whyNotStarted().description.contains("is 0: nothing of a lower priority starts"))
      try finish(low, in: queue)
    }
  }

  @Test(
    "row 68.2: limits, priorities and cancelling change while the queue drains: each operation runs at most once",
    arguments: allBackends, [1, 2] as [UInt64])
  func changing(backend: TestBackend, seed: UInt64) throws {
    try backend.withQueue(workers: 3) { queue in
      let operations = (0..<1_500).map { index in
        let operation = CountingOperation()
        operation.queuePriority = Operation.QueuePriority.allCases[index % 5]
        return operation
      }
      for index in stride(from: 10, to: 1_500, by: 10) { operations[index].addDependency(operations[index - 7]) }
      try race(
        "adding, and changing limits and priorities",
        { for operation in operations { queue.addOperation(operation) } },
        {
          var random = SeededGenerator(seed: seed)
          for _ in 0..<400 {
            var limits = PriorityLimits()
            limits[below: [.low, .normal, .high].randomElement(using: &random) ?? .low] = Int.random(
              in: 0...2, using: &random)
            queue.limits = limits
            if Bool.random(using: &random) { queue.limits = PriorityLimits() }
          }
        },
        {
          var random = SeededGenerator(seed: seed + 100)
          for _ in 0..<2_000 {
            let operation = operations[Int.random(in: 0..<1_500, using: &random)]
            operation.queuePriority = Operation.QueuePriority.allCases[Int.random(in: 0..<5, using: &random)]
            if Int.random(in: 0..<20, using: &random) == 0 { operation.cancel() }
          }
        })
      queue.limits = PriorityLimits()
      queue.limits[below: .veryHigh] = 1
      try queue.drainInTime()
      #expect(operations.allSatisfy { $0.isFinished && $0.starts.value <= 1 })
      #expect(operations.allSatisfy { $0.mains.value == 1 || $0.isCancelled })
      // The books are right: one at a time still.
      let meter = ConcurrencyMeter()
      for _ in 0..<100 { queue.addOperation { meter.measure {} } }
      try queue.drainInTime()
      #expect(meter.maximum == 1 && meter.total == 100)
    }
  }
}
