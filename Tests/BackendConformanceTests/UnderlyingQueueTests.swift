import Dispatch
import Operations
import TestSupport
import Testing

/// Row 32: `underlyingQueue`, which puts a queue on the dispatch backend whatever it was made with.
@Suite("Underlying dispatch queues")
struct UnderlyingQueueTests {
  private let key = DispatchSpecificKey<String>()

  @Test("row 32: the getter returns the identical object, and operations run on it", arguments: allBackends)
  func concurrentQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let underlying = DispatchQueue(label: "underlying", attributes: .concurrent)
      underlying.setSpecific(key: key, value: "mine")
      queue.underlyingQueue = underlying
      #expect(queue.underlyingQueue === underlying)
      let seen = EventLog<String?>()
      let key = key
      for index in 0..<50 {
        let operation = BlockOperation { seen.append(DispatchQueue.getSpecific(key: key)) }
        if index.isMultiple(of: 7) { operation.queuePriority = .high }
        queue.addOperation(operation)
      }
      queue.addBarrierBlock { seen.append(DispatchQueue.getSpecific(key: key)) }
      try queue.drainInTime()
      #expect(seen.events == Array(repeating: "mine", count: 51))
    }
  }

  @Test(
    "row 32: a serial queue runs one at a time; OperationQueue.current is the operation queue",
    arguments: allBackends)
  func serialQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.underlyingQueue = DispatchQueue(label: "serial")
      let meter = ConcurrencyMeter()
      let current = Counter()
      for _ in 0..<200 {
        queue.addOperation {
          meter.measure { if OperationQueue.current === queue { current.increment() } }
        }
      }
      try queue.drainInTime()
      #expect(meter.maximum == 1 && meter.total == 200 && current.value == 200)
    }
  }

  @Test("row 32: set on an empty queue that was used before, suspended or limited", arguments: allBackends)
  func afterUse(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let ran = Counter()
      queue.addOperation { ran.increment() }
      try queue.drainInTime()
      let underlying = DispatchQueue(label: "second")
      underlying.setSpecific(key: key, value: "mine")
      queue.isSuspended = true
      queue.maxConcurrentOperationCount = 1
      queue.underlyingQueue = underlying
      let key = key
      queue.addOperation { if DispatchQueue.getSpecific(key: key) == "mine" { ran.increment() } }
      giveOthersAChance()
      #expect(ran.value == 1)
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(ran.value == 2)
    }
  }

  @Test("row 32: a queue on a pool has none", arguments: compensatingBackends)
  func none(backend: TestBackend) throws {
    try backend.withQueue { queue in #expect(queue.underlyingQueue == nil) }
    #expect(OperationQueue().underlyingQueue == nil)
  }

  @Test("row 32: a dispatch backend made for a queue, and the global queue")
  func dispatchBackendForAQueue() throws {
    let mine = DispatchQueue(label: "mine")
    mine.setSpecific(key: key, value: "mine")
    let key = key
    let queue = OperationQueue(backend: DispatchBackend(queue: mine))
    let seen = EventLog<String?>()
    for _ in 0..<20 { queue.addOperation { seen.append(DispatchQueue.getSpecific(key: key)) } }
    try queue.drainInTime()
    #expect(seen.events == Array(repeating: "mine", count: 20))
    let global = DispatchQueue.global()
    let other = OperationQueue()
    other.underlyingQueue = global
    #expect(other.underlyingQueue === global)
    let ran = Counter()
    for _ in 0..<100 { other.addOperation { ran.increment() } }
    try other.drainInTime()
    #expect(ran.value == 100)
  }

  @Test("rows 28 and 32: waiting inside an operation of a serial underlying queue for another queue")
  func waitInsideSerialQueue() throws {
    let queue = OperationQueue()
    queue.underlyingQueue = DispatchQueue(label: "serial")
    let other = OperationQueue()
    let ran = Counter()
    for _ in 0..<20 {
      queue.addOperation {
        let inner = BlockOperation { ran.increment() }
        other.addOperation(inner)
        inner.waitUntilFinished()
        ran.increment()
      }
    }
    try queue.drainInTime()
    #expect(ran.value == 40)
  }

  @Test("rows 28.5 and 32: what runs inside a wait ends before the wait, though the awaited operation is cancelled")
  func cancelledDuringTheWait() throws {
    let (queue, other) = (OperationQueue(), OperationQueue())
    queue.underlyingQueue = DispatchQueue(label: "serial")
    let order = EventLog<String>()
    queue.addOperation {
      let finished = Gate()
      let awaited = BlockOperation {}
      awaited.completionBlock = { finished.open() }
      // Only the waiting thread can run it.
      let dependency = BlockOperation {
        order.append("begins")
        awaited.cancel()
        if finished.pass() { order.append("ends") }
      }
      awaited.addDependency(dependency)
      queue.addOperation(dependency)
      other.addOperation(awaited)
      awaited.waitUntilFinished()
      order.append("goes on")
    }
    try queue.drainInTime()
    #expect(order.events == ["begins", "ends", "goes on"])
  }

  @Test(
    "rows 28.1 and 32: a wait in a serial dispatch queue for cancelled operations of the same queue",
    arguments: [true, false])
  func cancelledBehindTheWait(all: Bool) throws {
    let queue = OperationQueue()
    queue.underlyingQueue = DispatchQueue(label: "serial")
    let order = EventLog<String>()
    queue.addOperation {
      let behind = BlockOperation { order.append("dependent") }
      let cancelled = [
        BlockOperation { order.append("block") }, TaskOperation { order.append("task") },
        AsynchronousOperation {
          order.append("asynchronous")
          $0.finish()
        }, behind,
      ]
      behind.addDependency(cancelled[1])
      queue.addOperations(cancelled, waitUntilFinished: false)
      if all { queue.cancelAllOperations() } else { for operation in cancelled { operation.cancel() } }
      for operation in cancelled.reversed() { operation.waitUntilFinished() }
      order.append("goes on")
    }
    try queue.drainInTime()
    #expect(order.events == ["goes on"])
  }

  @Test("rows 20 and 32: what a dispatch queue has not started yet is still started by priority", arguments: [1, -1])
  func priorityOnASuspendedDispatchQueue(limit: Int) throws {
    let underlying = DispatchQueue(label: "held back")
    underlying.suspend()
    let queue = OperationQueue()
    queue.underlyingQueue = underlying
    queue.maxConcurrentOperationCount = limit
    let log = EventLog<String>()
    for (name, priority) in [("low", .low), ("normal", .normal), ("high", .high)]
      as [(String, Operation.QueuePriority)]
    {
      let operation = BlockOperation { log.append(name) }
      operation.queuePriority = priority
      queue.addOperation(operation)
    }
    underlying.resume()
    try queue.drainInTime()
    #expect(log.events == ["high", "normal", "low"])
  }
}
