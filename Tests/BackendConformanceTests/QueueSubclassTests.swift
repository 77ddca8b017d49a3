import Operations
import TestSupport
import Testing

/// Row 42: subclasses of `OperationQueue`.
@Suite("Queue subclasses")
struct QueueSubclassTests {
  private final class LoggingQueue: OperationQueue, @unchecked Sendable {
    let log = EventLog<String>()

    override func addOperation(_ operation: Operation) {
      log.append("add")
      super.addOperation(operation)
    }
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      log.append("block")
      super.addOperation(block)
    }
    override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
      log.append("batch")
      super.addOperations(operations, waitUntilFinished: wait)
    }
    override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
      log.append("barrier")
      super.addBarrierBlock(barrier)
    }
    override func cancelAllOperations() {
      log.append("cancel")
      super.cancelAllOperations()
    }
    override func waitUntilAllOperationsAreFinished() {
      log.append("wait")
      super.waitUntilAllOperationsAreFinished()
    }
    override var operations: [Operation] {
      log.append("operations")
      return super.operations
    }
    override var operationCount: Int {
      log.append("count")
      return super.operationCount
    }
    override var maxConcurrentOperationCount: Int {
      get { super.maxConcurrentOperationCount }
      set {
        log.append("limit")
        super.maxConcurrentOperationCount = newValue
      }
    }
    override var isSuspended: Bool {
      get { super.isSuspended }
      set {
        log.append("suspend")
        super.isSuspended = newValue
      }
    }
    override var name: String? {
      get { super.name.map { "logging " + $0 } }
      set { super.name = newValue }
    }
    override var qualityOfService: QualityOfService {
      get { super.qualityOfService }
      set {
        log.append("quality")
        super.qualityOfService = newValue
      }
    }
  }

  /// As in tutorials: a queue configured in its initialiser.
  private final class SerialQueue: OperationQueue, @unchecked Sendable {
    override init() {
      super.init()
      maxConcurrentOperationCount = 1
      name = "serial"
      qualityOfService = .utility
    }

    convenience init(named name: String) {
      self.init()
      self.name = name
    }
  }

  @Test("row 42: every open member may be overridden and still works", arguments: allBackends)
  func overrides(backend: TestBackend) throws {
    try backend.withBackend { backend in
      let queue = LoggingQueue(backend: backend)
      let ran = Counter()
      queue.isSuspended = true
      queue.maxConcurrentOperationCount = 2
      queue.qualityOfService = .utility
      queue.name = "queue"
      queue.addOperation(BlockOperation { ran.increment() })
      queue.addOperations([BlockOperation { ran.increment() }], waitUntilFinished: false)
      queue.addBarrierBlock { ran.increment() }
      #expect(queue.operations.count >= 2)
      #expect(queue.operationCount >= 2)
      #expect(queue.name == "logging queue")
      queue.isSuspended = false
      try queue.drainInTime()
      queue.cancelAllOperations()
      #expect(ran.value == 3)
      let expected = [
        "suspend", "limit", "quality", "add", "batch", "barrier", "operations", "count", "wait", "cancel",
      ]
      #expect(Set(queue.log.events).isSuperset(of: expected))
      #expect(!queue.log.events.contains("block"))
    }
  }

  @Test("row 42: addOperation of a block goes through the overridden addOperation", arguments: allBackends)
  func blocksGoThroughTheOverride(backend: TestBackend) throws {
    try backend.withBackend { backend in
      let queue = LoggingQueue(backend: backend)
      let ran = Counter()
      queue.addOperation { ran.increment() }
      try queue.drainInTime()
      #expect(ran.value == 1)
      #expect(queue.log.events.filter { $0 == "block" || $0 == "add" } == ["block", "add"])
    }
  }

  @Test("row 42: a batch does not go through addOperation, as in Foundation", arguments: allBackends)
  func batchesDoNot(backend: TestBackend) throws {
    try backend.withBackend { backend in
      let queue = LoggingQueue(backend: backend)
      queue.addOperations([Operation(), Operation()], waitUntilFinished: false)
      try queue.drainInTime()
      #expect(!queue.log.events.contains("add"))
    }
  }

  @Test("row 42: the overridden initialiser and convenience initialisers")
  func initialisers() throws {
    let queue = SerialQueue(named: "downloads")
    #expect(queue.name == "downloads" && queue.maxConcurrentOperationCount == 1)
    #expect(queue.qualityOfService == .utility)
    let meter = ConcurrencyMeter()
    for _ in 0..<100 { queue.addOperation { meter.measure {} } }
    try queue.drainInTime()
    #expect(meter.maximum == 1 && meter.total == 100)
    #expect(SerialQueue().name == "serial")
  }

  @Test("row 42: OperationQueue.current is the subclass instance", arguments: allBackends)
  func current(backend: TestBackend) throws {
    try backend.withBackend { backend in
      let queue = LoggingQueue(backend: backend)
      let isSubclass = Counter()
      queue.addOperation { if OperationQueue.current is LoggingQueue { isSubclass.increment() } }
      try queue.drainInTime()
      #expect(isSubclass.value == 1)
    }
  }

  @Test("row 42: a waiting operation of a subclass is released with it", arguments: allBackends)
  func subclassIsDeallocated(backend: TestBackend) throws {
    final class Tracked: OperationQueue, @unchecked Sendable { var token: LifetimeTracker.Token? }
    try backend.withBackend { backend in
      let tracker = LifetimeTracker()
      let ran = Counter()
      for _ in 0..<20 {
        let queue = Tracked(backend: backend)
        queue.token = tracker.token()
        queue.addOperation { ran.increment() }
      }
      try ran.wait(for: 20, "the operations")
      try tracker.waitUntilAllReleased("the queues")
    }
  }

  @Test("row 71: addBarrier(_:) runs its operation alone, and a subclass sees every barrier", arguments: allBackends)
  func barriers(backend: TestBackend) async throws {
    final class Sees: OperationQueue, @unchecked Sendable {
      // Invariant: a counter synchronises itself.
      let barriers = Counter()

      override func addBarrier(_ op: Operation) {
        barriers.increment()
        super.addBarrier(op)
      }
    }
    try await AsynchronousTest.run {
      let queue = Sees(backend: backend.leftRunning())
      let log = EventLog<String>()
      for _ in 1...3 { queue.addOperation { log.append("before") } }
      queue.addBarrier(BlockOperation { log.append("operation") })
      queue.addBarrierBlock { log.append("block") }
      queue.addOperation { log.append("between") }
      try await queue.barrier { log.append("body") }
      #expect(log.events == ["before", "before", "before", "operation", "block", "between", "body"])
      #expect(queue.barriers.value == 3)
    }
  }
}
