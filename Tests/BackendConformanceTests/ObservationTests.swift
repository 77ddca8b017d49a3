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

  @Test("the handler gets the operation itself, and the property already has its new value", arguments: allBackends)
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

  @Test("options: initial, prior, old and new", arguments: allBackends)
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

  @Test("an invalidated or released token is silent; a second observer goes on", arguments: allBackends)
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

  @Test("a handler may use the operation, the queue and its own token", arguments: allBackends)
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
}
