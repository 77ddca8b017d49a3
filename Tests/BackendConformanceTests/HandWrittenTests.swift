import Operations
import TestSupport
import Testing

/// Row 41: asynchronous operations written by hand, as for Foundation.
@Suite("Hand-written asynchronous operations")
struct HandWrittenTests {
  /// State as an enumeration behind a lock that is held while posting, and that the getters take as well.
  private final class LockedOperation: Operation, @unchecked Sendable {
    private enum State { case ready, executing, finished }
    // Invariant: `state` is touched only under `lock`, which is not recursive for readers on other threads.
    private let lock = UserLock()
    private var state = State.ready
    private let body: @Sendable (LockedOperation) -> Void

    var reentries: Int { lock.reentries }

    init(_ body: @escaping @Sendable (LockedOperation) -> Void) { self.body = body }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { state == .executing } }
    override var isFinished: Bool { lock.withLock { state == .finished } }

    private func move(to newState: State, _ key: String) {
      lock.withLock {
        willChangeValue(forKey: key)
        state = newState
        didChangeValue(forKey: key)
      }
    }

    override func start() {
      if isCancelled { return move(to: .finished, "isFinished") }
      move(to: .executing, "isExecuting")
      body(self)
    }

    func finish() { move(to: .finished, "isFinished") }
  }

  /// Posts by key path, both properties around one change, as most published base classes do.
  private final class KeyPathOperation: Operation, @unchecked Sendable {
    private let flags = Monitor((executing: false, finished: false))
    private let body: @Sendable (KeyPathOperation) -> Void

    init(_ body: @escaping @Sendable (KeyPathOperation) -> Void) { self.body = body }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { flags.value.executing }
    override var isFinished: Bool { flags.value.finished }

    override func start() {
      if isCancelled { return set((false, true)) }
      set((true, false))
      main()
    }

    override func main() { body(self) }

    func finish() { set((false, true)) }

    private func set(_ new: (Bool, Bool)) {
      willChangeValue(for: \.isExecuting)
      willChangeValue(for: \.isFinished)
      flags.with { $0 = new }
      didChangeValue(for: \.isFinished)
      didChangeValue(for: \.isExecuting)
    }
  }

  /// Posts `isFinished` only, and `isExecuting` never.
  private final class SilentOperation: Operation, @unchecked Sendable {
    private let done = Monitor(false)
    let started = Gate()
    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { done.value }
    override func start() { started.open() }
    func finish(_ value: Bool = true) {
      willChangeValue(forKey: "isFinished")
      done.with { $0 = value }
      didChangeValue(forKey: "isFinished")
    }
  }

  /// Runs `operation` in a chain in a serial queue and checks that everyone waits for its end.
  private func check<Tested: Operation>(
    _ operation: Tested, in queue: OperationQueue, started: Gate, finish: @escaping @Sendable (Tested) -> Void
  ) throws {
    queue.maxConcurrentOperationCount = 1
    let completed = Counter()
    operation.completionBlock = { completed.increment() }
    let dependent = CountingOperation()
    dependent.addDependency(operation)
    let next = CountingOperation()
    queue.addOperations([operation, dependent, next], waitUntilFinished: false)
    try started.wait("the hand-written operation to start")
    giveOthersAChance()
    #expect(!operation.isFinished && dependent.starts.value == 0 && next.starts.value == 0 && completed.value == 0)
    #expect(queue.operations.contains(operation))
    startThread { finish(operation) }
    try operation.finishInTime()
    #expect(operation.isFinished && !operation.isExecuting)
    try queue.drainInTime()
    #expect(dependent.mains.value == 1 && next.mains.value == 1)
    try completed.wait(for: 1, "the completion block")
    giveOthersAChance()
    #expect(completed.value == 1)
  }

  @Test("row 41.1: posted by key string, with and without \"is\"", arguments: allBackends, [true, false])
  func byKeyString(backend: TestBackend, prefixed: Bool) throws {
    try backend.withQueue { queue in
      let started = Gate()
      let operation = StringKeyedOperation(prefixed: prefixed) { _ in started.open() }
      try check(operation, in: queue, started: started) { $0.finish() }
    }
  }

  @Test("row 41.1: posted by key path", arguments: allBackends)
  func byKeyPath(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let started = Gate()
      let operation = KeyPathOperation { _ in started.open() }
      try check(operation, in: queue, started: started) { $0.finish() }
    }
  }

  @Test("row 41.2: its own lock held while posting, which its getters take", arguments: allBackends)
  func lockHeldWhilePosting(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<20 {
        let started = Gate()
        let operation = LockedOperation { _ in started.open() }
        try check(operation, in: queue, started: started) { $0.finish() }
        #expect(operation.reentries == 0, "a getter was called on the thread that posts")
      }
    }
  }

  @Test(
    "row 41.12: gone from the queue for the thread that has posted its finish", arguments: allBackends, [true, false])
  func goneBehindThePost(backend: TestBackend, inStart: Bool) throws {
    try backend.withQueue { queue in
      let left = EventLog<Int>()
      for round in 1...200 {
        @Sendable func end(_ operation: KeyPathOperation) {
          operation.finish()
          left.append(queue.operationCount + queue.operations.count)
        }
        queue.addOperation(
          KeyPathOperation { operation in if inStart { end(operation) } else { startThread { end(operation) } } })
        // The next operation would be counted, too.
        try left.wait(count: round, "the counts behind the post")
        try queue.drainInTime()
      }
      #expect(left.events.allSatisfy { $0 == 0 })
    }
  }

  @Test("row 41.12: a queue that is asked under the lock that the property takes answers", arguments: allBackends)
  func askedUnderItsLock(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let lock = UserLock()
      final class AsksUnderItsLock: Operation, @unchecked Sendable {
        // Sendable: the flag is touched under the lock.
        let lock: UserLock
        var finished = false
        let behind: @Sendable () -> Void
        init(_ lock: UserLock, _ behind: @escaping @Sendable () -> Void) { (self.lock, self.behind) = (lock, behind) }
        override var isAsynchronous: Bool { true }
        override var isFinished: Bool { lock.withLock { finished } }
        override func start() {
          lock.withLock {
            willChangeValue(forKey: "isFinished")
            finished = true
            didChangeValue(forKey: "isFinished")
            behind()
          }
        }
      }
      let answered = Counter()
      queue.addOperation(
        AsksUnderItsLock(lock) {
          _ = queue.operationCount
          answered.increment()
        })
      try queue.drainInTime()
      #expect(answered.value == 1 && queue.operationCount == 0)
    }
  }

  @Test("row 41.6: never posts executing", arguments: allBackends)
  func neverPostsExecuting(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = SilentOperation()
      try check(operation, in: queue, started: operation.started) { $0.finish() }
    }
  }

  @Test("row 41.11: start() without super, and isExecuting not overridden", arguments: allBackends)
  func executesWithoutSuper(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = SilentOperation()
      #expect(!operation.isExecuting)
      queue.addOperation(operation)
      try operation.started.wait("the start")
      giveOthersAChance()
      #expect(operation.isExecuting)
      operation.finish()
      try operation.finishInTime()
      #expect(!operation.isExecuting)
    }
  }

  @Test("row 41: a post while isFinished is still false changes nothing", arguments: allBackends)
  func falseAlarm(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = SilentOperation()
      queue.addOperation(operation)
      try operation.started.wait("the operation to start")
      for _ in 0..<5 { operation.finish(false) }
      giveOthersAChance()
      #expect(queue.operations == [operation])
      operation.finish()
      try queue.drainInTime()
    }
  }

  @Test("row 41: finished posted many times, from many threads, counts once", arguments: allBackends)
  func postedManyTimes(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<50 {
        let operation = SilentOperation()
        let completed = Counter()
        operation.completionBlock = { completed.increment() }
        let dependent = CountingOperation()
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        try operation.started.wait("the operation to start")
        try onThreads(3, "three threads that post") { _ in operation.finish() }
        try queue.drainInTime()
        try completed.wait(for: 1, "the completion block")
        #expect(completed.value == 1 && dependent.starts.value == 1)
        #expect(queue.operationCount == 0)
      }
    }
  }

  @Test("row 41: finished before start() returned, on the same thread and on another", arguments: allBackends)
  func finishedInsideStart(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for limit in [1, -1] {
        queue.maxConcurrentOperationCount = limit
        var operations: [Operation] = []
        for _ in 0..<100 {
          operations.append(StringKeyedOperation { $0.finish() })
          operations.append(KeyPathOperation { $0.finish() })
          operations.append(StringKeyedOperation { operation in startThread { operation.finish() } })
          operations.append(LockedOperation { $0.finish() })
        }
        queue.addOperations(operations, waitUntilFinished: false)
        try queue.drainInTime("400 hand-written operations")
        #expect(operations.allSatisfy { $0.isFinished })
        #expect(queue.operations.isEmpty)
      }
    }
  }

  @Test("rows 7 and 41: cancelled before the start, it finishes itself", arguments: allBackends)
  func cancelledBeforeStart(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let ran = Counter()
      let operations = [
        StringKeyedOperation { _ in ran.increment() }, KeyPathOperation { _ in ran.increment() },
        LockedOperation { _ in ran.increment() },
      ]
      for operation in operations { operation.addDependency(Operation()) }
      queue.addOperations(operations, waitUntilFinished: false)
      for operation in operations { operation.cancel() }
      try queue.drainInTime()
      #expect(operations.allSatisfy { $0.isFinished && $0.isCancelled })
      #expect(ran.value == 0)
    }
  }

  @Test("row 41: started by hand, outside a queue, a dependent in a queue is released", arguments: allBackends)
  func startedByHand(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = StringKeyedOperation { _ in }
      let dependent = CountingOperation()
      dependent.addDependency(operation)
      queue.addOperation(dependent)
      let completed = Gate()
      operation.completionBlock = { completed.open() }
      operation.start()
      #expect(operation.isExecuting && dependent.starts.value == 0)
      operation.finish()
      try queue.drainInTime()
      try completed.wait("the completion block")
      #expect(dependent.mains.value == 1)
    }
  }

  @Test("row 41: the queue keeps a running operation alive until it finishes", arguments: allBackends)
  func keptAlive(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for _ in 0..<50 {
        let token = tracker.token()
        queue.addOperation(
          StringKeyedOperation { operation in
            startThread {
              withExtendedLifetime(token) {}
              operation.finish()
            }
          })
      }
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("what the operations captured")
    }
  }

  // MARK: - Work that goes on after main()

  /// Keeps its own state, overrides `main()` and not `start()`: the work goes on after `main()` has returned.
  private class GoingOn: Operation, @unchecked Sendable {
    private let flags = Monitor((executing: false, finished: false))
    let started = Gate()
    let postsExecuting: Bool

    init(postsExecuting: Bool = true) { self.postsExecuting = postsExecuting }

    override var isExecuting: Bool { flags.value.executing }
    override var isFinished: Bool { flags.value.finished }

    override func main() {
      if postsExecuting { post("isExecuting") { flags.with { $0.executing = true } } }
      started.open()
    }

    func end() {
      post("isExecuting") { flags.with { $0.executing = false } }
      post("isFinished") { flags.with { $0.finished = true } }
    }

    private func post(_ key: String, _ change: () -> Void) {
      willChangeValue(forKey: key)
      change()
      didChangeValue(forKey: key)
    }
  }

  /// Overrides `start()` too, and calls `super.start()` there.
  private final class GoingOnFromStart: GoingOn, @unchecked Sendable {
    override func start() {
      if isCancelled { return end() }
      super.start()
    }
  }

  /// Adds a condition to what the base class says.
  private final class Conditional: Operation, @unchecked Sendable {
    private let done = Monitor(false)
    let started = Gate()
    override var isFinished: Bool { super.isFinished && done.value }
    override func main() { started.open() }
    func end() {
      willChangeValue(for: \Operation.isFinished)
      done.with { $0 = true }
      didChangeValue(for: \Operation.isFinished)
    }
  }

  @Test("row 41.10: the work goes on after main(), until isFinished is posted", arguments: allBackends, [true, false])
  func goesOnAfterMain(backend: TestBackend, postsExecuting: Bool) throws {
    try backend.withQueue { queue in
      let operation = GoingOn(postsExecuting: postsExecuting)
      try check(operation, in: queue, started: operation.started) { $0.end() }
    }
  }

  @Test("row 41.10: start() is overridden and calls super.start()", arguments: allBackends)
  func goesOnAfterSuperStart(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = GoingOnFromStart()
      try check(operation, in: queue, started: operation.started) { ($0 as GoingOn).end() }
      let byHand = GoingOnFromStart()
      byHand.start()
      #expect(byHand.isExecuting && !byHand.isFinished)
      byHand.end()
      try byHand.finishInTime()
    }
  }

  @Test("row 41.10: a condition beside super.isFinished", arguments: allBackends)
  func conditionBesideSuper(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = Conditional()
      try check(operation, in: queue, started: operation.started) { $0.end() }
      // The condition holds before main() returns.
      for _ in 0..<50 {
        let early = Conditional()
        queue.addOperation(early)
        early.end()
        try queue.drainInTime()
        #expect(early.isFinished)
      }
    }
  }

  @Test("row 41.10: against the return of main(): ends once, and never stays", arguments: allBackends)
  func endsAroundTheReturnOfMain(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for limit in [1, -1] {
        queue.maxConcurrentOperationCount = limit
        for _ in 0..<200 {
          let operation = GoingOn()
          let completed = Counter()
          operation.completionBlock = { completed.increment() }
          queue.addOperation(operation)
          try operation.started.wait("the operation to start")
          operation.end()
          try queue.drainInTime()
          try completed.wait(for: 1, "the completion block")
          #expect(operation.isFinished && completed.value == 1)
        }
      }
    }
  }

  @Test("row 41.10: a class that computes isExecuting alone ends with main()", arguments: allBackends)
  func ownExecutingAlone(backend: TestBackend) throws {
    final class Watched: Operation, @unchecked Sendable {
      private let executing = Monitor(false)
      override var isExecuting: Bool { executing.value }
      override func main() {
        willChangeValue(forKey: "isExecuting")
        executing.with { $0 = true }
        didChangeValue(forKey: "isExecuting")
      }
    }
    try backend.withQueue { queue in
      let operation = Watched()
      queue.addOperation(operation)
      try queue.drainInTime()
      #expect(operation.isFinished)
    }
  }
}
