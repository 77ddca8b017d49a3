import Operations
import Synchronization
import TestSupport
import Testing

/// Row 73: what is given where a queue or an operation is made.
@Suite("Making")
struct MakingTests {
  @Test("row 73: a queue has the name and the limit that it is made with", arguments: allBackends)
  func queues(backend: TestBackend) throws {
    try backend.withBackend { backend in
      let queue = OperationQueue(backend: backend, name: "pages", maxConcurrentOperationCount: 3)
      #expect(queue.name == "pages" && queue.maxConcurrentOperationCount == 3 && queue.backend === backend)
      let plain = OperationQueue(backend: backend)
      #expect(plain.name == nil && plain.maxConcurrentOperationCount == -1)
      #expect(OperationQueue(backend: backend, maxConcurrentOperationCount: 0).maxConcurrentOperationCount == 0)
      // The limit holds.
      let meter = ConcurrencyMeter()
      let narrow = OperationQueue(backend: backend, maxConcurrentOperationCount: 1)
      for _ in 0..<50 { narrow.addOperation { meter.measure { giveOthersAChance() } } }
      try narrow.drainInTime()
      #expect(meter.total == 50 && meter.maximum == 1)
    }
  }

  @Test("row 73: without a backend a queue is as OperationQueue() makes it")
  func defaults() {
    let queue = OperationQueue(name: "pages")
    #expect(queue.name == "pages" && queue.backend === OperationQueue().backend)
    #expect(OperationQueue(maxConcurrentOperationCount: 2).maxConcurrentOperationCount == 2)
  }

  private final class NotingQueue: OperationQueue, @unchecked Sendable {
    // Sendable: the log guards itself.
    let log = EventLog<String>()

    override var name: String? {
      get { super.name }
      set {
        log.append("name \(newValue ?? "nil")")
        super.name = newValue
      }
    }
    override var maxConcurrentOperationCount: Int {
      get { super.maxConcurrentOperationCount }
      set {
        log.append("limit \(newValue)")
        super.maxConcurrentOperationCount = newValue
      }
    }
  }

  @Test("row 73: a subclass sees its properties being set, and no others", arguments: allBackends)
  func subclasses(backend: TestBackend) throws {
    try backend.withBackend { backend in
      let queue = NotingQueue(backend: backend, name: "pages", maxConcurrentOperationCount: 3)
      #expect(queue.log.events == ["name pages", "limit 3"] && queue.name == "pages")
      #expect(NotingQueue(backend: backend).log.events.isEmpty && NotingQueue().log.events.isEmpty)
      #expect(NotingQueue(maxConcurrentOperationCount: 1).log.events == ["limit 1"])
    }
  }

  private final class Sub: BlockOperation, @unchecked Sendable {}

  @Test("row 73: operations have the names and priorities that they are made with", arguments: allBackends)
  func operations(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let first = BlockOperation(name: "block") {}
      let made: [Operation] = [
        first, BlockOperation(name: "behind", dependencies: [first]) {}, Sub(name: "subclass") {},
        AsynchronousOperation(name: "asynchronous") { $0.finish() }, TaskOperation(name: "task") {},
      ]
      #expect(made.map(\.name) == ["block", "behind", "subclass", "asynchronous", "task"])
      #expect(made[1].dependencies == [first] && made[2] is Sub)
      queue.addOperations(made, waitUntilFinished: false)
      let added = queue.addOperation(name: "added", priority: .high, dependencies: made) {}
      let task = queue.addTask(name: "added task", priority: .low, dependencies: [added]) { 1 }
      let named = queue.addOperation(name: "alone") {}
      #expect(added.name == "added" && added.queuePriority == .high && added.dependencies == made)
      #expect(task.name == "added task" && task.queuePriority == .low && task.dependencies == [added])
      #expect(named.name == "alone" && named.queuePriority == .normal && named.dependencies.isEmpty)
      #expect(queue.operations == made + [added, task, named])
      queue.isSuspended = false
      try queue.drainInTime()
    }
  }

  @Test("row 73: a task runs behind its dependencies, once", arguments: allBackends)
  func tasks(backend: TestBackend) throws {
    try backend.withQueues { queue, other in
      for count in [0, 1, 2, 7, 100] {
        other.isSuspended = true
        let dependencies = (0..<count).map { _ in BlockOperation {} }
        let (runs, early) = (Counter(), Counter())
        let operation = queue.addTask(dependencies: (dependencies + dependencies).lazy.map { $0 }) {
          runs.increment()
          if !dependencies.allSatisfy(\.isFinished) { early.increment() }
        }
        #expect(operation.dependencies == dependencies && operation.isReady == (count == 0))
        other.addOperations(dependencies, waitUntilFinished: false)
        giveOthersAChance()
        #expect(count == 0 || runs.value == 0)
        other.isSuspended = false
        try queue.drainInTime()
        #expect(runs.value == 1 && early.value == 0 && operation.isFinished)
      }
    }
  }

  @Test("row 73: a cancelled task waits for no dependency, and its body does not run", arguments: allBackends)
  func cancelledTask(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let never = BlockOperation {}
      let runs = Counter()
      let operation = queue.addTask(dependencies: [never]) { runs.increment() }
      queue.cancelAllOperations()
      try queue.drainInTime()
      #expect(runs.value == 0 && operation.isFinished && operation.result == nil)
    }
  }
}
