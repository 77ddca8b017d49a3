import Operations
import TestSupport
import Testing

/// Row 47: why an operation does not start, and what keeps a queue from going on.
@Suite("Diagnosis")
struct DiagnosisTests {
  private func named(_ name: String, _ body: @escaping @Sendable () -> Void = {}) -> BlockOperation {
    let operation = BlockOperation(block: body)
    operation.name = name
    return operation
  }

  @Test("row 47: in no queue, executing, finished", arguments: allBackends)
  func stages(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.name = "stages"
      let operation = GatedOperation()
      operation.name = "gated"
      #expect(operation.whyNotStarted().reasons == [.notInAQueue])
      #expect(operation.whyNotStarted().queue == nil)
      queue.addOperation(operation)
      try operation.started.wait("the operation")
      #expect(operation.whyNotStarted().reasons == [.executing(since: nil)])
      #expect(operation.whyNotStarted().queue?.contains("stages") == true)
      operation.release.open()
      try queue.drainInTime()
      #expect(operation.whyNotStarted().reasons == [.finished])
      #expect(operation.debugDescription.contains("gated") && operation.debugDescription.contains("has finished"))
    }
  }

  @Test("row 47: a forgotten finish() is shown, with its time and a hint", arguments: allBackends)
  func forgottenFinish(backend: TestBackend) throws {
    final class Posts: Operation, @unchecked Sendable {
      // Invariant: synchronises itself.
      let isDone = Monitor(false)
      override var isExecuting: Bool { !isDone.value }
      override var isFinished: Bool { isDone.value }
      override func start() { didChangeValue(for: \.isExecuting) }
    }
    try backend.withQueue { queue in
      let begun = Gate()
      let forgotten = AsynchronousOperation { _ in begun.open() }
      let posts = Posts()
      let behind = named("behind")
      for dependency in [forgotten, posts] { behind.addDependency(dependency) }
      queue.addOperations([forgotten, posts, behind], waitUntilFinished: false)
      try begun.wait("the start")
      let time = forgotten.whyNotStarted().reasons.first
      if case .executing(since: .some) = time {} else { Issue.record("\(String(describing: time))") }
      #expect(forgotten.whyNotStarted().reasons.last == .goesOn(until: .finishIsCalled))
      #expect(forgotten.debugDescription.contains(" ms\n  ends when finish() is called"))
      try eventually("the hint to be there") {
        posts.whyNotStarted().reasons == [.executing(since: nil), .goesOn(until: .isFinishedIsPosted)]
      }
      let text = queue.diagnosis().description
      #expect(text.contains(" ms; ends when finish() is called\n"), "\(text)")
      #expect(text.contains("executing; ends when its class posts isFinished\n"), "\(text)")
      #expect(behind.debugDescription.contains("ends when finish() is called"))
      forgotten.finish()
      posts.isDone.with { $0 = true }
      posts.didChangeValue(for: \.isFinished)
      try queue.drainInTime()
    }
  }

  @Test("row 47: the queue is suspended", arguments: allBackends)
  func suspended(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let operation = named("waiting")
      queue.addOperation(operation)
      #expect(operation.whyNotStarted().reasons == [.suspended])
      #expect(queue.diagnosis().description.contains("suspended"))
      queue.isSuspended = false
      try queue.drainInTime()
    }
  }

  @Test("row 47: the limit, and who holds the places for how long", arguments: allBackends)
  func limit(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let holder = GatedOperation()
      holder.name = "holder"
      let operation = named("waiting")
      queue.addOperations([holder, operation], waitUntilFinished: false)
      try holder.started.wait("the holder")
      giveOthersAChance()
      guard case .limitReached(let limit, let holders) = operation.whyNotStarted().reasons.first else {
        Issue.record("\(operation.whyNotStarted())")
        return holder.release.open()
      }
      #expect(limit == 1 && holders.count == 1 && holders[0].operation.contains("holder"))
      // It sleeps in a gate since before the pause above; the coarse clock may be some milliseconds late.
      #expect(holders[0].since.map { $0 > 5_000_000 && $0 < UInt64(patience * 1e9) } == true, "\(holders)")
      #expect(queue.diagnosis().executing.map(\.operation) == holders.map(\.operation))
      queue.maxConcurrentOperationCount = 0
      holder.release.open()
      try holder.finishInTime()
      #expect(operation.whyNotStarted().reasons == [.limitReached(limit: 0, holders: [])])
      queue.maxConcurrentOperationCount = 1
      try queue.drainInTime()
    }
  }

  @Test("row 47: unfinished dependencies, and where each of them is", arguments: allBackends)
  func dependencies(backend: TestBackend) throws {
    try backend.withQueues { queue, other in
      other.name = "elsewhere"
      other.isSuspended = true
      let (outside, held, done) = (named("outside"), named("held"), named("done"))
      let running = GatedOperation()
      running.name = "running"
      let operation = named("waiting")
      for dependency in [outside, held, done, running] { operation.addDependency(dependency) }
      queue.addOperations([done, running, operation], waitUntilFinished: false)
      other.addOperation(held)
      try running.started.wait("the running dependency")
      try done.finishInTime()
      guard case .dependencies(let all) = operation.whyNotStarted().reasons.first else {
        Issue.record("\(operation.whyNotStarted())")
        return running.release.open()
      }
      #expect(all.count == 3)
      let states = Dictionary(
        uniqueKeysWithValues: all.map {
          ($0.operation.split(separator: "\"").dropFirst().first.map(String.init), $0.state)
        })
      #expect(states["outside"] == "in no queue, and not started")
      #expect(states["held"]?.contains("ready") == true && states["held"]?.contains("elsewhere") == true)
      #expect(states["running"]?.hasPrefix("executing") == true)
      #expect(operation.whyNotStarted().description.contains("waits for 3 unfinished dependencies"))
      running.release.open()
      outside.start()
      other.isSuspended = false
      try queue.drainInTime()
    }
  }

  @Test("rows 19 and 47: a cycle", arguments: allBackends)
  func cycle(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let (first, second, behind) = (named("first"), named("second"), named("behind"))
      first.addDependency(second)
      second.addDependency(first)
      behind.addDependency(second)
      queue.addOperations([first, second, behind], waitUntilFinished: false)
      guard case .cycle(let members) = first.whyNotStarted().reasons.last else {
        Issue.record("\(first.whyNotStarted())")
        return first.cancel()
      }
      #expect(members.count == 2)
      #expect(behind.whyNotStarted().reasons.count == 1, "it waits for a cycle, and is in none")
      #expect(queue.diagnosis().cycles.map(\.count) == [2])
      first.cancel()
      try queue.drainInTime()
    }
  }

  @Test("rows 19, 26 and 47: a barrier, and a cycle through one", arguments: allBackends)
  func barrier(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let (before, after) = (named("before"), named("after"))
      before.addDependency(after)
      queue.addOperation(before)
      queue.addBarrierBlock {}
      queue.addOperation(after)
      let barrier = queue.operations[1]
      guard case .behindBarrier(let name) = after.whyNotStarted().reasons.first,
        case .barrierWaitsFor(let count, let first) = barrier.whyNotStarted().reasons.first
      else {
        Issue.record("\(queue.diagnosis())")
        return before.cancel()
      }
      #expect(count == 1 && first.first?.contains("before") == true)
      #expect(barrier.whyNotStarted().operation == name)
      let cycles = queue.dependencyCycles()
      #expect(cycles.map { Set($0) } == [[before, barrier, after]])
      before.cancel()
      try queue.drainInTime()
      #expect(queue.dependencyCycles().isEmpty)
    }
  }

  @Test("row 19: barriers without a cycle are none", arguments: allBackends)
  func barriersWithoutACycle(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let first = named("first")
      queue.addOperation(first)
      for _ in 0..<3 {
        queue.addBarrierBlock {}
        let next = named("next")
        next.addDependency(first)
        queue.addOperations([next, named("beside")], waitUntilFinished: false)
      }
      #expect(queue.dependencyCycles().isEmpty)
      queue.isSuspended = false
      try queue.drainInTime()
    }
  }

  @Test("rows 35 and 47: held back by an overridden isReady, which is not asked again", arguments: allBackends)
  func heldBack(backend: TestBackend) throws {
    final class Held: Operation, @unchecked Sendable {
      // Invariant: both synchronise themselves.
      let asked = Counter()
      let isOpen = Monitor(false)
      override var isReady: Bool {
        asked.increment()
        return super.isReady && isOpen.value
      }
    }
    try backend.withQueue { queue in
      let operation = Held()
      queue.addOperation(operation)
      let asked = operation.asked.value
      #expect(operation.whyNotStarted().reasons == [.heldBackByIsReady])
      #expect(operation.asked.value == asked)
      operation.isOpen.with { $0 = true }
      operation.didChangeValue(forKey: "isReady")
      try queue.drainInTime()
    }
  }

  // The sample backend has a thread for each job, and tells nothing.
  @Test("row 47: every thread of the backend is taken", arguments: allBackends.filter(\.isOrdered))
  func backendIsTaken(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let end = SpinFlag()
      let started = Gate()
      queue.addOperation {
        started.open()
        end.spin()
      }
      try started.wait("the body that computes")
      defer { end.set() }
      // A page fault looks like blocking for a moment: then an operation may start, and the next one tells.
      var operation = named("waiting")
      queue.addOperation(operation)
      try eventually("the thread to be seen computing") {
        if operation.isExecuting || operation.isFinished {
          operation = named("waiting")
          queue.addOperation(operation)
        }
        guard case .waitsForThread(let text) = operation.whyNotStarted().reasons.first else { return false }
        return text.contains("1 computing") && text.contains("1 worker,")
      }
      end.set()
      try queue.drainInTime()
    }
  }

  @Test("row 47: bodies that block are shown with the kernel's word", arguments: allBackends.filter(\.isOrdered))
  func blockedBodies(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let (started, release) = (Gate(), Gate())
      let awaited = AsynchronousOperation { _ in }
      queue.addOperation(awaited)
      queue.addOperation { awaited.waitUntilFinished() }
      queue.addOperation {
        started.open()
        release.pass()
      }
      try started.wait("the body that blocks")
      try eventually("both to be seen") {
        let text = queue.diagnosis().backend
        return text.contains("1 blocked in their bodies") && text.contains("1 waiting for operations")
          && text.contains("kernel: ")
      }
      release.open()
      awaited.finish()
      try queue.drainInTime()
    }
  }

  @Test("row 47: asked by several threads while everything is in motion", arguments: allBackends)
  func inMotion(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let end = Monitor(false)
      let (looked, stopped) = (Counter(), CountdownLatch(2))
      for _ in 0..<2 {
        startThread {
          while !end.value {
            for operation in queue.operations { _ = operation.whyNotStarted().description }
            _ = queue.diagnosis().description
            looked.increment()
          }
          stopped.countDown()
        }
      }
      for round in 0..<30 {
        queue.maxConcurrentOperationCount = round % 3 == 0 ? 1 : -1
        let operations = (0..<20).map { _ in CountingOperation() }
        for index in 1..<20 { operations[index].addDependency(operations[index - 1]) }
        queue.addOperations(operations, waitUntilFinished: false)
        if round % 5 == 0 { queue.addBarrierBlock {} }
        if round % 7 == 0 { queue.cancelAllOperations() }
        queue.addOperation {}
      }
      try queue.drainInTime()
      end.with { $0 = true }
      try stopped.wait("the threads that look")
      #expect(looked.value > 0)
      #expect(queue.diagnosis().pendingCount == 0)
    }
  }
}
