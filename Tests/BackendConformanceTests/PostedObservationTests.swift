import Operations
import TestSupport
import Testing

/// Row 41: who observes a property that a subclass posts is called as in key-value observing.
@Suite("Observing what a subclass posts")
struct PostedObservationTests {
  /// What an observer saw, and on which thread.
  private struct Seen: Equatable, Sendable {
    let key: String
    let value: Bool
    let thread: UInt
  }

  private func observe(_ operation: Operation, _ log: EventLog<Seen>) -> [OperationObservation] {
    [
      operation.observe(\.isExecuting, options: [.new]) { _, change in
        log.append(Seen(key: "isExecuting", value: change.newValue!, thread: currentThread()))
      },
      operation.observe(\.isFinished, options: [.new]) { _, change in
        log.append(Seen(key: "isFinished", value: change.newValue!, thread: currentThread()))
      },
    ]
  }

  @Test("rows 41.3 and 41.4: on the posting thread, in order, each change once", arguments: allBackends)
  func inOrder(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<100 {
        let starter = Monitor<UInt>(0)
        let operation = StringKeyedOperation { _ in starter.with { $0 = currentThread() } }
        let log = EventLog<Seen>()
        let tokens = observe(operation, log)
        queue.addOperation(operation)
        guard starter.wait(until: { $0 != 0 }) else {
          throw TimedOut("the start", seconds: patience, file: #fileID, line: #line)
        }
        let finisher = try inTime("finish()") {
          operation.finish()
          return currentThread()
        }
        // Both were called before finish() returned: nothing is waited for here.
        #expect(
          log.events == [
            Seen(key: "isExecuting", value: true, thread: starter.value),
            Seen(key: "isExecuting", value: false, thread: finisher),
            Seen(key: "isFinished", value: true, thread: finisher),
          ])
        try queue.drainInTime()
        #expect(log.events.count == 3)
        for token in tokens { token.invalidate() }
      }
    }
  }

  @Test("rows 41.3 and 41.4: finished inside start(), both changes are seen", arguments: allBackends)
  func insideStart(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<100 {
        let operation = StringKeyedOperation { $0.finish() }
        let log = EventLog<Seen>()
        let tokens = observe(operation, log)
        queue.addOperation(operation)
        try queue.drainInTime()
        // The queue looks at once; the observers are told by the thread that posts.
        try log.wait(count: 3, "the observers")
        #expect(log.events.map(\.key) == ["isExecuting", "isExecuting", "isFinished"])
        #expect(log.events.map(\.value) == [true, false, true])
        for token in tokens { token.invalidate() }
      }
    }
  }

  @Test("row 41.3: option prior is called in willChangeValue", arguments: allBackends)
  func prior(backend: TestBackend) throws {
    let operation = Operation()
    let log = EventLog<String>()
    let token = operation.observe(\.isAsynchronous, options: [.prior]) { _, change in
      log.append(change.isPrior ? "prior" : "changed")
    }
    try backend.onWorker {
      operation.willChangeValue(forKey: "isAsynchronous")
      log.append("between")
      operation.didChangeValue(forKey: "isAsynchronous")
      log.append("after")
    }
    #expect(log.events == ["prior", "between", "changed", "after"])
    token.invalidate()
  }

  @Test("row 41.5: without new and old the property is not read, so its lock may be held", arguments: allBackends)
  func notRead(backend: TestBackend) throws {
    final class Locked: Operation, @unchecked Sendable {
      // Invariant: `value` is touched only under `lock`, which is not recursive.
      private let lock = UserLock()
      private var value = false
      var reentries: Int { lock.reentries }
      override var isFinished: Bool { lock.withLock { value } }
      override var isAsynchronous: Bool { true }
      override func start() {
        lock.withLock {
          willChangeValue(forKey: "isFinished")
          value = true
          didChangeValue(forKey: "isFinished")
        }
      }
    }
    try backend.withQueue { queue in
      let operation = Locked()
      let calls = Counter()
      let token = operation.observe(\.isFinished) { _, _ in calls.increment() }
      let before = operation.reentries
      queue.addOperation(operation)
      try queue.drainInTime()
      #expect(calls.value == 1 && operation.reentries == before)
      token.invalidate()
    }
  }

  @Test("row 41.2: the queue's own look does not wait behind work", arguments: allBackends)
  func notBehindWork(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let started = Gate()
      let operation = StringKeyedOperation { _ in started.open() }
      queue.addOperation(operation)
      try started.wait("the hand-written operation")
      // Bodies that compute until they are told to end: no worker comes free meanwhile.
      let end = SpinFlag()
      for _ in 0..<50 { queue.addOperation { end.spin() } }
      defer { end.set() }
      operation.finish()
      try operation.finishInTime("an operation that finished while every worker computes")
      #expect(!queue.operations.contains(operation))
    }
  }

  @Test("rows 35 and 41.2: isReady posted while every worker computes", arguments: allBackends)
  func readinessNotBehindWork(backend: TestBackend) throws {
    final class Held: Operation, @unchecked Sendable {
      // Invariant: a monitor synchronises itself.
      private let condition = Monitor(false)
      let asked = Gate()
      override var isReady: Bool {
        let answer = super.isReady && condition.value
        if answer { asked.open() }
        return answer
      }
      func become() {
        condition.with { $0 = true }
        didChangeValue(forKey: "isReady")
      }
    }
    try backend.withQueue(workers: 1) { queue in
      let held = Held()
      queue.addOperation(held)
      let end = SpinFlag()
      for _ in 0..<20 { queue.addOperation { end.spin() } }
      defer { end.set() }
      held.become()
      try held.asked.wait("isReady to be asked while every worker computes")
      end.set()
      try queue.drainInTime()
    }
  }
}
