import Operations
import TestSupport
import Testing

/// Rows 34 and 35: `isReady` overridden, and operations that finish before they were started.
@Suite("Overridden readiness")
struct ReadinessTests {
  /// Ready when its dependencies have finished and somebody said so.
  private final class Conditional: Operation, @unchecked Sendable {
    private let condition = Monitor(false)
    let mains = Counter()
    let starts = Counter()
    private let usesKeyPath: Bool

    init(usesKeyPath: Bool = false) { self.usesKeyPath = usesKeyPath }

    override var isReady: Bool { super.isReady && condition.value }

    override func start() {
      starts.increment()
      super.start()
    }

    override func main() { mains.increment() }

    func satisfy() {
      if usesKeyPath { willChangeValue(for: \.isReady) } else { willChangeValue(forKey: "isReady") }
      condition.with { $0 = true }
      if usesKeyPath { didChangeValue(for: \.isReady) } else { didChangeValue(forKey: "isReady") }
    }
  }

  @Test("row 35: honoured: not started before the condition holds", arguments: allBackends, [true, false])
  func honoured(backend: TestBackend, usesKeyPath: Bool) throws {
    try backend.withQueue { queue in
      for limit in [1, -1] {
        queue.maxConcurrentOperationCount = limit
        let operation = Conditional(usesKeyPath: usesKeyPath)
        let other = CountingOperation()
        queue.addOperations([operation, other], waitUntilFinished: false)
        try other.finishInTime("the operation behind one that is not ready")
        giveOthersAChance()
        #expect(operation.starts.value == 0 && !operation.isReady)
        operation.satisfy()
        try queue.drainInTime("the operation whose condition came true")
        #expect(operation.mains.value == 1)
      }
    }
  }

