import TestSupport
import Testing

@testable import OperationCore
@testable import OperationJobs

/// Single interleavings of the lifecycle, one job after the other on one thread.
@Suite struct LifecycleTests {
  private let backend = HeldBackend()
  private let queue: OperationQueue
  private let log = EventLog<String>()

  init() { queue = OperationQueue(backend: backend) }

  private func block(_ name: String) -> BlockOperation {
    BlockOperation { [log] in log.append(name) }
  }

  /// Nobody but the caller holds the operation any more.
  private func expectLeft(_ operation: inout BlockOperation?) {
    #expect(operation?.queueWord.load(ordering: .relaxed) == 0)
    weak let left = operation
    operation = nil
    #expect(left == nil)
  }

  @Test func `added, run, gone`() {
    var operation: BlockOperation? = block("a")
    operation.map(queue.addOperation)
    #expect(backend.count == 1)
    #expect(queue.operations == [operation])
    backend.run()
    #expect(log.events == ["a"])
    #expect(queue.operationCount == 0)
    #expect(queue.operations == [])
    expectLeft(&operation)
  }

  @Test func `a dependency added to a scheduled operation takes the start back`() {
    var operation: BlockOperation? = block("a")
    operation.map(queue.addOperation)
    let dependency = block("dependency")
    operation?.addDependency(dependency)
    backend.runAll()
    #expect(log.events == [])
    #expect(operation?.isReady == false)
    dependency.start()
    #expect(backend.count == 1)
    backend.runAll()
    #expect(log.events == ["dependency", "a"])
    expectLeft(&operation)
  }

  @Test(arguments: [0, 1]) func `of two entries one starts it, whichever is met first`(first: Int) {
    var operation: BlockOperation? = block("a")
    operation.map(queue.addOperation)
    operation?.queuePriority = .high
    #expect(backend.priorities == [.high, .high])
    backend.run(at: first)
    // The intrusive entry is void; the one that was made for the move is not.
    #expect(log.events == (first == 0 ? [] : ["a"]))
    #expect(backend.count == 1)
    backend.run()
    #expect(log.events == ["a"])
    expectLeft(&operation)
  }

  @Test func `moved again and again, it still starts once`() {
    var operation: BlockOperation? = block("a")
    operation.map(queue.addOperation)
    for priority in [Operation.QueuePriority.high, .low, .veryHigh, .normal] { operation?.queuePriority = priority }
    backend.runAll()
    #expect(log.events == ["a"])
    expectLeft(&operation)
  }

  @Test func `an entry that a later move replaced starts nothing`() {
    var operation: BlockOperation? = block("a")
    operation.map(queue.addOperation)
    operation?.queuePriority = .high
    operation?.queuePriority = .low
    // The operation itself, whose level is its own; the entry at the level that it had; the one that counts.
    #expect(backend.priorities == [.low, .high, .low])
    backend.run(at: 1)
    #expect(log.events == [])
    backend.run(at: 1)
    #expect(log.events == ["a"])
    backend.runAll()
    expectLeft(&operation)
  }

  @Test func `suspended after it was handed to the backend, it waits for its queue`() {
    var operation: BlockOperation? = block("a")
    operation.map(queue.addOperation)
    queue.isSuspended = true
    backend.runAll()
    #expect(log.events == [])
    queue.isSuspended = false
    backend.runAll()
    #expect(log.events == ["a"])
    expectLeft(&operation)
  }

  @Test func `cancelled before its dependency finished, it is held until the dependency's edge is gone`() {
    let dependency = block("dependency")
    var operation: BlockOperation? = block("a")
    operation?.addDependency(dependency)
    operation.map(queue.addOperation)
    #expect(backend.count == 0)
    operation?.cancel()
    backend.runAll()
    #expect(operation?.isFinished == true)
    #expect(queue.operations == [])
    #expect(operation?.queueWord.load(ordering: .relaxed) != 0)
    dependency.start()
    #expect(log.events == ["dependency"])
    expectLeft(&operation)
  }

  @Test(arguments: [true, false])
  func `a dependency that goes unfinished gives back what its edges hold`(isRemoved: Bool) {
    var dependency: Operation? = Operation()
    var operation: BlockOperation? = block("a")
    dependency.map { operation?.addDependency($0) }
    operation.map(queue.addOperation)
    if isRemoved { dependency.map { operation?.removeDependency($0) } } else { operation?.cancel() }
    backend.runAll()
    #expect(operation?.isFinished == true)
    weak let gone = dependency
    dependency = nil
    // Handing the dependencies over may be a job of the default backend.
    #expect(throws: Never.self) { try eventually("the dependency to be released") { gone == nil } }
    expectLeft(&operation)
  }

  @Test func `a finish while the operation is being added waits until the queue lists it`() throws {
    let operation = AsynchronousOperation { _ in }
    operation.claimForQueue()
    let finished = Gate()
    startThread {
      operation.finish()
      finished.open()
    }
    giveOthersAChance()
    #expect(!operation.stateNow.has(StateWord.finished))
    let (sequence, isControlled) = queue.registry.takeNumbers(1)
    let ticket = queue.registry.ticket(sequence: sequence, isControlled: isControlled)
    _ = Unmanaged.passRetained(queue)
    operation.list(in: queue, ticket: ticket)
    try finished.wait("finish() to return")
    var batch = Handover()
    let isComplete = operation.becomeStartable(into: &batch, flag: ticket.flag)
    #expect(isComplete)
    batch.submit()
    backend.runAll()
    #expect(queue.operationCount == 0)
    #expect(queue.operations == [])
    #expect(operation.queueWord.load(ordering: .relaxed) == 0)
  }

  @Test func `dependents become ready in the order of linking, and the most urgent runs next on the same thread`() {
    let first = block("first")
    let priorities: [(String, Operation.QueuePriority)] = [
      ("low", .low), ("high", .high), ("normal", .normal), ("high 2", .high),
    ]
    for (name, priority) in priorities {
      let dependent = block(name)
      dependent.queuePriority = priority
      dependent.addDependency(first)
      queue.addOperation(dependent)
    }
    queue.addOperation(first)
    #expect(backend.count == 1)
    #expect(backend.run()?.priority == .high)
    #expect(backend.priorities == [.high, .low, .normal, .high])
    backend.runAll()
    #expect(log.events == ["first", "high", "low", "normal", "high 2"])
  }

  @Test func `no job hides behind a completion block`() {
    queue.maxConcurrentOperationCount = 1
    let first = block("first")
    let held = Counter()
    first.completionBlock = { [backend] in
      for _ in 0..<backend.count { held.increment() }
    }
    queue.addOperations([first, block("second")], waitUntilFinished: false)
    #expect(backend.count == 1)
    #expect(backend.run() == nil)
    #expect(held.value == 1)
    backend.runAll()
    #expect(log.events == ["first", "second"])
  }
}

extension Job: Equatable {
  public static func == (left: Job, right: Job) -> Bool { left.word == right.word }
}
