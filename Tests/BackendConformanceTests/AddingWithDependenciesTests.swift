import Operations
import Synchronization
import TestSupport
import Testing

/// Row 17, sentence 17.5: an operation that is made, given its dependencies and added in one call.
@Suite("Adding with dependencies")
struct AddingWithDependenciesTests {
  @Test("row 17.5: runs once, after all dependencies, and is listed as any other", arguments: allBackends)
  func runsAfterAll(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for count in [0, 1, 2, 5, 6, 11, 40, 100] {
        queue.isSuspended = true
        let (dependencies, given, expected) = givenTwice(count)
        let runs = Atomic<Int>(0)
        let early = Atomic<Int>(0)
        let operation = queue.addOperation(dependencies: given) {
          runs.wrappingAdd(1, ordering: .relaxed)
          if !dependencies.allSatisfy(\.isFinished) { early.wrappingAdd(1, ordering: .relaxed) }
        }
        #expect(operation.dependencies == expected)
        #expect(operation.isReady == (count == 0) && queue.operations == [operation])
        // Added to a queue already: counts from now on.
        let late = BlockOperation {}
        operation.addDependency(late)
        if let last = dependencies.last {
          operation.removeDependency(last)
          operation.addDependency(last)
        }
        queue.addOperations(dependencies + [late], waitUntilFinished: false)
        queue.isSuspended = false
        try queue.drainInTime()
        #expect(operation.isFinished && late.isFinished)
        #expect(runs.load(ordering: .relaxed) == 1 && early.load(ordering: .relaxed) == 0)
      }
    }
  }

  @Test("row 17.5: a graph that begins while it is made", arguments: allBackends)
  func graph(backend: TestBackend) throws {
    for limit in [OperationQueue.defaultMaxConcurrentOperationCount, 1, 3] {
      try backend.withQueue { queue in
        queue.maxConcurrentOperationCount = limit
        let (width, steps) = (8, 60)
        let marks = ThreadSafeMarks(width * steps)
        var row: [BlockOperation] = []
        for step in 0..<steps {
          row = (0..<width).map { place in
            let inputs = step == 0 ? [] : Array(max(0, place - 1)...min(width - 1, place + 1))
            let before = row
            return queue.addOperation(dependencies: inputs.lazy.map { before[$0] }) {
              marks.mark(step * width + place, after: inputs.map { (step - 1) * width + $0 })
            }
          }
        }
        try queue.drainInTime()
        #expect(marks.early == 0 && marks.count == width * steps)
      }
    }
  }

  @Test("row 17.5: dependencies that finish during the call", arguments: allBackends)
  func finishesDuringTheCall(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for round in 0..<200 {
        let dependencies = (0..<(round % 9)).map { _ in BlockOperation {} }
        let runs = Atomic<Int>(0)
        try race(
          "finishes and a call", { queue.addOperations(dependencies, waitUntilFinished: false) },
          { queue.addOperation(dependencies: dependencies) { runs.wrappingAdd(1, ordering: .relaxed) } })
        try queue.drainInTime()
        #expect(runs.load(ordering: .relaxed) == 1)
      }
    }
  }

  @Test(
    "row 17.5: cancelAllOperations during the call cancels the operation, or leaves it whole", arguments: allBackends)
  func cancelledDuringTheCall(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for round in 0..<200 {
        // Of no queue, so that only the operation can be cancelled.
        let dependencies = (0...(round % 3)).map { _ in Operation() }
        let runs = Counter()
        let made = Monitor<BlockOperation?>(nil)
        try race(
          "a call and cancelling", { queue.cancelAllOperations() },
          {
            let operation = queue.addOperation(dependencies: dependencies) { runs.increment() }
            made.with { $0 = operation }
          })
        let operation = try #require(made.value)
        // What was cancelled waits for nothing.
        if operation.isCancelled { try queue.drainInTime() }
        for dependency in dependencies { dependency.start() }
        try queue.drainInTime()
        #expect(operation.isFinished && runs.value == (operation.isCancelled ? 0 : 1))
      }
    }
  }

  @Test("row 17.5: a dependency whose class only says that it has finished", arguments: allBackends)
  func saysFinished(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let says = SaysFinished()
      says.start()
      let runs = Counter()
      queue.addOperation(dependencies: [says, Operation.finished()]) { runs.increment() }
      try queue.drainInTime()
      queue.addOperation(dependencies: [says]) { runs.increment() }
      try queue.drainInTime()
      #expect(runs.value == 2)
    }
  }

  @Test("row 17.5: a subclass of the queue sees the operation, with its dependencies")
  func subclass() throws {
    let queue = NotingQueue()
    let first = queue.addOperation(dependencies: EmptyCollection<Operation>()) {}
    let second = queue.addOperation(dependencies: [first]) {}
    try queue.drainInTime()
    #expect(queue.added.events.map(\.operation) == [first, second])
    #expect(queue.added.events.map(\.dependencies) == [0, 1])
  }

  @Test("row 17.5: an observed queue tells of the operation", arguments: allBackends)
  func observed(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let counts = EventLog<Int>()
      let observation = queue.observe(\.operationCount, options: .new) { _, change in
        counts.append(change.newValue ?? -1)
      }
      let first = queue.addOperation(dependencies: []) {}
      queue.addOperation(dependencies: [first]) {}
      #expect(counts.events == [1, 2])
      queue.isSuspended = false
      try queue.drainInTime()
      try eventually("the end to be told") { counts.events.last == 0 }
      withExtendedLifetime(observation) {}
    }
  }

  @Test("row 17.5: barriers and limits below a priority hold for the operation", arguments: allBackends)
  func barrier(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let log = EventLog<String>()
      let gate = GatedOperation()
      queue.addOperation(gate)
      queue.addBarrierBlock { log.append("barrier") }
      let behind = queue.addOperation(dependencies: []) { log.append("behind") }
      queue.addOperation(dependencies: [gate, behind]) { log.append("last") }
      gate.release.open()
      try queue.drainInTime()
      #expect(log.events == ["barrier", "behind", "last"])
    }
  }

  @Test("row 17.5: operation and dependencies are released", arguments: allBackends)
  func released(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for count in [0, 1, 2, 7] {
        let dependencies = (0..<count).map { _ in TrackedOperation(tracker) }
        let token = tracker.token()
        queue.addOperation(dependencies: dependencies + dependencies) { withExtendedLifetime(token) {} }
        queue.addOperations(dependencies, waitUntilFinished: false)
        try queue.drainInTime()
      }
      try tracker.waitUntilAllReleased("the operations and their dependencies")
    }
  }
}

