import Dispatch
import Operations
import TestSupport
import Testing

/// Row 26: `addBarrierBlock`.
@Suite("Barriers")
struct BarrierTests {
  /// What happened around barriers: numbers below 0 are barriers.
  private func check(_ queue: OperationQueue, segments: Int, perSegment: Int) throws {
    let meter = ConcurrencyMeter()
    let log = EventLog<(barrier: Bool, segment: Int, others: Int)>()
    for segment in 0..<segments {
      for index in 0..<perSegment {
        let operation = BlockOperation {
          meter.enter()
          log.append((false, segment, 0))
          meter.leave()
        }
        operation.queuePriority = index.isMultiple(of: 3) ? .veryHigh : index.isMultiple(of: 2) ? .low : .normal
        queue.addOperation(operation)
      }
      queue.addBarrierBlock {
        log.append((true, segment, meter.current))
        meter.measure {}
        if meter.current != 0 { log.append((true, segment, meter.current)) }
      }
    }
    try queue.drainInTime()
    let events = log.events
    #expect(events.count == segments * (perSegment + 1))
    for segment in 0..<segments {
      let slice = events.dropFirst(segment * (perSegment + 1)).prefix(perSegment + 1)
      #expect(slice.allSatisfy { $0.segment == segment && $0.others == 0 })
      #expect(slice.last?.barrier == true)
      #expect(slice.dropLast().allSatisfy { !$0.barrier })
    }
  }

  @Test("row 26: after all earlier operations, before all later ones, alone", arguments: allBackends)
  func segments(backend: TestBackend) throws {
    try backend.withQueue(workers: 4) { queue in
      for limit in [-1, 1, 3] {
        queue.maxConcurrentOperationCount = limit
        try check(queue, segments: 20, perSegment: 10)
        try check(queue, segments: 20, perSegment: 0)
        try check(queue, segments: 50, perSegment: 1)
      }
    }
  }

