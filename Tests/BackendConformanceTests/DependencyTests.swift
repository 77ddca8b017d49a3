import Operations
import TestSupport
import Testing

/// Rows 13 and 15 to 17: dependencies.
@Suite("Dependencies")
struct DependencyTests {
  @Test(
    "row 13: dependencies keep finished ones until the completion block returned, then none", arguments: allBackends)
  func dependenciesAreKeptThenEmptied(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let dependencies = (0..<5).map { _ in BlockOperation {} }
      let insideMain = EventLog<[Operation]>()
      let insideBlock = EventLog<[Operation]>()
      let operation = CountingOperation { insideMain.append($0.dependencies) }
      dependencies.forEach(operation.addDependency)
      operation.completionBlock = { insideBlock.append(operation.dependencies) }
      queue.isSuspended = true
      queue.addOperation(operation)
      for operation in dependencies { operation.start() }
      #expect(operation.dependencies == dependencies && operation.isReady)
      queue.isSuspended = false
      try insideBlock.wait(count: 1, "the completion block")
      #expect(insideMain.events == [dependencies])
      #expect(insideBlock.events == [dependencies])
      try eventually("the dependencies to be emptied") { operation.dependencies.isEmpty }
    }
  }

  @Test("row 13: dependencies of manually started and of cancelled operations are emptied", arguments: allBackends)
  func dependenciesOfOthersAreEmptied(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let manual = Operation()
      let finished = Operation()
      finished.start()
      manual.addDependency(finished)
      try backend.onWorker { manual.start() }
      let cancelled = Operation()
      cancelled.addDependency(Operation())
      queue.addOperation(cancelled)
      cancelled.cancel()
      try cancelled.finishInTime()
      for operation in [manual, cancelled] {
        try eventually("the dependencies to be emptied") { operation.dependencies.isEmpty }
      }
    }
  }

  @Test(
    "row 13: Foundation: a rolling chain, each new operation on the last, holds bounded memory",
    arguments: allBackends)
  func rollingChain(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      var last: Operation = TrackedOperation(tracker)
      queue.addOperation(last)
      for index in 1...part(4_000, of: 20_000) {
        let next = TrackedOperation(tracker)
        next.addDependency(last)
        queue.addOperation(next)
        last = next
        if index.isMultiple(of: 100) {
          try eventually("the chain to catch up") { last.isFinished && tracker.live <= 8 }
        }
      }
      #expect(tracker.peak <= 200)
    }
  }

  @Test("row 15: Foundation: a dependent deallocated before its dependency finishes", arguments: allBackends)
  func dependentIsDeallocated(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      let dependency = GatedOperation()
      queue.addOperation(dependency)
      try dependency.started.wait("the dependency to start")
      for _ in 0..<1_000 {
        let dependent = TrackedOperation(tracker)
        dependent.addDependency(dependency)
      }
      #expect(tracker.live == 0)
      dependency.release.open()
      try queue.drainInTime()
    }
  }

  @Test("row 15: Foundation: dependents deallocated while their dependency finishes", arguments: allBackends)
  func dependentIsDeallocatedMeanwhile(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for _ in 0..<100 {
        let dependency = CountingOperation()
        let dependents = Monitor((0..<20).map { _ in TrackedOperation(tracker) })
        for operation in dependents.value { operation.addDependency(dependency) }
        try race(
          "a finish and releases", { queue.addOperation(dependency) }, { dependents.with { $0.removeAll() } })
        try queue.drainInTime()
      }
      try tracker.waitUntilAllReleased("the dependents")
    }
  }

  @Test("row 16: Foundation: removing an unfinished dependency makes the operation ready", arguments: allBackends)
  func removeUnfinishedDependency(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let never = Operation()
      let operation = CountingOperation()
      operation.addDependency(never)
      #expect(!operation.isReady)
      queue.addOperation(operation)
      giveOthersAChance()
      #expect(operation.starts.value == 0)
      operation.removeDependency(never)
      try queue.drainInTime("the operation whose dependency was removed")
      #expect(operation.mains.value == 1)
      never.start()
      #expect(never.isFinished && operation.starts.value == 1)
    }
  }

  @Test("row 16: removal outside a queue, of one of several, and of a stranger", arguments: allBackends)
  func removeOneOfSeveral(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let (first, second) = (Operation(), Operation())
      let operation = CountingOperation()
      operation.addDependency(first)
      operation.addDependency(second)
      operation.removeDependency(Operation())
      operation.removeDependency(first)
      operation.removeDependency(first)
      #expect(operation.dependencies == [second] && !operation.isReady)
      queue.addOperation(operation)
      first.start()
      giveOthersAChance()
      #expect(operation.starts.value == 0)
      operation.removeDependency(second)
      try queue.drainInTime()
      #expect(operation.mains.value == 1)
    }
  }

  @Test("row 16: remove and add again", arguments: allBackends)
  func removeAndAddAgain(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let dependency = Operation()
      let operation = CountingOperation()
      operation.addDependency(dependency)
      queue.addOperation(operation)
      for _ in 0..<10 {
        operation.removeDependency(dependency)
        #expect(operation.isReady && operation.dependencies.isEmpty)
        operation.addDependency(dependency)
        #expect(!operation.isReady && operation.dependencies == [dependency])
      }
      queue.isSuspended = false
      giveOthersAChance()
      #expect(operation.starts.value == 0)
      dependency.start()
      try queue.drainInTime()
      #expect(operation.mains.value == 1)
    }
  }

  @Test("row 16: removal against the dependency finishing", arguments: allBackends)
  func removalRacesWithFinish(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<200 {
        let (first, second) = (Operation(), Operation())
        let operation = CountingOperation()
        operation.addDependency(first)
        operation.addDependency(second)
        queue.addOperation(operation)
        try race("a removal and a finish", { operation.removeDependency(first) }, { first.start() })
        #expect(operation.starts.value == 0 && !operation.isReady)
        second.start()
        try queue.drainInTime()
        #expect(operation.starts.value == 1 && operation.mains.value == 1)
      }
    }
  }

  @Test("row 17: adding a dependency twice counts once", arguments: allBackends)
  func addTwice(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let (first, second) = (Operation(), Operation())
      let removed = CountingOperation()
      let finished = CountingOperation()
      for operation in [removed, finished] {
        for _ in 0..<3 { operation.addDependency(first) }
        operation.addDependency(second)
        operation.addDependency(first)
        #expect(operation.dependencies == [first, second])
        queue.addOperation(operation)
        operation.addDependency(first)
      }
      removed.removeDependency(first)
      removed.removeDependency(second)
      try removed.finishInTime()
      first.start()
      #expect(!finished.isReady)
      second.start()
      try queue.drainInTime()
      #expect(removed.mains.value == 1 && finished.mains.value == 1)
    }
  }

  @Test("row 17: after enqueue, before start: honoured", arguments: allBackends)
  func addAfterEnqueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let late = Operation()
      queue.isSuspended = true
      let suspended = CountingOperation()
      queue.addOperation(suspended)
      suspended.addDependency(late)
      queue.isSuspended = false
      let first = Operation()
      let waiting = CountingOperation()
      waiting.addDependency(first)
      queue.addOperation(waiting)
      waiting.addDependency(late)
      first.start()
      giveOthersAChance()
      #expect(suspended.starts.value == 0 && waiting.starts.value == 0)
      #expect(!suspended.isReady && !waiting.isReady)
      late.start()
      try queue.drainInTime()
      #expect(suspended.mains.value == 1 && waiting.mains.value == 1)
    }
  }

  @Test("row 17: after enqueue, behind a running operation of a serial queue: honoured", arguments: allBackends)
  func addWhileWaitingForAPlace(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let running = GatedOperation()
      let late = Operation()
      let operation = CountingOperation()
      let other = CountingOperation()
      queue.addOperations([running, operation, other], waitUntilFinished: false)
      try running.started.wait("the first operation")
      operation.addDependency(late)
      running.release.open()
      try other.finishInTime("the operation behind the one that is no longer ready")
      #expect(operation.starts.value == 0)
      late.start()
      try queue.drainInTime()
      #expect(operation.mains.value == 1)
    }
  }

  @Test("row 17: a dependency added while the queue is about to start the operation", arguments: allBackends)
  func addRacesWithStart(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for round in 0..<300 {
        let late = Operation()
        let operation = CountingOperation()
        queue.addOperation(operation)
        for _ in 0..<(round % 7) * 20 { _ = operation.isReady }
        operation.addDependency(late)
        let hadStarted = operation.isExecuting || operation.isFinished
        if !hadStarted {
          #expect(!operation.isReady)
          for _ in 0..<50 { _ = currentThread() }
          #expect(!operation.isExecuting && !operation.isFinished, "it started although it waits for another")
        }
        late.start()
        try queue.drainInTime()
        #expect(operation.starts.value == 1 && operation.mains.value == 1)
      }
    }
  }

  @Test("row 17: after start: listed, no effect", arguments: allBackends)
  func addAfterStart(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let never = Operation()
      let operation = GatedOperation()
      queue.addOperation(operation)
      try operation.started.wait("the operation to start")
      operation.addDependency(never)
      #expect(operation.dependencies == [never])
      #expect(operation.isExecuting)
      operation.release.open()
      try queue.drainInTime()
      #expect(operation.isFinished && !never.isFinished)
    }
  }

  @Test(
    "row 17: removed before the start, added and removed again after it: the operation is released",
    arguments: allBackends)
  func addAndRemoveAcrossTheStart(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      let dependency = Operation()
      do {
        let operation = TrackedGatedOperation(tracker)
        queue.isSuspended = true
        queue.addOperation(operation)
        operation.addDependency(dependency)
        operation.removeDependency(dependency)
        queue.isSuspended = false
        try operation.started.wait("the operation to start")
        operation.addDependency(dependency)
        #expect(operation.dependencies == [dependency])
        operation.removeDependency(dependency)
        #expect(operation.dependencies.isEmpty)
        operation.release.open()
        try queue.drainInTime()
      }
      dependency.start()
      try tracker.waitUntilAllReleased("the operation, whose edge has fired")
    }
  }

  @Test("row 17: a finished dependency is listed and holds nothing back", arguments: allBackends)
  func addFinishedDependency(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let done = Operation()
      done.start()
      let operation = CountingOperation()
      operation.addDependency(done)
      #expect(operation.isReady && operation.dependencies == [done])
      queue.addOperation(operation)
      try queue.drainInTime()
      #expect(operation.mains.value == 1)
    }
  }
}

/// Runs until told to end, and tells when it is released.
private final class TrackedGatedOperation: Operation, @unchecked Sendable {
  // Invariant: all are constant and thread-safe themselves.
  let started = Gate()
  let release = Gate()
  private let token: LifetimeTracker.Token

  init(_ tracker: LifetimeTracker) {
    token = tracker.token()
    super.init()
  }

  override func main() {
    started.open()
    release.pass()
  }
}
