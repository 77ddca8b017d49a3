import Operations
import TestSupport
import Testing

/// Rows 12 and 33: who holds what, and until when.
@Suite("Lifetimes")
struct LifetimeTests {
  @Test("row 12: Foundation: an operation captured by its own execution block does not leak", arguments: allBackends)
  func capturedByItsBlock(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for count in 1...3 {
        let token = tracker.token()
        let operation = BlockOperation()
        for _ in 0..<count { operation.addExecutionBlock { withExtendedLifetime((operation, token)) {} } }
        queue.addOperation(operation)
        let manual = BlockOperation()
        manual.addExecutionBlock { withExtendedLifetime((manual, token)) {} }
        manual.start()
      }
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("operations captured by their own blocks")
    }
  }

  @Test("row 12: Foundation: an operation captured by its own completion block does not leak", arguments: allBackends)
  func capturedByItsCompletionBlock(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for _ in 0..<10 {
        let operations = [TrackedOperation(tracker), TrackedOperation(tracker), TrackedOperation(tracker)]
        for operation in operations { operation.completionBlock = { withExtendedLifetime(operation) {} } }
        operations[1].cancel()
        queue.addOperations(Array(operations.prefix(2)), waitUntilFinished: false)
        operations[2].start()
      }
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("operations captured by their own completion blocks")
    }
  }

  @Test("row 12: a cancelled operation releases the block it never ran", arguments: allBackends)
  func cancelledReleasesItsBlock(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for _ in 0..<10 {
        let token = tracker.token()
        let operation = BlockOperation()
        operation.addExecutionBlock { withExtendedLifetime((operation, token)) {} }
        operation.addDependency(Operation())
        queue.addOperation(operation)
        operation.cancel()
      }
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("cancelled operations captured by their own blocks")
    }
  }

  @Test("row 12: blocks are released after they ran, although the operation lives on", arguments: allBackends)
  func blocksAreReleased(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      let operations = (0..<10).map { _ in
        let token = tracker.token()
        let operation = BlockOperation { withExtendedLifetime(token) {} }
        operation.completionBlock = { withExtendedLifetime(token) {} }
        return operation
      }
      queue.addOperations(operations, waitUntilFinished: false)
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("what the blocks captured")
      #expect(operations.allSatisfy { $0.isFinished })
    }
  }

  @Test("row 12: a block given to addOperation is released after it ran; so is a barrier", arguments: allBackends)
  func plainBlocks(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for _ in 0..<100 {
        let token = tracker.token()
        queue.addOperation { withExtendedLifetime(token) {} }
        queue.addBarrierBlock { withExtendedLifetime(token) {} }
      }
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("what the blocks captured")
    }
  }

  @Test("row 12: finished, cancelled, dependent and unstarted operations are released", arguments: allBackends)
  func operationsAreReleased(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      var operations: [TrackedOperation] = []
      for index in 0..<500 {
        let operation = TrackedOperation(tracker)
        for back in [1, 3, 7] where index >= back { operation.addDependency(operations[index - back]) }
        if index.isMultiple(of: 5) { operation.cancel() }
        operations.append(operation)
      }
      queue.addOperations(operations, waitUntilFinished: false)
      operations[250].cancel()
      operations = (0..<10).map { _ in TrackedOperation(tracker) }
      operations[1].addDependency(operations[0])
      operations = []
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("500 operations")
    }
  }

  @Test("row 33: work pending when the queue variable is released runs, then the queue goes", arguments: allBackends)
  func queueReleasedWithWork(backend: TestBackend) throws {
    try backend.withBackend { backend in
      for limit in [1, -1] {
        let ran = Counter()
        let hadQueue = Counter()
        let release = Gate()
        weak var released: OperationQueue?
        do {
          let queue = OperationQueue(backend: backend)
          released = queue
          queue.maxConcurrentOperationCount = limit
          queue.addOperation { release.pass() }
          for _ in 0..<100 {
            queue.addOperation {
              if OperationQueue.current != nil { hadQueue.increment() }
              ran.increment()
            }
          }
          queue.addBarrierBlock { ran.increment() }
          queue.addOperation { ran.increment() }
        }
        release.open()
        try ran.wait(for: 102, "the work of a queue that was released")
        #expect(hadQueue.value == 100)
        try eventually("the queue to be deallocated") { released == nil }
      }
    }
  }

  @Test("row 33: a queue released while its operations wait for a dependency elsewhere", arguments: allBackends)
  func queueReleasedWithDependencies(backend: TestBackend) throws {
    try backend.withBackend { backend in
      let trigger = Operation()
      let asynchronous = AsynchronousOperation { _ in }
      let ran = Counter()
      weak var released: OperationQueue?
      do {
        let queue = OperationQueue(backend: backend)
        released = queue
        for index in 0..<20 {
          let operation = BlockOperation { ran.increment() }
          operation.addDependency(index.isMultiple(of: 2) ? trigger : asynchronous)
          queue.addOperation(operation)
        }
        queue.addOperation(asynchronous)
      }
      giveOthersAChance()
      #expect(ran.value == 0)
      trigger.start()
      try ran.wait(for: 10, "the operations that waited for the trigger")
      try eventually("the asynchronous operation to start") { asynchronous.isExecuting }
      asynchronous.finish()
      try ran.wait(for: 20, "the operations of a queue that was released")
      try eventually("the queue to be deallocated") { released == nil }
    }
  }

  @Test("row 33: an idle queue is deallocated at once, also from inside its last operation", arguments: allBackends)
  func idleQueue(backend: TestBackend) throws {
    try backend.withBackend { backend in
      for _ in 0..<100 {
        weak var idle: OperationQueue?
        do {
          let queue = OperationQueue(backend: backend)
          queue.name = "idle"
          idle = queue
        }
        #expect(idle == nil)
        weak var used: OperationQueue?
        let holder = Monitor<OperationQueue?>(OperationQueue(backend: backend))
        used = holder.value
        holder.value?.addOperation { holder.with { $0 = nil } }
        try eventually("the queue whose last reference an operation dropped") { used == nil }
      }
    }
  }

  private final class QueueWithAnEnd: OperationQueue, @unchecked Sendable {
    // Sendable: `atEnd` is set before the queue is shared.
    private let atEnd: @Sendable () -> Void

    init(on backend: any Backend, atEnd: @escaping @Sendable () -> Void) {
      self.atEnd = atEnd
      super.init(backend: backend)
    }

    deinit { atEnd() }
  }

  @Test("row 33: a queue's end, on a worker, may wait for an operation that is added later", arguments: allBackends)
  func endThatWaits(backend: TestBackend) throws {
    try backend.withBackend { backend in
      for _ in 0..<20 {
        let isRunning = Gate()
        let mayReturn = Gate()
        let isEnding = Gate()
        let mayEnd = Gate()
        let hasEnded = Gate()
        // A test that fails must not leave a thread waiting.
        defer { mayEnd.open() }
        do {
          let queue = QueueWithAnEnd(on: backend) {
            isEnding.open()
            if mayEnd.pass() { hasEnded.open() }
          }
          queue.addOperation {
            isRunning.open()
            mayReturn.pass()
          }
          try isRunning.wait("the queue's only operation")
        }
        mayReturn.open()
        try isEnding.wait("the end of the queue")
        let other = OperationQueue(backend: backend)
        other.addOperation { mayEnd.open() }
        try hasEnded.wait("the end that waited for an operation of another queue")
        try other.drainInTime()
      }
    }
  }

  @Test("row 33: backend and queue released with work pending", arguments: allBackends)
  func backendReleased(backend: TestBackend) throws {
    let ran = Counter()
    try backend.withQueue { queue in
      for _ in 0..<100 { queue.addOperation { ran.increment() } }
    }
    try ran.wait(for: 100, "the work of a backend that was shut down")
  }
}
