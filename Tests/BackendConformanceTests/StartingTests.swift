import Operations
import TestSupport
import Testing

/// Rows 1 to 3: what `start()` does when no queue is involved. Each case also runs on a worker of every backend.
@Suite("Starting by hand")
struct StartingTests {
  @Test("row 01: start() runs main() synchronously on the caller, executing then finished", arguments: allBackends)
  func startRunsMainOnTheCaller(backend: TestBackend) throws {
    let seen = try backend.onWorker {
      let inside = EventLog<(thread: UInt, executing: Bool, finished: Bool, ready: Bool)>()
      let operation = CountingOperation { inside.append((currentThread(), $0.isExecuting, $0.isFinished, $0.isReady)) }
      let before = (operation.isReady, operation.isExecuting, operation.isFinished, operation.isCancelled)
      operation.start()
      return (
        before, currentThread(), inside.events, operation.isExecuting, operation.isFinished, operation.mains.value
      )
    }
    #expect(seen.0 == (true, false, false, false))
    #expect(seen.2.map(\.thread) == [seen.1])
    #expect(seen.2.allSatisfy { $0.executing && !$0.finished && $0.ready })
    #expect(!seen.3 && seen.4 && seen.5 == 1)
  }

  @Test("row 01: an operation without a main() of its own finishes as well", arguments: allBackends)
  func startOfAPlainOperation(backend: TestBackend) throws {
    let operation = Operation()
    try backend.onWorker { operation.start() }
    #expect(operation.isFinished && !operation.isExecuting && !operation.isAsynchronous)
  }

  @Test("row 01: start() calls main() of the lowest subclass once, and what it left is visible", arguments: allBackends)
  func startOfABlockOperation(backend: TestBackend) throws {
    let value = Monitor(0)
    let operation = BlockOperation { value.with { $0 += 7 } }
    try backend.onWorker { operation.start() }
    #expect(value.value == 7)
    #expect(operation.isFinished)
  }

  @Test("row 01: observers see executing go on and off, then finished", arguments: allBackends)
  func startIsObservable(backend: TestBackend) throws {
    let log = EventLog<String>()
    let operation = BlockOperation { log.append("main") }
    let executing = operation.observe(\.isExecuting, options: [.new]) { _, change in
      log.append("executing \(change.newValue!)")
    }
    let finished = operation.observe(\.isFinished, options: [.new]) { _, change in
      log.append("finished \(change.newValue!)")
    }
    try backend.onWorker { operation.start() }
    try log.wait(count: 4, "the changes of the operation")
    #expect(Set(log.events) == ["executing true", "main", "executing false", "finished true"])
    #expect(log.events.prefix(2) == ["executing true", "main"])
    executing.invalidate()
    finished.invalidate()
  }

  @Test("row 01: what a queue holds back behind a manually started operation is released", arguments: allBackends)
  func startReleasesDependentsInAQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let first = BlockOperation {}
      let second = CountingOperation()
      second.addDependency(first)
      queue.addOperation(second)
      giveOthersAChance()
      #expect(second.starts.value == 0)
      first.start()
      try queue.drainInTime()
      #expect(second.mains.value == 1)
    }
  }

  @Test("row 01: start() of an operation whose dependencies have finished", arguments: allBackends)
  func startAfterDependencies(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let first = BlockOperation {}
      let second = CountingOperation()
      second.addDependency(first)
      #expect(!second.isReady)
      queue.addOperation(first)
      try first.finishInTime()
      #expect(second.isReady)
      second.start()
      #expect(second.isFinished && second.mains.value == 1)
    }
  }

  @Test("row 02: start() on a finished operation returns silently", arguments: allBackends)
  func startAgainDoesNothing(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let manual = CountingOperation()
      manual.start()
      manual.start()
      let queued = CountingOperation()
      queue.addOperation(queued)
      try queued.finishInTime()
      queued.start()
      let asynchronous = AsynchronousOperation { $0.finish() }
      asynchronous.start()
      asynchronous.start()
      for operation in [manual, queued] {
        try operation.completions.wait(for: 1, "the completion block")
        giveOthersAChance()
        #expect(operation.mains.value == 1)
        #expect(operation.completions.value == 1)
        #expect(operation.isFinished && !operation.isExecuting)
      }
      #expect(asynchronous.isFinished)
    }
  }

  @Test("row 02: start() on a finished operation races with another", arguments: allBackends)
  func startAgainFromManyThreads(backend: TestBackend) throws {
    let operation = CountingOperation()
    try backend.onWorker { operation.start() }
    try onThreads(8, "eight starts of a finished operation") { _ in operation.start() }
    #expect(operation.mains.value == 1)
  }

  @Test("row 03: start() on a cancelled operation skips main() and finishes it", arguments: allBackends)
  func startOfACancelledOperation(backend: TestBackend) throws {
    let executing = EventLog<Bool>()
    let operation = CountingOperation()
    let token = operation.observe(\.isExecuting, options: [.new]) { _, change in executing.append(change.newValue!) }
    operation.cancel()
    #expect(!operation.isFinished && operation.isReady)
    try backend.onWorker { operation.start() }
    #expect(operation.isFinished && operation.isCancelled && !operation.isExecuting)
    #expect(operation.mains.value == 0)
    #expect(!executing.events.contains(true))
    try operation.completions.wait(for: 1, "the completion block of the cancelled operation")
    giveOthersAChance()
    #expect(operation.completions.value == 1)
    token.invalidate()
  }

  @Test("row 03: a cancelled operation may be started before its dependencies finished", arguments: allBackends)
  func startOfACancelledOperationWithDependencies(backend: TestBackend) throws {
    let never = Operation()
    let operation = CountingOperation()
    operation.addDependency(never)
    operation.cancel()
    #expect(operation.isReady)
    try backend.onWorker { operation.start() }
    #expect(operation.isFinished && operation.mains.value == 0)
  }

  @Test("row 03: starting a cancelled operation wakes waiters and releases dependents", arguments: allBackends)
  func startOfACancelledOperationServesOthers(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = BlockOperation {}
      let dependent = CountingOperation()
      dependent.addDependency(operation)
      queue.addOperation(dependent)
      operation.cancel()
      let woken = Gate()
      startThread {
        operation.waitUntilFinished()
        woken.open()
      }
      giveOthersAChance()
      #expect(!woken.isOpen && dependent.starts.value == 0)
      operation.start()
      try woken.wait("the waiter of the cancelled operation")
      try queue.drainInTime()
      #expect(dependent.mains.value == 1)
    }
  }

  @Test("row 03: cancel() against start(): main() runs or not, but the operation finishes once", arguments: allBackends)
  func cancelRacesWithStart(backend: TestBackend) throws {
    for _ in 0..<100 {
      let operation = CountingOperation()
      try race("a start and a cancel", { operation.start() }, { operation.cancel() })
      #expect(operation.isFinished && !operation.isExecuting)
      #expect(operation.mains.value <= 1)
      try operation.completions.wait(for: 1, "the completion block")
      #expect(operation.completions.value == 1)
    }
  }
}
