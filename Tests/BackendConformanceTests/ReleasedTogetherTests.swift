import Operations
import TestSupport
import Testing

/// Row 20: what becomes ready together is ordered together, exactly where one runs at a time.
@Suite("Order of what becomes ready together")
struct ReleasedTogetherTests {
  private static let rounds = 200
  private static let priorities: [Operation.QueuePriority] = [.normal, .low, .veryHigh, .veryLow]
  private static let expected: [Operation.QueuePriority] = [.veryHigh, .normal, .low, .veryLow]

  /// An operation that appends its priority to the log; a subclass, which is asked whether it is ready.
  private final class Logging: Operation, @unchecked Sendable {
    // Invariant: constant.
    private let log: EventLog<QueuePriority>
    init(_ log: EventLog<QueuePriority>) { self.log = log }
    override func main() { log.append(queuePriority) }
  }

  private func logging(
    _ log: EventLog<Operation.QueuePriority>, subclass: Bool
  ) -> [Operation] {
    Self.priorities.map { priority in
      let operation = subclass ? Logging(log) : BlockOperation { log.append(priority) }
      operation.queuePriority = priority
      return operation
    }
  }

  /// Rounds in which the order was another one.
  private func check(
    on backend: TestBackend, subclass: Bool, _ what: String,
    _ add: (OperationQueue, [Operation], Int) throws -> Void
  ) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      var wrong: [[Operation.QueuePriority]] = []
      for round in 0..<Self.rounds {
        let log = EventLog<Operation.QueuePriority>()
        try add(queue, logging(log, subclass: subclass), round)
        try queue.drainInTime()
        if log.events != Self.expected { wrong.append(log.events) }
      }
      #expect(wrong.isEmpty, "\(what): \(wrong.count) of \(Self.rounds) rounds, the first \(wrong.first ?? [])")
    }
  }

  @Test("row 20.3: a batch", arguments: allBackends, [false, true])
  func batch(backend: TestBackend, subclass: Bool) throws {
    try check(on: backend, subclass: subclass, "a batch") { queue, operations, _ in
      queue.addOperations(operations, waitUntilFinished: false)
    }
  }

  @Test("row 20.3: the dependents of one operation", arguments: allBackends, [false, true])
  func dependents(backend: TestBackend, subclass: Bool) throws {
    try check(on: backend, subclass: subclass, "dependents") { queue, operations, _ in
      let dependency = GatedOperation()
      for operation in operations { operation.addDependency(dependency) }
      queue.addOperations(operations + [dependency], waitUntilFinished: false)
      dependency.release.open()
    }
  }

  @Test("row 20.3: the dependents of one operation in another queue", arguments: allBackends, [false, true])
  func dependentsAcrossQueues(backend: TestBackend, subclass: Bool) throws {
    let other = OperationQueue(backend: .stealing)
    try check(on: backend, subclass: subclass, "dependents of an operation elsewhere") { queue, operations, _ in
      let dependency = GatedOperation()
      for operation in operations { operation.addDependency(dependency) }
      queue.addOperations(operations, waitUntilFinished: false)
      other.addOperation(dependency)
      dependency.release.open()
    }
  }

  @Test("row 20.3: the dependents of an asynchronous operation", arguments: allBackends, [false, true])
  func dependentsOfAnAsynchronousOperation(backend: TestBackend, subclass: Bool) throws {
    try check(on: backend, subclass: subclass, "dependents of an asynchronous one") { queue, operations, _ in
      let dependency = AsynchronousOperation { operation in startThread { operation.finish() } }
      for operation in operations { operation.addDependency(dependency) }
      queue.addOperations(operations + [dependency], waitUntilFinished: false)
    }
  }

  @Test("row 20.3: the dependents of a hand-written asynchronous operation", arguments: allBackends, [false, true])
  func dependentsOfAHandWrittenOperation(backend: TestBackend, subclass: Bool) throws {
    try check(on: backend, subclass: subclass, "dependents of a hand-written one") { queue, operations, _ in
      let dependency = StringKeyedOperation { operation in startThread { operation.finish() } }
      for operation in operations { operation.addDependency(dependency) }
      queue.addOperations(operations + [dependency], waitUntilFinished: false)
    }
  }

  @Test(
    "row 20.4: a dependent that is more urgent than what waits gets the place", arguments: allBackends, [false, true])
  func dependentBeforeLessUrgent(backend: TestBackend, subclass: Bool) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      for round in 0..<Self.rounds {
        let log = EventLog<Operation.QueuePriority>()
        let dependency = GatedOperation()
        let operations = logging(log, subclass: subclass)
        // The most urgent one waits for the dependency; the others are ready before.
        operations[2].addDependency(dependency)
        queue.addOperation(dependency)
        queue.addOperations(operations, waitUntilFinished: false)
        dependency.release.open()
        try queue.drainInTime()
        #expect(log.events == Self.expected, "round \(round)")
      }
    }
  }

  @Test("row 20: a ticket follows what became more urgent", arguments: allBackends.filter(\.isOrdered))
  func ticketsFollowTheMostUrgent(backend: TestBackend) throws {
    try backend.withQueues(workers: 1) { limited, others in
      limited.maxConcurrentOperationCount = 1
      let log = EventLog<String>()
      let busy = SpinningOperation()
      others.addOperation(busy)
      try busy.started.wait("the worker to be busy")
      func add(_ name: String, _ priority: Operation.QueuePriority, to queue: OperationQueue) {
        let operation = BlockOperation { log.append(name) }
        operation.queuePriority = priority
        queue.addOperation(operation)
      }
      add("veryLow", .veryLow, to: limited)
      for _ in 0..<5 { add("normal", .normal, to: others) }
      add("veryHigh", .veryHigh, to: limited)
      busy.release.set()
      try others.drainInTime()
      try limited.drainInTime()
      #expect(log.events == ["veryHigh"] + Array(repeating: "normal", count: 5) + ["veryLow"])
    }
  }
}
