import Operations
import TestSupport
import Testing

/// Rows 20 and 22: `addOperations`.
@Suite("Batches")
struct BatchTests {
  @Test("row 22: nothing of a batch starts before all of it is listed", arguments: allBackends, [-1, 2])
  func listedAtOnce(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      for _ in 0..<20 {
        let batch = Monitor<[Operation]>([])
        let missing = Counter()
        let operations = (0..<100).map { _ in
          CountingOperation { _ in
            let listed = Set(queue.operations)
            // An operation that is not listed must have finished: `isFinished` is asked after the list was taken.
            for operation in batch.value where !listed.contains(operation) && !operation.isFinished {
              missing.increment()
            }
          }
        }
        batch.with { $0 = operations }
        queue.addOperations(operations, waitUntilFinished: false)
        try queue.drainInTime()
        #expect(missing.value == 0)
        #expect(operations.allSatisfy { $0.mains.value == 1 })
        batch.with { $0 = [] }
      }
    }
  }

  @Test("row 22: another thread counts none of a batch or all of it", arguments: allBackends)
  func countJumps(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let partial = Counter()
      let stop = Gate()
      let watcherEnded = Gate()
      startThread {
        while !stop.isOpen {
          if !queue.operationCount.isMultiple(of: 50) { partial.increment() }
        }
        watcherEnded.open()
      }
      for _ in 0..<50 { queue.addOperations((0..<50).map { _ in Operation() }, waitUntilFinished: false) }
      stop.open()
      try watcherEnded.wait("the watching thread")
      #expect(partial.value == 0)
      #expect(queue.operationCount == 2_500)
      queue.isSuspended = false
      try queue.drainInTime()
    }
  }

  @Test("row 22: dependencies inside a batch in any order", arguments: allBackends)
  func dependenciesInside(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for seed in 0..<5 {
        let order = EventLog<Int>()
        let chain = (0..<100).map { index in BlockOperation { order.append(index) } }
        for (earlier, later) in zip(chain, chain.dropFirst()) { later.addDependency(earlier) }
        var generator = SeededGenerator(seed: UInt64(seed))
        queue.addOperations(chain.shuffled(using: &generator), waitUntilFinished: false)
        try queue.drainInTime()
        #expect(order.events == Array(0..<100))
      }
    }
  }

  @Test("row 22: bodies change later operations of a batch whose edges are still linked", arguments: allBackends)
  func changesFromInside(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<20 {
        let (extra, wrong, ran) = (Operation(), Counter(), Counter())
        let batch = Monitor<[Operation]>([])
        let operations = (0..<400).map { index in
          BlockOperation {
            ran.increment()
            let all = batch.value
            if index >= 16, !all[index - 16].isFinished, !all[index].isCancelled { wrong.increment() }
            if (350..<366).contains(index), !extra.isFinished { wrong.increment() }
            guard index < 16 else { return }
            all[index + 384].cancel()
            all[index + 300].queuePriority = .veryHigh
            all[index + 350].addDependency(extra)
            if index == 0 { queue.addOperation(extra) }
          }
        }
        for (earlier, later) in zip(operations, operations.dropFirst(16)) { later.addDependency(earlier) }
        // None of the others begins before all of the first 16 have changed what they change.
        for later in operations[16..<32] {
          for first in operations[..<16] { later.addDependency(first) }
        }
        batch.with { $0 = operations }
        queue.addOperations(operations, waitUntilFinished: false)
        try queue.drainInTime()
        #expect(wrong.value == 0 && operations.allSatisfy { $0.isFinished })
        #expect(ran.value == 400 - 16 && operations[384...].allSatisfy { $0.isCancelled })
        batch.with { $0 = [] }
      }
    }
  }

  @Test("row 22: a batch with cancelled, finished-dependency and asynchronous members", arguments: allBackends)
  func mixedMembers(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let cancelled = CountingOperation()
      cancelled.cancel()
      let finished = Operation()
      finished.start()
      let dependent = CountingOperation()
      dependent.addDependency(finished)
      dependent.addDependency(cancelled)
      let asynchronous = AsynchronousOperation { operation in startThread { operation.finish() } }
      try inTime("the batch") {
        queue.addOperations([dependent, asynchronous, cancelled], waitUntilFinished: true)
      }
      #expect(cancelled.mains.value == 0 && dependent.mains.value == 1 && asynchronous.isFinished)
    }
  }

  @Test("row 22: batches from many threads and from inside operations", arguments: allBackends)
  func manyThreads(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let ran = Counter()
      try onThreads(4, "four threads that add batches") { _ in
        for _ in 0..<20 {
          let inner: @Sendable () -> Void = {
            queue.addOperations((0..<5).map { _ in BlockOperation { ran.increment() } }, waitUntilFinished: false)
          }
          queue.addOperations((0..<5).map { _ in BlockOperation(block: inner) }, waitUntilFinished: false)
        }
      }
      try queue.drainInTime()
      #expect(ran.value == 4 * 20 * 25)
    }
  }

  @Test("row 22: the listing keeps the order of the batch", arguments: allBackends)
  func order(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let first = Operation()
      let batch = (0..<200).map { _ in Operation() }
      let last = Operation()
      queue.addOperation(first)
      queue.addOperations(batch, waitUntilFinished: false)
      queue.addOperation(last)
      #expect(queue.operations == [first] + batch + [last])
      queue.isSuspended = false
      try queue.drainInTime()
    }
  }

  /// Appends its number; the library asks a subclass whether it is ready, but not a plain operation.
  private final class Asked: Operation, @unchecked Sendable {
    // Invariant: constant.
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    override func main() { body() }
  }

  /// Subclasses and plain operations by turns.
  private func mixed(_ log: EventLog<Int>) -> [Operation] {
    (0..<8).map { index in
      index.isMultiple(of: 2) ? Asked { log.append(index) } : BlockOperation { log.append(index) }
    }
  }

  @Test("rows 20.1, 20.3 and 22: in the order of adding within a level, whatever their classes", arguments: allBackends)
  func mixedClasses(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let log = EventLog<Int>()
      queue.addOperations(mixed(log), waitUntilFinished: false)
      try queue.drainInTime()
      #expect(log.events == Array(0..<8))
    }
  }

  @Test(
    "rows 20.1 and 20.3: dependents of one operation in the order of adding, whatever their classes",
    arguments: allBackends)
  func mixedDependents(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let log = EventLog<Int>()
      let first = GatedOperation()
      let operations = mixed(log)
      for operation in operations { operation.addDependency(first) }
      queue.addOperations([first] + operations, waitUntilFinished: false)
      first.release.open()
      try queue.drainInTime()
      #expect(log.events == Array(0..<8))
    }
  }
}
