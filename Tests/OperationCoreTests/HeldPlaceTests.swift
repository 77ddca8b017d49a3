import TestSupport
import Testing

@testable import OperationCore
@testable import OperationJobs

/// The place of an operation that has finished, in a queue with a limit.
struct HeldPlaceTests {
  /// Does something whenever it gets a job, on the thread that submits.
  private final class ProbingBackend: Backend {
    let name = "probing"
    let workerCount = 1
    let held = HeldBackend()
    private let probe: @Sendable () -> Void

    init(_ probe: @escaping @Sendable () -> Void) { self.probe = probe }

    func submit(_ job: Job) {
      held.submit(job)
      probe()
    }
  }

  @Test func `nobody gets the place before the dependents that the finish releases are in the controller's lists`()
    throws
  {
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    queue.maxConcurrentOperationCount = 1
    let log = EventLog<String>()
    let probed = Counter()
    // Runs between the release of the first dependent and that of the second.
    let probing = ProbingBackend {
      probed.increment()
      queue.addOperation { log.append("added meanwhile") }
      _ = try? inTime("another thread that looks for jobs") { backend.runAll() }
    }
    let other = OperationQueue(backend: probing)
    other.maxConcurrentOperationCount = 1
    let first = BlockOperation { log.append("first") }
    let elsewhere = BlockOperation {}
    let urgent = BlockOperation { log.append("urgent") }
    urgent.queuePriority = .veryHigh
    for dependent in [elsewhere, urgent] { dependent.addDependency(first) }
    other.addOperation(elsewhere)
    queue.addOperations([urgent, first], waitUntilFinished: false)
    backend.runAll()
    probing.held.runAll()
    #expect(probed.value == 1 && log.events == ["first", "urgent", "added meanwhile"])
  }

  /// Adds an operation to the queue whose place is held, and waits for it, when it is asked whether it is ready.
  private final class WaitingOperation: Operation, @unchecked Sendable {
    // Sendable: constant after `init`; the counter synchronises itself.
    private let queue: OperationQueue
    let asked = Counter()

    init(_ queue: OperationQueue) {
      self.queue = queue
      super.init()
    }

    override var isReady: Bool {
      guard super.isReady else { return false }
      if asked.increment() == 1 {
        let inner = Gate()
        queue.addOperation { inner.open() }
        // Not a wait that the library knows of: nothing is handed over because of it.
        do { try inner.wait("the operation that needs the place") } catch { asked.increment() }
      }
      return true
    }
  }

  @Test(arguments: allBackends) func `user code that a finish calls may wait for an operation that needs the place`(
    _ backend: TestBackend
  ) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let first = BlockOperation {}
      let waiting = WaitingOperation(queue)
      waiting.addDependency(first)
      queue.addOperations([waiting, first], waitUntilFinished: false)
      try waiting.finishInTime()
      #expect(waiting.isFinished && waiting.asked.value == 1)
    }
  }

  @Test func `an operation that arrives while the place is taken gets the place at the next finish`() throws {
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    queue.maxConcurrentOperationCount = 1
    let log = EventLog<String>()
    queue.addOperation {
      // The place is taken: the backend gets nothing for these.
      for (name, priority) in [("low", Operation.QueuePriority.low), ("high", .high), ("second high", .high)] {
        let operation = BlockOperation { log.append(name) }
        operation.queuePriority = priority
        queue.addOperation(operation)
      }
      queue.addOperation { log.append("closure") }
      log.append("first")
    }
    backend.runAll()
    #expect(log.events == ["first", "high", "second high", "closure", "low"])
    #expect(queue.operationCount == 0)
  }

  @Test func `a queue that is resumed hands its operations to the backend, the most urgent first`() throws {
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    queue.isSuspended = true
    let log = EventLog<Int>()
    for index in 0..<40 {
      let operation = BlockOperation { log.append(index) }
      if index % 4 == 3 { operation.queuePriority = .veryHigh }
      queue.addOperation(operation)
    }
    #expect(backend.count == 0)
    queue.isSuspended = false
    #expect(backend.count == 40)
    // The controller has let go of them: a suspension catches those that have not started.
    queue.isSuspended = true
    backend.runAll()
    #expect(log.events.isEmpty && queue.operationCount == 40)
    queue.isSuspended = false
    backend.runAll()
    #expect(log.events == (0..<40).filter { $0 % 4 == 3 } + (0..<40).filter { $0 % 4 != 3 })
  }
}