  @Test("row 35: dependencies and condition, in either order", arguments: allBackends)
  func dependenciesAndCondition(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let (first, second) = (Conditional(), Conditional())
      let (before, after) = (Operation(), Operation())
      first.addDependency(before)
      second.addDependency(after)
      queue.addOperations([first, second], waitUntilFinished: false)
      before.start()
      second.satisfy()
      giveOthersAChance()
      #expect(first.starts.value == 0 && second.starts.value == 0)
      first.satisfy()
      after.start()
      try queue.drainInTime()
      #expect(first.mains.value == 1 && second.mains.value == 1)
    }
  }

  @Test("row 35: the condition comes true while the operation is being added", arguments: allBackends)
  func changesWhileBeingAdded(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<300 {
        let operation = Conditional()
        try race("adding and satisfying", { queue.addOperation(operation) }, { operation.satisfy() })
        try queue.drainInTime("the operation whose condition came true while it was added")
        #expect(operation.starts.value == 1 && operation.mains.value == 1)
      }
    }
  }

  @Test("row 35: the condition comes true while the last dependency finishes", arguments: allBackends)
  func changesWhileDependencyFinishes(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<300 {
        let dependency = Operation()
        let operation = Conditional()
        operation.addDependency(dependency)
        queue.addOperation(operation)
        try race("finishing and satisfying", { dependency.start() }, { operation.satisfy() })
        try queue.drainInTime("the operation that became ready twice")
        #expect(operation.starts.value == 1 && operation.mains.value == 1)
      }
    }
  }

  @Test("row 35: satisfied before it is added, and posted again while it runs", arguments: allBackends)
  func satisfiedBefore(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = Conditional()
      operation.satisfy()
      queue.addOperation(operation)
      for _ in 0..<20 { operation.satisfy() }
      try queue.drainInTime()
      operation.satisfy()
      giveOthersAChance()
      #expect(operation.starts.value == 1 && operation.mains.value == 1)
    }
  }

  @Test("row 35: a suspended queue does not start what becomes ready", arguments: allBackends)
  func suspendedQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = Conditional()
      queue.addOperation(operation)
      queue.isSuspended = true
      operation.satisfy()
      giveOthersAChance()
      #expect(operation.starts.value == 0)
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(operation.mains.value == 1)
    }
  }

  @Test("row 35: the condition is posted with the lock held that isReady takes", arguments: allBackends)
  func postedUnderALock(backend: TestBackend) throws {
    final class Locked: Operation, @unchecked Sendable {
      private let lock = UserLock()
      private var isSatisfied = false  // Invariant: touched under the lock only.
      var reentries: Int { lock.reentries }
      override var isReady: Bool { super.isReady && lock.withLock { isSatisfied } }
      func satisfy() {
        lock.withLock {
          willChangeValue(forKey: "isReady")
          isSatisfied = true
          didChangeValue(forKey: "isReady")
        }
      }
    }
    try backend.withQueue { queue in
      let operation = Locked()
      queue.addOperation(operation)
      operation.satisfy()
      try queue.drainInTime("the operation that posts under its lock")
      #expect(operation.reentries == 0, "isReady was read on the thread that posts")
    }
  }

  @Test("rows 35 and 41: a property that posts while it is read is read again, at once", arguments: allBackends)
  func postsWhileItIsRead(backend: TestBackend) throws {
    final class Posting: Operation, @unchecked Sendable {
      // Invariant: both synchronise themselves.
      let (reads, ends) = (Counter(), Counter())
      let isStarted = Monitor(false)
      /// The first read finds out that there is something new, posts that, and still gives the old answer.
      override var isReady: Bool {
        if reads.increment() == 1 { didChangeValue(forKey: "isReady") }
        return super.isReady && reads.value > 1
      }
      override var isFinished: Bool {
        guard isStarted.value else { return false }
        if ends.increment() == 1 { didChangeValue(forKey: "isFinished") }
        return ends.value > 1
      }
      override func start() {
        isStarted.with { $0 = true }
        didChangeValue(forKey: "isFinished")
      }
    }
    try backend.withQueue { queue in
      for _ in 0..<20 { queue.addOperation(Posting()) }
      try queue.drainInTime("operations whose properties post once while they are read")
    }
  }

  @Test(
    "row 34: Foundation: a hand-written operation that finishes before the queue started it", arguments: allBackends)
  func finishesBeforeStart(backend: TestBackend) throws {
    final class Eager: Operation, @unchecked Sendable {
      private let done = Monitor(false)
      let token: LifetimeTracker.Token
      init(_ tracker: LifetimeTracker) { token = tracker.token() }
      override var isAsynchronous: Bool { true }
      override var isFinished: Bool { done.value }
      override func start() { finish() }
      func finish() {
        willChangeValue(forKey: "isFinished")
        done.with { $0 = true }
        didChangeValue(forKey: "isFinished")
      }
    }
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for round in 0..<5 {
        queue.isSuspended = true
        let eager = (0..<5).map { _ in Eager(tracker) }
        let dependent = CountingOperation()
        eager.forEach(dependent.addDependency)
        queue.addOperations(eager, waitUntilFinished: false)
        queue.addOperation(dependent)
        if round == 0 { eager[0].addDependency(Operation()) }
        for operation in eager { operation.finish() }
        queue.isSuspended = false
        try queue.drainInTime("operations that finished before they were started")
        #expect(dependent.mains.value == 1)
        #expect(queue.operations.isEmpty)
      }
      try tracker.waitUntilAllReleased("the operations")
    }
  }

  @Test("row 34: finish() of the base class before the queue started it", arguments: allBackends)
  func baseClassFinishesBeforeStart(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let ran = Counter()
      for _ in 0..<5 {
        let operation = AsynchronousOperation { _ in ran.increment() }
        operation.addDependency(Operation())
        let dependent = CountingOperation()
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        operation.finish()
        try queue.drainInTime("an asynchronous operation that finished before it was started")
        #expect(operation.isFinished && dependent.mains.value == 1 && ran.value == 0)
      }
    }
  }

  @Test("row 34: an early finish against the start", arguments: allBackends)
  func finishRacesWithStart(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<10 {
        queue.isSuspended = true
        let operation = AsynchronousOperation { _ in }
        let dependent = CountingOperation()
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        try race("a start and an early finish", { queue.isSuspended = false }, { operation.finish() })
        try queue.drainInTime("the operation that finished around its start")
        #expect(operation.isFinished && dependent.mains.value == 1)
      }
    }
  }

  // MARK: - In no queue

  @Test(
    "row 35: isReady of an operation in no queue is read when its last dependency has finished", arguments: allBackends)
  func readInNoQueue(backend: TestBackend) throws {
    /// Begins its work when its property is read and the base class is ready.
    final class Evaluates: Operation, @unchecked Sendable {
      let evaluated = Gate()
      let reads = Counter()
      override var isReady: Bool {
        reads.increment()
        let ready = super.isReady
        if ready, !isCancelled { evaluated.open() }
        return ready
      }
    }
    try backend.withQueue { queue in
      let (finished, removed, posted) = (Evaluates(), Evaluates(), Evaluates())
      let dependencies = (0..<3).map { _ in BlockOperation {} }
      dependencies.forEach(finished.addDependency)
      let never = Operation()
      removed.addDependency(never)
      giveOthersAChance()
      #expect(!finished.evaluated.isOpen && !removed.evaluated.isOpen && !posted.evaluated.isOpen)
      queue.addOperations(dependencies, waitUntilFinished: false)
      try finished.evaluated.wait("the property to be read when the dependencies have finished")
      removed.removeDependency(never)
      try removed.evaluated.wait("the property to be read when the dependency was removed")
      posted.willChangeValue(forKey: "isReady")
      posted.didChangeValue(forKey: "isReady")
      try posted.evaluated.wait("the property to be read after a post")
      try queue.drainInTime()
      #expect(finished.reads.value <= 2)
    }
  }

  /// Begins to find out about its condition when an observer is told of the dependencies, and posts the condition
  /// itself.
  private final class Stepwise: Operation, @unchecked Sendable {
    private let condition = Monitor(false)
    private let ran = Counter()
    let told = EventLog<Bool>()

    var hasRun: Bool { ran.value > 0 }
    override var isReady: Bool { super.isReady && (condition.value || isCancelled) }
    override func main() { ran.increment() }

    func observed() -> OperationObservation {
      observe(\.isReady) { operation, _ in
        operation.told.append(operation.isReady)
        if !operation.dependencies.contains(where: { !$0.isFinished }) { operation.set(true) }
      }
    }

    /// Posts also what changes nothing.
    func set(_ value: Bool) {
      if condition.value, value { return }
      willChangeValue(forKey: "isReady")
      condition.with { $0 = value }
      didChangeValue(forKey: "isReady")
    }
  }

  @Test(
    "rows 35 and 49: the library tells of the dependencies although the class has posted isReady itself",
    arguments: allBackends, [true, false])
  func tellsOfDependencies(backend: TestBackend, hasPosted: Bool) throws {
    try backend.withQueue { queue in
      let first = Operation()
      let steps = (0..<3).map { _ in Stepwise() }
      let tokens = steps.map { $0.observed() }
      for (before, step) in zip([first] + steps, steps) { step.addDependency(before) }
      if hasPosted { for step in steps { step.set(false) } }
      queue.addOperations(steps + [first], waitUntilFinished: false)
      try queue.drainInTime("a chain of observers")
      #expect(steps.allSatisfy { $0.hasRun })
      withExtendedLifetime(tokens) {}
    }
  }

  @Test(
    "rows 35 and 49: the same in no queue, and while the class's own condition is false",
    arguments: allBackends, [true, false])
  func tellsOfDependenciesInNoQueue(backend: TestBackend, hasPosted: Bool) throws {
    try backend.withQueue { queue in
      let (dependency, step) = (Operation(), Stepwise())
      step.addDependency(dependency)
      let token = step.observed()
      if hasPosted { step.set(false) }
      queue.addOperation(dependency)
      try eventually("the condition, by way of an observer") { step.isReady }
      #expect(step.told.events.contains(false), "told while the condition was false")
      queue.addOperation(step)
      try queue.drainInTime()
      withExtendedLifetime(token) {}
    }
  }

  @Test("row 34: one line for each class: many early finishes are legal", arguments: allBackends)
  func cancelledAndFinishedEarly(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let operations = (0..<20).map { _ in StringKeyedOperation { _ in } }
      queue.addOperations(operations, waitUntilFinished: false)
      for operation in operations { operation.finish() }
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(operations.allSatisfy { $0.isFinished })
    }
  }
}