/// Marks in memory that many threads may set, each once.
private final class ThreadSafeMarks: Sendable {
  private let marked: Monitor<[Bool]>
  private let wrong = Counter()

  init(_ count: Int) { marked = Monitor(Array(repeating: false, count: count)) }

  func mark(_ index: Int, after inputs: [Int]) {
    marked.with { marked in
      if marked[index] || !inputs.allSatisfy({ marked[$0] }) { wrong.increment() }
      marked[index] = true
    }
  }

  var early: Int { wrong.value }
  var count: Int { marked.value.count { $0 } }
}

/// Its class ends it without a post.
private final class SaysFinished: Operation, @unchecked Sendable {
  // Invariant: the flag is atomic.
  private let hasEnded = Atomic<Bool>(false)

  override var isAsynchronous: Bool { true }
  override var isFinished: Bool { hasEnded.load(ordering: .acquiring) }
  // Not the default `start()`, which finishes the operation for the library too.
  override func start() { hasEnded.store(true, ordering: .releasing) }
}

extension Operation {
  fileprivate static func finished() -> Operation {
    let operation = Operation()
    operation.start()
    return operation
  }
}

private final class NotingQueue: OperationQueue, @unchecked Sendable {
  // Invariant: the log is constant and thread-safe itself.
  let added = EventLog<(operation: Operation, dependencies: Int)>()

  override func addOperation(_ op: Operation) {
    added.append((op, op.dependencies.count))
    super.addOperation(op)
  }
}
