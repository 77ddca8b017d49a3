import Operations
import TestSupport
import Testing

/// Row 40: `cancelAllOperations`.
@Suite("Cancelling everything")
struct CancelAllTests {
  @Test("row 40: every operation is cancelled and none that waits runs main()", arguments: allBackends, [1, 2, -1])
  func everything(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      let running = GatedOperation()
      queue.addOperation(running)
      try running.started.wait("the first operation")
      let behind = (0..<100).map { _ in CountingOperation() }
      for operation in behind { operation.addDependency(running) }
      queue.addOperations(behind, waitUntilFinished: false)
      queue.cancelAllOperations()
      #expect(running.isCancelled && running.isExecuting)
      #expect(behind.allSatisfy { $0.isCancelled })
      running.release.open()
      try queue.drainInTime()
      #expect(behind.allSatisfy { $0.isFinished && $0.mains.value == 0 })
      for operation in behind { try operation.completions.wait(for: 1, "the completion block") }
      #expect(behind.allSatisfy { $0.completions.value == 1 && $0.starts.value == 1 })
    }
  }

  @Test("row 40: Foundation: step 2 never starts while step 1 is being cancelled", arguments: allBackends)
  func chains(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<50 {
        let cancelled = Gate()
        let late = Counter()
        let chains = (0..<20).map { _ in
          (0..<5).map { _ in
            CountingOperation { operation in
              if cancelled.isOpen && !operation.isCancelled { late.increment() }
            }
          }
        }
        for chain in chains {
          for (earlier, later) in zip(chain, chain.dropFirst()) { later.addDependency(earlier) }
        }
        let operations = Array(chains.joined())
        queue.addOperations(operations, waitUntilFinished: false)
        queue.cancelAllOperations()
        cancelled.open()
        let held = operations.filter { !$0.isExecuting && !$0.isFinished }
        try queue.drainInTime()
        #expect(late.value == 0)
        #expect(held.allSatisfy { $0.isCancelled && $0.mains.value == 0 })
        for chain in chains {
          // Once one was cancelled, none behind it ran.
          let ran = chain.map(\.mains.value)
          #expect(ran == ran.sorted(by: >))
        }
      }
    }
  }

  @Test(
    "row 40: against a thread that adds: everything added before the call is cancelled, nothing after is",
    arguments: allBackends)
  func racesWithAdding(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for round in 0..<30 {
        let operations = (0..<400).map { _ in CountingOperation() }
        let added = Counter()
        let called = Gate()
        startThread {
          for operation in operations {
            queue.addOperation(operation)
            added.increment()
          }
          called.open()
        }
        try added.wait(for: round * 5, "some operations")
        let before = added.value
        queue.cancelAllOperations()
        let held = operations.prefix(before).filter { !$0.isExecuting && !$0.isFinished }
        let uncancelled = operations.prefix(before).filter { !$0.isCancelled && !$0.isFinished }
        #expect(uncancelled.isEmpty)
        try called.wait("the adding thread")
        try queue.drainInTime()
        let late = held.filter { !$0.isCancelled || $0.mains.value != 0 }
        #expect(late.isEmpty)
        #expect(operations.allSatisfy { $0.isFinished && $0.starts.value == 1 })
        #expect(operations.allSatisfy { $0.mains.value == 1 || $0.isCancelled })
      }
    }
  }

  @Test("row 40: operations added after the call are untouched", arguments: allBackends, [1, -1])
  func addedAfter(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      for _ in 0..<300 {
        let before = CountingOperation()
        before.addDependency(Operation())
        queue.addOperation(before)
        let created = CountingOperation()
        queue.cancelAllOperations()
        let after = CountingOperation()
        queue.addOperations([created, after], waitUntilFinished: false)
        try queue.drainInTime()
        #expect(before.isCancelled && before.mains.value == 0)
        #expect(!after.isCancelled && after.mains.value == 1)
        #expect(!created.isCancelled && created.mains.value == 1)
      }
    }
  }

  @Test("row 40: operations that depend on cancelled ones but wait in another queue run", arguments: allBackends)
  func otherQueuesAreUntouched(backend: TestBackend) throws {
    try backend.withQueues { here, there in
      let cancelled = CountingOperation()
      cancelled.addDependency(Operation())
      let dependent = CountingOperation()
      dependent.addDependency(cancelled)
      here.addOperation(cancelled)
      there.addOperation(dependent)
      here.cancelAllOperations()
      try there.drainInTime()
      #expect(!dependent.isCancelled && dependent.mains.value == 1)
    }
  }

  @Test("rows 24 and 40: a suspended queue keeps what was cancelled until it is resumed", arguments: allBackends)
  func suspended(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let operations = (0..<50).map { _ in CountingOperation() }
      queue.addOperations(operations, waitUntilFinished: false)
      queue.cancelAllOperations()
      let after = CountingOperation()
      queue.addOperation(after)
      giveOthersAChance()
      #expect(operations.allSatisfy { $0.isCancelled && !$0.isFinished && $0.starts.value == 0 })
      #expect(queue.operationCount == 51)
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(operations.allSatisfy { $0.isFinished && $0.mains.value == 0 })
      #expect(after.mains.value == 1 && !after.isCancelled)
    }
  }

  @Test("row 40: from inside an operation of the queue", arguments: allBackends)
  func fromInside(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let after = CountingOperation()
      let canceller = CountingOperation { _ in
        queue.cancelAllOperations()
        queue.addOperation(after)
      }
      let behind = (0..<20).map { _ in CountingOperation() }
      queue.addOperations([canceller] + behind, waitUntilFinished: false)
      try queue.drainInTime()
      #expect(canceller.isCancelled && canceller.mains.value == 1)
      #expect(behind.allSatisfy { $0.mains.value == 0 })
      #expect(after.mains.value == 1)
    }
  }

  @Test("row 40: an overridden cancel() is called for each operation", arguments: allBackends, [1, -1])
  func overriddenCancel(backend: TestBackend, limit: Int) throws {
    /// As a download does that cancels its task.
    final class Download: Operation, @unchecked Sendable {
      let cancels = Counter()
      let task = Gate()
      override func cancel() {
        super.cancel()
        cancels.increment()
        task.open()
      }
      override func main() { task.pass() }
    }
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      // Often: some are claimed, and skipped, while the call is at work.
      for _ in 0..<30 {
        let downloads = (0..<4).map { _ in Download() }
        let plain = CountingOperation()
        plain.addDependency(downloads[3])
        queue.addOperations(downloads + [plain], waitUntilFinished: false)
        try eventually("one to start") { downloads.contains(where: \.isExecuting) }
        queue.cancelAllOperations()
        #expect(downloads.allSatisfy { $0.cancels.value == 1 && $0.isCancelled })
        try queue.drainInTime("downloads that end when they are cancelled")
        #expect(plain.mains.value == 0)
      }
    }
  }

  @Test("row 40: observers of isCancelled are told", arguments: allBackends)
  func observersAreTold(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let changes = EventLog<Bool>()
      let operations = (0..<10).map { _ in Operation() }
      for operation in operations { operation.addDependency(Operation()) }
      let tokens = operations.map { operation in
        operation.observe(\.isCancelled, options: [.new]) { _, change in changes.append(change.newValue!) }
      }
      queue.addOperations(operations, waitUntilFinished: false)
      queue.cancelAllOperations()
      try queue.drainInTime()
      try changes.wait(count: 10, "the changes of isCancelled")
      #expect(changes.events == Array(repeating: true, count: 10))
      for token in tokens { token.invalidate() }
    }
  }

  @Test("row 40: several threads cancel everything while others add", arguments: allBackends)
  func storm(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operations = (0..<2_000).map { _ in CountingOperation() }
      for (index, operation) in operations.enumerated() where index > 10 && index.isMultiple(of: 3) {
        operation.addDependency(operations[index - 7])
      }
      try race(
        "adding and cancelling",
        { for operation in operations.prefix(1_000) { queue.addOperation(operation) } },
        { for operation in operations.suffix(1_000) { queue.addOperation(operation) } },
        { for _ in 0..<100 { queue.cancelAllOperations() } },
        { for _ in 0..<100 { queue.cancelAllOperations() } })
      try queue.drainInTime()
      #expect(operations.allSatisfy { $0.isFinished && $0.starts.value == 1 && $0.mains.value <= 1 })
      #expect(operations.allSatisfy { $0.mains.value == 1 || $0.isCancelled })
      for operation in operations { try operation.completions.wait(for: 1, "a completion block") }
    }
  }

  @Test("row 40: an empty queue, twice", arguments: allBackends)
  func emptyQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.cancelAllOperations()
      queue.cancelAllOperations()
      let operation = CountingOperation()
      queue.addOperation(operation)
      try queue.drainInTime()
      #expect(operation.mains.value == 1 && !operation.isCancelled)
      queue.cancelAllOperations()
      #expect(!operation.isCancelled)
    }
  }

  // MARK: - Classes with a cancel() of their own

  /// Calls a closure in `cancel()`, before and after `super`.
  private final class OwnCancel: Operation, @unchecked Sendable {
    let mains = Counter()
    let cancels = Counter()
    private let cancelling: @Sendable (OwnCancel, () -> Void) -> Void

    init(_ cancelling: @escaping @Sendable (OwnCancel, () -> Void) -> Void) { self.cancelling = cancelling }

    override func cancel() {
      cancels.increment()
      cancelling(self) { super.cancel() }
    }

    override func main() { mains.increment() }
  }

  /// The published pattern: the guard keeps a second call out, and the task is stopped once.
  private final class GuardedTask: AsynchronousOperation, @unchecked Sendable {
    let stops = Counter()
    private let task = Monitor((running: false, stopped: false))

    override func main() {
      let isStopped = task.with {
        $0.running = true
        return $0.stopped
      }
      if isStopped { finish() }
    }

    override func cancel() {
      guard !isCancelled else { return }
      super.cancel()
      stops.increment()
      let isRunning = task.with {
        $0.stopped = true
        return $0.running
      }
      if isRunning { finish() }
    }
  }

  @Test("row 55: a guarded cancel() stops its task", arguments: allBackends, [2, -1])
  func guardedCancel(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      for _ in 0..<30 {
        let tasks = (0..<20).map { _ in GuardedTask() }
        queue.addOperations(tasks, waitUntilFinished: false)
        queue.cancelAllOperations()
        try queue.drainInTime("tasks that only their cancel() ends")
        #expect(tasks.allSatisfy { $0.isFinished && $0.isCancelled && $0.stops.value == 1 })
      }
    }
  }

  @Test("row 55: what cancel() does before super comes before the end", arguments: allBackends)
  func reasonBeforeSuper(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<30 {
        let withoutReason = Counter()
        let operations = (0..<40).map { _ in
          let reason = Gate()
          let operation = OwnCancel { _, callSuper in
            reason.open()
            callSuper()
          }
          operation.completionBlock = { [unowned operation] in
            if operation.isCancelled, !reason.isOpen { withoutReason.increment() }
          }
          return operation
        }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.cancelAllOperations()
        #expect(operations.allSatisfy { $0.isCancelled || $0.isFinished || $0.isExecuting })
        try queue.drainInTime()
        #expect(withoutReason.value == 0)
      }
    }
  }

  @Test("row 55: an operation whose cancel() does nothing runs", arguments: allBackends, [1, -1])
  func mustRun(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      let gate = GatedOperation()
      queue.addOperation(gate)
      let operations = (0..<20).map { _ in OwnCancel { _, _ in } }
      let behind = OwnCancel { _, _ in }
      behind.addDependency(operations[7])
      queue.addOperations(operations + [behind], waitUntilFinished: false)
      queue.isSuspended = true
      queue.cancelAllOperations()
      queue.isSuspended = false
      gate.release.open()
      try queue.drainInTime("operations that must run")
      for operation in operations + [behind] {
        #expect(operation.mains.value == 1 && operation.cancels.value <= 1 && !operation.isCancelled)
      }
    }
  }

  @Test("row 55: none starts before its cancel() has been called", arguments: allBackends)
  func heldUntilItsCancel(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<10 {
        let first = GatedOperation()
        queue.addOperation(first)
        try first.started.wait("the operation that others wait for")
        let early = Counter()
        let steps = (0..<30).map { _ in OwnCancel { _, callSuper in callSuper() } }
        for step in steps {
          step.addDependency(first)
          step.completionBlock = { [unowned step] in if step.cancels.value == 0 { early.increment() } }
        }
        // Ends the dependency of all, and gives the others time, in the middle of cancelling.
        let opening = OwnCancel { _, callSuper in
          first.release.open()
          giveOthersAChance()
          callSuper()
        }
        opening.addDependency(first)
        queue.addOperations([opening] + steps, waitUntilFinished: false)
        queue.cancelAllOperations()
        try queue.drainInTime()
        #expect(early.value == 0 && steps.allSatisfy { $0.mains.value == 0 && $0.isCancelled && $0.cancels.value == 1 })
      }
    }
  }

  @Test("row 55: a group hands cancelAllOperations on to its inner queue", arguments: allBackends)
  func group(backend: TestBackend) throws {
    try backend.withQueues { outer, inner in
      for _ in 0..<20 {
        inner.isSuspended = true
        let steps = (0..<10).map { _ in CountingOperation() }
        let group = AsynchronousOperation { group in
          let end = BlockOperation { group.finish() }
          steps.forEach(end.addDependency)
          inner.addOperations(steps + [end], waitUntilFinished: false)
        }
        let handsOn = OwnCancel { _, callSuper in
          inner.cancelAllOperations()
          callSuper()
        }
        outer.addOperation(group)
        try eventually("the steps to be added") { inner.operationCount == 11 }
        handsOn.addDependency(group)
        outer.addOperation(handsOn)
        outer.cancelAllOperations()
        #expect(steps.allSatisfy { $0.isCancelled })
        inner.isSuspended = false
        // The group's own last step was cancelled with the others.
        if !group.isFinished { group.finish() }
        try inner.drainInTime()
        try outer.drainInTime()
        #expect(steps.allSatisfy { $0.mains.value == 0 })
      }
    }
  }

  @Test("row 55: a cancel() may wait, for its own operation and for others", arguments: allBackends)
  func waitsInCancel(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<10 {
        let others = (0..<5).map { _ in OwnCancel { _, callSuper in callSuper() } }
        let after = OwnCancel { operation, callSuper in
          callSuper()
          operation.waitUntilFinished()
        }
        let before = OwnCancel { operation, callSuper in
          operation.waitUntilFinished()
          callSuper()
        }
        let forOthers = OwnCancel { _, callSuper in
          for other in others { other.waitUntilFinished() }
          callSuper()
        }
        queue.isSuspended = true
        queue.addOperations([after, before, forOthers] + others, waitUntilFinished: false)
        let gate = GatedOperation()
        gate.addDependency(Operation())
        for operation in [after, before, forOthers] + others { operation.addDependency(gate) }
        queue.isSuspended = false
        for operation in [after, before, forOthers] + others { operation.removeDependency(gate) }
        try inTime("cancelAllOperations() whose cancel() waits") { queue.cancelAllOperations() }
        try queue.drainInTime()
        #expect(others.allSatisfy { $0.isFinished && $0.cancels.value <= 1 })
      }
    }
  }

  @Test("row 55: a fork of a cancel() may wait for others that the same call cancels", arguments: compensatingBackends)
  func forksInCancel(backend: TestBackend) throws {
    try backend.withQueue(workers: 4) { queue in
      let others = (0..<5).map { _ in CountingOperation() }
      let forking = OwnCancel { [backend = queue.backend] _, callSuper in
        let began = Gate()
        backend.run {
          join({ began.pass() }) {
            began.open()
            for other in others { other.waitUntilFinished() }
          }
        }
        callSuper()
      }
      // What waits for dependencies is released last.
      let never = Operation()
      for operation in [forking] + others { operation.addDependency(never) }
      queue.addOperations([forking] + others, waitUntilFinished: false)
      try inTime("cancelAllOperations() whose cancel() forks") { queue.cancelAllOperations() }
      try queue.drainInTime()
      #expect(others.allSatisfy { $0.isFinished && $0.mains.value == 0 })
    }
  }

  @Test("row 55: two at once, against a thread that adds", arguments: allBackends)
  func twoAtOnce(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<20 {
        let operations = (0..<60).map { index in
          OwnCancel { _, callSuper in if index % 3 != 0 { callSuper() } }
        }
        try race(
          "two that cancel and one that adds",
          { for operation in operations { queue.addOperation(operation) } },
          { queue.cancelAllOperations() },
          { for _ in 0..<3 { queue.cancelAllOperations() } })
        try queue.drainInTime()
        for (index, operation) in operations.enumerated() {
          #expect(operation.isFinished)
          #expect(index % 3 == 0 ? operation.mains.value == 1 : operation.isCancelled || operation.mains.value == 1)
        }
      }
    }
  }
}
