import Operations
import TestSupport
import Testing

/// Row 49: observation instead of KVO: what operations and queues report.
@Suite("Observation")
struct ObservationTests {
  @Test("observe isFinished and isExecuting through a queue", arguments: allBackends)
  func lifecycle(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let finished = EventLog<Bool>()
      let executing = EventLog<Bool>()
      let operation = BlockOperation {}
      let tokens = [
        operation.observe(\.isFinished, options: [.new]) { _, change in finished.append(change.newValue!) },
        operation.observe(\.isExecuting, options: [.new]) { _, change in executing.append(change.newValue!) },
      ]
      queue.addOperation(operation)
      try finished.wait(count: 1, "isFinished")
      try executing.wait(count: 2, "isExecuting")
      try queue.drainInTime()
      giveOthersAChance()
      #expect(finished.events == [true])
      #expect(executing.events == [true, false])
      for token in tokens { token.invalidate() }
    }
  }

  @Test(
    "row 49.1: the handler gets the operation itself, and the property already has its new value",
    arguments: allBackends)
  func handlerSeesTheNewValue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let seen = EventLog<(same: Bool, finished: Bool)>()
      let operation = BlockOperation {}
      let token = operation.observe(\.isFinished, options: [.new]) { [unowned operation] object, _ in
        seen.append((object === operation, object.isFinished))
      }
      queue.addOperation(operation)
      try seen.wait(count: 1, "isFinished")
      #expect(seen.events[0] == (true, true))
      token.invalidate()
    }
  }

  @Test("row 49.1: options: initial, prior, old and new", arguments: allBackends)
  func options(backend: TestBackend) throws {
    struct Change: Equatable, Sendable {
      let old: Bool?
      let new: Bool?
      let isPrior: Bool
    }
    let log = EventLog<Change>()
    let operation = BlockOperation {}
    let token = operation.observe(\.isCancelled, options: [.initial, .prior, .old, .new]) { _, change in
      log.append(Change(old: change.oldValue, new: change.newValue, isPrior: change.isPrior))
    }
    #expect(log.events == [Change(old: nil, new: false, isPrior: false)])
    try backend.onWorker { operation.cancel() }
    try log.wait(count: 3, "the prior and the later notification")
    #expect(
      log.events.dropFirst() == [
        Change(old: false, new: nil, isPrior: true), Change(old: false, new: true, isPrior: false),
      ])
    token.invalidate()
    let bare = EventLog<Change>()
    let other = BlockOperation {}
    let bareToken = other.observe(\.isCancelled, options: []) { _, change in
      bare.append(Change(old: change.oldValue, new: change.newValue, isPrior: change.isPrior))
    }
    other.cancel()
    #expect(bare.events == [Change(old: nil, new: nil, isPrior: false)])
    bareToken.invalidate()
  }

  @Test("isReady changes with dependencies, added, removed and finished", arguments: allBackends)
  func readiness(backend: TestBackend) throws {
    let log = EventLog<Bool>()
    let operation = Operation()
    let (first, second) = (Operation(), Operation())
    let token = operation.observe(\.isReady, options: [.new]) { _, change in log.append(change.newValue!) }
    operation.addDependency(first)
    operation.addDependency(second)
    operation.removeDependency(second)
    try backend.onWorker { first.start() }
    try eventually("isReady to be reported true") { log.events.last == true }
    #expect(log.events.first == false)
    token.invalidate()
  }

  @Test("dependencies, queuePriority and completionBlock", arguments: allBackends)
  func settableProperties(backend: TestBackend) throws {
    let counts = EventLog<Int>()
    let priorities = EventLog<Operation.QueuePriority>()
    let blocks = EventLog<Bool>()
    let operation = Operation()
    let dependency = Operation()
    let tokens = [
      operation.observe(\.dependencies, options: [.new]) { _, change in counts.append(change.newValue!.count) },
      operation.observe(\.queuePriority, options: [.new, .old]) { _, change in
        priorities.append(change.oldValue!)
        priorities.append(change.newValue!)
      },
      operation.observe(\.completionBlock) { object, _ in blocks.append(object.completionBlock != nil) },
    ]
    try backend.onWorker {
      operation.addDependency(dependency)
      operation.removeDependency(dependency)
      operation.queuePriority = .high
      operation.completionBlock = {}
      operation.completionBlock = nil
    }
    #expect(counts.events == [1, 0])
    #expect(priorities.events == [.normal, .high])
    #expect(blocks.events == [true, false])
    for token in tokens { token.invalidate() }
  }

  @Test("a subclass posts isAsynchronous by key string and by key path", arguments: allBackends)
  func postedByHand(backend: TestBackend) throws {
    let log = EventLog<Bool>()
    let operation = Operation()
    let token = operation.observe(\.isAsynchronous, options: [.new]) { _, change in log.append(change.newValue!) }
    try backend.onWorker {
      operation.willChangeValue(forKey: "isAsynchronous")
      operation.didChangeValue(forKey: "isAsynchronous")
    }
    try log.wait(count: 1, "the observer to hear of the key string")
    try backend.onWorker {
      operation.willChangeValue(for: \.isAsynchronous)
      operation.didChangeValue(for: \.isAsynchronous)
    }
    try log.wait(count: 2, "the observer to hear of the key path")
    try backend.onWorker {
      operation.willChangeValue(forKey: "something of the subclass")
      operation.didChangeValue(forKey: "something of the subclass")
    }
    giveOthersAChance()
    #expect(log.events == [false, false])
    token.invalidate()
  }

  @Test("row 49.4: an invalidated or released token is silent; a second observer goes on", arguments: allBackends)
  func tokens(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let log = EventLog<String>()
      let operation = BlockOperation {}
      let invalidated = operation.observe(\.isFinished) { _, _ in log.append("invalidated") }
      var released: OperationObservation? = operation.observe(\.isFinished) { _, _ in log.append("released") }
      let kept = operation.observe(\.isFinished) { _, _ in log.append("kept") }
      invalidated.invalidate()
      invalidated.invalidate()
      withExtendedLifetime(released) {}
      released = nil
      queue.addOperation(operation)
      try log.wait(count: 1, "the observer that is left")
      giveOthersAChance()
      #expect(log.events == ["kept"])
      kept.invalidate()
    }
  }

  @Test("a token may outlive its operation and does not keep it alive", arguments: allBackends)
  func tokenOutlivesOperation(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      var tokens: [OperationObservation] = []
      for _ in 0..<10 {
        let operation = TrackedOperation(tracker)
        tokens.append(operation.observe(\.isFinished, options: [.new]) { _, _ in })
        queue.addOperation(operation)
      }
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("the observed operations")
      for token in tokens { token.invalidate() }
    }
  }

  @Test("row 49.1: a handler may use the operation, the queue and its own token", arguments: allBackends)
  func handlerCallsBack(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let done = CountdownLatch(2)
      let next = CountingOperation()
      let operation = BlockOperation {}
      let token = Monitor<OperationObservation?>(nil)
      let observation = operation.observe(\.isFinished, options: [.new]) { object, _ in
        object.waitUntilFinished()
        object.cancel()
        _ = object.dependencies
        _ = object.observe(\.isFinished, options: [.initial]) { _, _ in done.countDown() }
        queue.addOperation(next)
        token.value?.invalidate()
        done.countDown()
      }
      token.with { $0 = observation }
      queue.addOperation(operation)
      try done.wait("the handler that calls back")
      try queue.drainInTime()
      #expect(next.mains.value == 1)
    }
  }

  @Test("observing while the operation finishes: initial and change together tell of it", arguments: allBackends)
  func observeWhileFinishing(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for round in 0..<200 {
        let operation = BlockOperation {}
        let log = EventLog<Bool>()
        queue.addOperation(operation)
        for _ in 0..<round % 20 { _ = operation.isReady }
        let token = operation.observe(\.isFinished, options: [.initial, .new]) { _, change in
          log.append(change.newValue!)
        }
        try queue.drainInTime()
        try eventually("the observer to know that it finished") { log.events.contains(true) }
        token.invalidate()
      }
    }
  }

  @Test("observers come and go on several threads while the operation runs", arguments: allBackends)
  func observersComeAndGo(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<20 {
        let operation = BlockOperation {}
        try race(
          "observers and an operation",
          { for _ in 0..<50 { operation.observe(\.isFinished) { _, _ in }.invalidate() } },
          { for _ in 0..<50 { operation.observe(\.isExecuting) { _, _ in }.invalidate() } },
          { queue.addOperation(operation) })
        try queue.drainInTime()
      }
    }
  }

  @Test("queues report operations, operationCount, the limit, suspension and the name", arguments: allBackends)
  func queues(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let log = EventLog<String>()
      let counts = EventLog<Int>()
      let lists = EventLog<Int>()
      let tokens = [
        queue.observe(\.maxConcurrentOperationCount, options: [.new]) { _, change in
          log.append("limit \(change.newValue!)")
        },
        queue.observe(\.isSuspended, options: [.new]) { _, change in log.append("suspended \(change.newValue!)") },
        queue.observe(\.name, options: [.new]) { object, _ in log.append("name \(object.name ?? "none")") },
        queue.observe(\.operationCount, options: [.new]) { _, change in counts.append(change.newValue!) },
        queue.observe(\.operations, options: [.new]) { _, change in lists.append(change.newValue!.count) },
      ]
      queue.maxConcurrentOperationCount = 2
      queue.isSuspended = true
      queue.name = "downloads"
      #expect(log.events == ["limit 2", "suspended true", "name downloads"])
      queue.addOperation {}
      queue.addOperation {}
      try eventually("the count to be reported") { counts.events.contains(2) && lists.events.contains(2) }
      queue.isSuspended = false
      try queue.drainInTime()
      try eventually("the empty queue to be reported") { counts.events.last == 0 && lists.events.last == 0 }
      for token in tokens { token.invalidate() }
    }
  }

  // MARK: - Each change once, with its own value, in order

  @Test(
    "row 49.2: an emptied queue is told once, and each count is one from the last", arguments: allBackends, [2, -1])
  func countsInOrder(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      for _ in 0..<150 {
        let counts = EventLog<Int>()
        let lists = EventLog<Int>()
        let tokens = [
          queue.observe(\.operationCount, options: [.new]) { _, change in counts.append(change.newValue!) },
          queue.observe(\.operations, options: [.new]) { _, change in lists.append(change.newValue!.count) },
        ]
        queue.isSuspended = true
        queue.addOperations((0..<4).map { _ in BlockOperation {} }, waitUntilFinished: false)
        queue.addBarrierBlock {}
        queue.isSuspended = false
        try queue.drainInTime()
        try counts.wait(count: 7, "the counts")
        try lists.wait(count: 7, "the lists")
        #expect(counts.events == [4, 5, 4, 3, 2, 1, 0] && lists.events == counts.events)
        for token in tokens { token.invalidate() }
      }
    }
  }

  @Test("row 49.2: a continuation that waits for an empty queue is resumed once", arguments: allBackends)
  func emptiedOnce(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<300 {
        let resumed = Counter()
        let operations = (0..<3).map { _ in BlockOperation {} }
        queue.isSuspended = true
        queue.addOperations(operations, waitUntilFinished: false)
        let token = queue.observe(\.operationCount, options: [.new, .old]) { _, change in
          #expect(change.oldValue == change.newValue! + 1)
          if change.newValue == 0 { resumed.increment() }
        }
        queue.isSuspended = false
        try resumed.wait(for: 1, "the empty queue to be told")
        try queue.drainInTime()
        #expect(resumed.value == 1)
        token.invalidate()
      }
    }
  }

  @Test("row 49.2: an observer that comes while the queue empties learns that it is empty", arguments: allBackends)
  func observeWhileEmptying(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for round in 0..<300 {
        let last = Monitor(-1)
        for _ in 0..<3 { queue.addOperation {} }
        for _ in 0..<round % 30 { _ = queue.operationCount }
        let token = queue.observe(\.operationCount, options: [.initial, .new]) { _, change in
          last.with { $0 = change.newValue! }
        }
        try queue.drainInTime()
        try eventually("the last value to be told") { last.value == 0 }
        token.invalidate()
      }
    }
  }

  @Test("row 49.2: settings changed by several threads: the value told last is the value", arguments: allBackends)
  func lastValueOfSettings(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<50 {
        let limits = EventLog<Int>()
        let priorities = EventLog<Operation.QueuePriority>()
        let operation = Operation()
        let tokens = [
          queue.observe(\.maxConcurrentOperationCount, options: [.new]) { _, change in limits.append(change.newValue!)
          },
          operation.observe(\.queuePriority, options: [.new]) { _, change in priorities.append(change.newValue!) },
        ]
        try onThreads(3, "threads that set") { index in
          for round in 1...20 {
            queue.maxConcurrentOperationCount = 3 * round + index
            operation.queuePriority = [.low, .high, .normal][(round + index) % 3]
          }
        }
        try limits.wait(count: 60, "the limits")
        try priorities.wait(count: 60, "the priorities")
        #expect(limits.events.last == queue.maxConcurrentOperationCount && Set(limits.events).count == 60)
        #expect(priorities.events.last == operation.queuePriority)
        for token in tokens { token.invalidate() }
      }
    }
  }

  @Test("row 49.2: isReady of an operation in no queue is told once", arguments: allBackends)
  func readyOnceInNoQueue(backend: TestBackend) throws {
    try backend.withQueue(workers: 4) { queue in
      for _ in 0..<400 {
        let operation = Operation()
        let dependencies = (0..<8).map { _ in BlockOperation {} }
        dependencies.forEach(operation.addDependency)
        let log = EventLog<Bool>()
        let token = operation.observe(\.isReady, options: [.new]) { _, change in log.append(change.newValue!) }
        queue.addOperations(dependencies, waitUntilFinished: false)
        try log.wait(count: 1, "isReady")
        try queue.drainInTime()
        #expect(log.events == [true])
        token.invalidate()
      }
    }
  }

  @Test("row 49.2: isExecuting is told true before false, whoever finishes", arguments: allBackends)
  func executingInOrder(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<200 {
        let log = EventLog<Bool>()
        let operation = AsynchronousOperation { operation in startThread { operation.finish() } }
        let token = operation.observe(\.isExecuting, options: [.new]) { _, change in log.append(change.newValue!) }
        queue.addOperation(operation)
        try log.wait(count: 2, "isExecuting")
        try queue.drainInTime()
        #expect(log.events == [true, false])
        token.invalidate()
      }
    }
  }

  @Test(
    "row 49.3: whoever makes a change tells it, and also what others change meanwhile", arguments: allBackends)
  func whoTells(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let told = EventLog<(limit: Int, thread: UInt)>()
      let (begun, goesOn) = (Gate(), Gate())
      let token = queue.observe(\.maxConcurrentOperationCount, options: [.new]) { _, change in
        told.append((change.newValue!, currentThread()))
        if change.newValue == 2 {
          begun.open()
          goesOn.pass()
        }
      }
      queue.maxConcurrentOperationCount = 1
      let first = Monitor<UInt>(0)
      startThread {
        first.with { $0 = currentThread() }
        queue.maxConcurrentOperationCount = 2
      }
      try begun.wait("the handler on another thread")
      // Returns while the handler of the change before is running.
      queue.maxConcurrentOperationCount = 3
      #expect(told.events.count == 2)
      goesOn.open()
      try told.wait(count: 3, "the change that another thread made")
      #expect(told.events.map(\.limit) == [1, 2, 3])
      #expect(told.events.map(\.thread) == [currentThread(), first.value, first.value])
      token.invalidate()
    }
  }

  @Test(
    "rows 49.2 and 49.3: a change made by a handler is told after the one that it is told of", arguments: allBackends)
  func changeInAHandler(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let log = EventLog<Int>()
      let token = queue.observe(\.operationCount, options: [.new]) { queue, change in
        if change.newValue == 1 { queue.addOperation {} }
        log.append(change.newValue!)
      }
      queue.addOperation {}
      try log.wait(count: 2, "both counts")
      #expect(log.events == [1, 2])
      token.invalidate()
      queue.isSuspended = false
      try queue.drainInTime()
    }
  }
}
