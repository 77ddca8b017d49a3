import OperationComposition
import Operations
import Synchronization
import TestSupport
import Testing

@Suite("Groups")
struct GroupTests {
  @Test("a group finishes when its body and all its members have finished", arguments: allBackends)
  func finishes(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.maxConcurrentOperationCount = 1
      let (gate, ran) = (AsyncGate(), Counter())
      let group = queue.addGroup(name: "members", priority: .high, maxConcurrentOperationCount: 2) { members in
        #expect(members.maxConcurrentOperationCount == 2 && members.name == "members")
        for _ in 0..<10 { members.addOperation { ran.increment() } }
        members.addTask {
          await gate.pass()
          // A member adds a member.
          OperationQueue.current?.addOperation { ran.increment() }
        }
        return "made"
      }
      let after = queue.addTask { ran.value }
      #expect(group.operation.name == "members" && group.operation.queuePriority == .high)
      #expect(!group.operation.isFinished)
      gate.open()
      let made = try await group.value
      #expect(made == "made" && ran.value == 11 && group.queue.operationCount == 0)
      // The group held its place in the outer queue.
      let seen = try await after.value
      #expect(seen == 11)
    }
  }

  @Test("the value of a group is that of its operation, and the group waits for dependencies", arguments: allBackends)
  func value(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let (gate, ran) = (AsyncGate(), Counter())
      let first = queue.addTask { await gate.pass() }
      let group = queue.addGroup(dependencies: [first]) { _ in ran.increment() }
      #expect(group.operation.dependencies == [first] && !group.operation.isReady)
      let waiting = AsynchronousTest.spawn { try await group.value(cancelling: false) }
      #expect(ran.value == 0)
      gate.open()
      let (value, own, late) = (try await waiting.value, try await group.value, try await group.operation.value)
      #expect(value == 1 && own == 1 && late == 1 && ran.value == 1)

      let failing = queue.addGroup { _ async throws -> Int in throw Refused(number: 7) }
      await #expect(throws: Refused(number: 7)) { try await failing.value }

      // Cancelling the waiting task ends the wait. The group goes on, unless the call says otherwise.
      for cancelling in [false, true] {
        let (held, begun) = (AsyncGate(), AsyncGate())
        let group = queue.addGroup { _ in
          begun.open()
          await held.pass()
        }
        await begun.pass()
        let waiting = AsynchronousTest.spawn { try await group.value(cancelling: cancelling) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(group.operation.isCancelled == cancelling)
        held.open()
        await group.operation.finished()
      }
    }
  }

  @Test("the group's limit holds for its members", arguments: allBackends)
  func limit(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend, workers: 4) { backend in
      let meter = ConcurrencyMeter()
      let group = OperationQueue(backend: backend).addGroup(maxConcurrentOperationCount: 2) { members in
        for _ in 0..<50 {
          members.addTask {
            meter.enter()
            await Task.yield()
            meter.leave()
          }
        }
      }
      await group.operation.finished()
      #expect(meter.total == 50 && meter.maximum <= 2)
    }
  }

  @Test("cancelling a group cancels members that are there and members that come", arguments: allBackends)
  func cancelling(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let (started, late, ran) = (AsyncGate(), AsyncGate(), Counter())
      let member = Mutex<Operation?>(nil)
      let group = queue.addGroup { members in
        let running = members.addTask { () async -> Void in
          started.open()
          while !Task.isCancelled { await Task.yield() }
        }
        member.withLock { $0 = running }
        await late.pass()
        members.addOperation { ran.increment() }
        members.addTask { ran.increment() }
        members.addBarrierBlock { ran.increment() }
        members.addOperation(BlockOperation { ran.increment() })
        return 5
      }
      await started.pass()
      group.cancel()
      late.open()
      // The body looked at nothing, so its result counts.
      let value = try await group.value
      #expect(value == 5 && ran.value == 0 && group.operation.isCancelled)
      #expect(member.withLock { $0?.isCancelled } == true)
      #expect(group.queue.operationCount == 0)
    }
  }

  @Test("a group that was cancelled before its start never calls its body", arguments: allBackends)
  func cancelledEarly(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let ran = Counter()
      let group = queue.addGroup { _ in ran.increment() }
      group.cancel()
      queue.isSuspended = false
      await #expect(throws: CancellationError.self) { try await group.value }
      #expect(ran.value == 0)
    }
  }

  @Test("a body that throws cancels the members, and its error comes when they have ended", arguments: allBackends)
  func throwing(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let ended = Counter()
      let group = OperationQueue(backend: backend).addGroup { (members: OperationQueue) async throws(Refused) -> Int in
        let started = AsyncGate()
        members.addTask {
          started.open()
          while !Task.isCancelled { await Task.yield() }
          ended.increment()
        }
        await started.pass()
        throw Refused(number: 3)
      }
      await #expect(throws: Refused(number: 3)) { try await group.value }
      #expect(ended.value == 1)
    }
  }

  @Test("a suspended group starts no member; cancelling ends it all the same", arguments: allBackends)
  func suspending(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (made, ran) = (AsyncGate(), Counter())
      let group = OperationGroup(backend: backend) { members in
        for _ in 0..<5 { members.addOperation { ran.increment() } }
        made.open()
      }
      group.isSuspended = true
      OperationQueue(backend: backend).addOperation(group.operation)
      await made.pass()
      #expect(ran.value == 0 && !group.operation.isFinished && group.isSuspended)
      group.isSuspended = false
      await group.operation.finished()
      #expect(ran.value == 5)

      let other = OperationGroup(backend: backend) { members in
        members.addOperation { ran.increment() }
      }
      other.isSuspended = true
      OperationQueue(backend: backend).addOperation(other.operation)
      other.cancel()
      await other.operation.finished()
      #expect(ran.value == 5)
    }
  }

  @Test("groups in groups: a tree of 1,093 members", arguments: allBackends)
  func nested(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let ran = Counter()
      @Sendable func grow(_ queue: OperationQueue, _ depth: Int) {
        ran.increment()
        guard depth > 0 else { return }
        for _ in 0..<3 { queue.addGroup { members in grow(members, depth - 1) } }
      }
      let group = OperationQueue(backend: backend).addGroup { members in grow(members, 6) }
      await group.operation.finished()
      #expect(ran.value == 1093)
    }
  }

  @Test("a group that is cancelled before its start cancels the members that others have added", arguments: allBackends)
  func cancelledBeforeItsStart(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let ran = Counter()
      let group = queue.addGroup { _ in ran.increment() }
      group.isSuspended = true
      let member = group.queue.addTask { ran.increment() }
      group.cancel()
      await member.finished()
      let late = group.queue.addTask { ran.increment() }
      await late.finished()
      queue.isSuspended = false
      await queue.drained()
      #expect(member.isCancelled && late.isCancelled && ran.value == 0)
    }
  }

  @Test("barrier(_:) on the queue of a cancelled group is cancelled, as whatever else is added", arguments: allBackends)
  func lateBarrier(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (ran, queue) = (Counter(), OperationQueue(backend: backend))
      queue.isSuspended = true  // A group that has finished is not cancelled any more.
      let group = queue.addGroup { _ in }
      group.cancel()
      queue.isSuspended = false
      await group.operation.finished()
      await #expect(throws: CancellationError.self) { try await group.queue.barrier { ran.increment() } }
      group.queue.addBarrierBlock { ran.increment() }
      group.queue.addBarrier(BlockOperation { ran.increment() })
      await group.queue.drained()
      #expect(ran.value == 0)
    }
  }

  @Test("cancelled members need no place", arguments: allBackends)
  func cancelledWithoutPlaces(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (made, ran) = (AsyncGate(), Counter())
      let group = OperationQueue(backend: backend).addGroup(maxConcurrentOperationCount: 0) { members in
        members.limits[below: .veryHigh] = 0
        for _ in 0..<10 { members.addTask { ran.increment() } }
        made.open()
      }
      await made.pass()
      group.cancel()
      await group.operation.finished()
      // A limit that comes late holds nothing up either.
      group.queue.maxConcurrentOperationCount = 0
      group.queue.addTask { ran.increment() }
      await group.queue.drained()
      #expect(ran.value == 0 && group.queue.operationCount == 0)
    }
  }

  @Test("a member that awaits its group is told so", arguments: allBackends)
  func awaitsItsGroup(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let group = OperationGroup(backend: backend, name: "archive") { _ in }
      let member = group.queue.addTask(name: "member") { try await group.operation.value }
      OperationQueue(backend: backend).addOperation(group.operation)
      let error = await #expect(throws: CircularWait.self) { try await member.value }
      #expect(error?.description.contains("\"member\"") == true && error?.description.contains("\"archive\"") == true)
      try await group.operation.value
      // What awaits nothing but members of a group goes on.
      let other = OperationQueue(backend: backend).addGroup { members in
        let first = members.addTask { 1 }
        return try await members.addTask { try await first.value + 1 }.value
      }
      let value = try await other.operation.value
      #expect(value == 2)
    }
  }
}