  @Test("row 26: Foundation: a barrier on an empty queue holds back what is added later", arguments: allBackends)
  func onAnEmptyQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let started = Gate()
      let release = Gate()
      queue.addBarrierBlock {
        started.open()
        release.pass()
      }
      let later = (0..<10).map { _ in CountingOperation() }
      later[3].queuePriority = .veryHigh
      queue.addOperations(later, waitUntilFinished: false)
      try started.wait("the barrier")
      giveOthersAChance()
      #expect(later.allSatisfy { $0.starts.value == 0 })
      release.open()
      try queue.drainInTime()
      #expect(later.allSatisfy { $0.mains.value == 1 })
    }
  }

  @Test("row 26: Foundation: a barrier on a global underlying queue")
  func onAGlobalQueue() throws {
    let queue = OperationQueue()
    queue.underlyingQueue = DispatchQueue.global()
    try check(queue, segments: 20, perSegment: 5)
  }

  @Test("row 26: waits for earlier operations that are not ready yet", arguments: allBackends)
  func waitsForUnreadyOperations(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let trigger = Operation()
      let log = EventLog<String>()
      let early = BlockOperation { log.append("early") }
      early.addDependency(trigger)
      queue.addOperation(early)
      queue.addBarrierBlock { log.append("barrier") }
      queue.addOperation { log.append("late") }
      giveOthersAChance()
      #expect(log.events == [])
      trigger.start()
      try queue.drainInTime()
      #expect(log.events == ["early", "barrier", "late"])
    }
  }

  @Test("row 26: waits for earlier asynchronous operations to finish", arguments: allBackends)
  func waitsForAsynchronousOperations(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let log = EventLog<String>()
      let operations = [AsynchronousOperation { _ in }, AsynchronousOperation { _ in }]
      let byHand = StringKeyedOperation { _ in }
      queue.addOperations(operations + [byHand], waitUntilFinished: false)
      queue.addBarrierBlock { log.append("barrier") }
      queue.addOperation { log.append("late") }
      try eventually("the three to start") { operations.allSatisfy(\.isExecuting) && byHand.isExecuting }
      operations[0].finish()
      byHand.finish()
      giveOthersAChance()
      #expect(log.events == [])
      operations[1].finish()
      try queue.drainInTime()
      #expect(log.events == ["barrier", "late"])
    }
  }

  @Test("row 26: honours suspension", arguments: allBackends)
  func suspension(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let log = EventLog<String>()
      queue.addBarrierBlock { log.append("first barrier") }
      queue.addOperation { log.append("operation") }
      queue.addBarrierBlock { log.append("second barrier") }
      giveOthersAChance()
      #expect(log.events == [])
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(log.events == ["first barrier", "operation", "second barrier"])
    }
  }

  @Test("row 26: suspended between an operation and the barrier behind it", arguments: allBackends)
  func suspendedBeforeTheBarrier(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let log = EventLog<String>()
      let running = GatedOperation()
      queue.addOperation(running)
      queue.addBarrierBlock { log.append("barrier") }
      try running.started.wait("the operation")
      queue.isSuspended = true
      running.release.open()
      try running.finishInTime()
      giveOthersAChance()
      #expect(log.events == [])
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(log.events == ["barrier"])
    }
  }

  @Test("row 26: waited for by waitUntilAllOperationsAreFinished", arguments: allBackends)
  func waitedFor(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<200 {
        let ran = Gate()
        queue.addOperation {}
        queue.addBarrierBlock { ran.open() }
        try queue.drainInTime()
        #expect(ran.isOpen)
        #expect(queue.operationCount == 0 && queue.operations.isEmpty)
      }
    }
  }

  @Test("row 26: cancelled by cancelAllOperations", arguments: allBackends)
  func cancelled(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let running = GatedOperation()
      queue.addOperation(running)
      let barrier = Gate()
      queue.addBarrierBlock { barrier.open() }
      queue.addOperation { barrier.open() }
      try running.started.wait("the operation")
      queue.cancelAllOperations()
      let later = CountingOperation()
      queue.addOperation(later)
      running.release.open()
      try queue.drainInTime()
      #expect(!barrier.isOpen)
      #expect(later.mains.value == 1)
    }
  }

  @Test("row 26: earlier operations that were cancelled do not hold it up", arguments: allBackends)
  func earlierOperationsCancelled(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let waiting = CountingOperation()
      waiting.addDependency(Operation())
      let log = EventLog<String>()
      queue.addOperation(waiting)
      queue.addBarrierBlock { log.append("barrier") }
      queue.addOperation { log.append("late") }
      giveOthersAChance()
      #expect(log.events == [])
      waiting.cancel()
      try queue.drainInTime()
      #expect(log.events == ["barrier", "late"])
    }
  }

  @Test(
    "row 26: an earlier operation that depends on a later one is a deadlock that cancelling resolves",
    arguments: allBackends)
  func dependencyAcrossTheBarrier(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let early = CountingOperation()
      let late = CountingOperation()
      early.addDependency(late)
      let barrier = Counter()
      queue.addOperation(early)
      queue.addBarrierBlock { barrier.increment() }
      queue.addOperation(late)
      giveOthersAChance()
      #expect(late.starts.value == 0 && barrier.value == 0)
      early.cancel()
      try queue.drainInTime()
      #expect(early.mains.value == 0 && late.mains.value == 1 && barrier.value == 1)
    }
  }

  @Test("row 26: added from inside an operation, it waits for that operation", arguments: allBackends)
  func addedFromInside(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let log = EventLog<String>()
      queue.addOperation {
        queue.addBarrierBlock { log.append("barrier") }
        queue.addOperation { log.append("late") }
        giveOthersAChance()
        log.append("outer")
      }
      try queue.drainInTime()
      #expect(log.events == ["outer", "barrier", "late"])
    }
  }

  @Test("row 26: several threads add operations and barriers: every barrier is alone", arguments: allBackends)
  func manyThreads(backend: TestBackend) throws {
    try backend.withQueue(workers: 4) { queue in
      let meter = ConcurrencyMeter()
      let barriers = Counter()
      let crowded = Counter()
      try onThreads(4, "four threads that add") { thread in
        for index in 0..<200 {
          if index % 10 == thread {
            queue.addBarrierBlock {
              if meter.current != 0 { crowded.increment() }
              meter.measure { if meter.current != 1 { crowded.increment() } }
              barriers.increment()
            }
          } else {
            queue.addOperation { meter.measure { for _ in 0..<20 { _ = currentThread() } } }
          }
        }
      }
      try queue.drainInTime()
      #expect(crowded.value == 0)
      #expect(barriers.value == 80 && meter.total == 800)
    }
  }

  @Test("row 26: a barrier that waits for an operation of another queue", arguments: allBackends)
  func barrierThatWaits(backend: TestBackend) throws {
    try backend.withQueues(workers: 1) { queue, other in
      let log = EventLog<String>()
      queue.addBarrierBlock {
        let operation = BlockOperation { log.append("inner") }
        other.addOperation(operation)
        operation.waitUntilFinished()
        log.append("barrier")
      }
      queue.addOperation { log.append("late") }
      try queue.drainInTime()
      #expect(log.events == ["inner", "barrier", "late"])
    }
  }
}
