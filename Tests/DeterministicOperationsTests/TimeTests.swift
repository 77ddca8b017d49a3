import DeterministicOperations
import Operations
import TestSupport
import Testing

/// Virtual time, and the two knobs.
@Suite("Virtual time")
struct TimeTests {
  @Test("bodies that take time overlap on the workers")
  func work() {
    withDeterministicOperations(seed: 1, workers: 2) { backend in
      let queue = OperationQueue()
      for _ in 0..<4 { queue.addOperation { backend.work(for: .seconds(10)) } }
      queue.waitUntilAllOperationsAreFinished()
      #expect(backend.now == .seconds(20))
    }
  }

  @Test("bodies that sleep give their places away")
  func sleeping() {
    withDeterministicOperations(seed: 1, workers: 2) { backend in
      let queue = OperationQueue()
      for _ in 0..<40 { queue.addOperation { backend.sleep(for: .seconds(10)) } }
      queue.waitUntilAllOperationsAreFinished()
      #expect(backend.now == .seconds(10))
    }
  }

  @Test("timers finish asynchronous operations, in the order of time")
  func timers() {
    let log = EventLog<Int>()
    withDeterministicOperations(seed: 9) { backend in
      let queue = OperationQueue()
      for seconds in [30, 10, 20] {
        let operation = AsynchronousOperation { operation in
          backend.after(.seconds(seconds)) {
            log.append(seconds)
            operation.finish()
          }
        }
        queue.addOperation(operation)
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(backend.now == .seconds(30))
    }
    #expect(log.events == [10, 20, 30])
  }

  @Test("run(until:) and advance(by:) go exactly so far")
  func runUntil() {
    withDeterministicOperations(seed: 2) { backend in
      let log = EventLog<Int>()
      for second in 1...5 { backend.after(.seconds(second)) { log.append(second) } }
      backend.run(until: .init(offset: .seconds(2)))
      #expect(log.events == [1, 2] && backend.now == .seconds(2))
      backend.advance(by: .milliseconds(500))
      #expect(log.events == [1, 2] && backend.now == .milliseconds(2_500))
      backend.advance(by: .milliseconds(500))
      #expect(log.events == [1, 2, 3] && backend.now == .seconds(3))
      backend.run()
      #expect(log.events == [1, 2, 3, 4, 5] && backend.now == .seconds(5))
    }
  }

  @Test("without advancesByItself only the test moves the clock")
  func standsStill() {
    withDeterministicOperations(seed: 2, advancesByItself: false) { backend in
      let (ran, late) = (Counter(), Counter())
      OperationQueue().addOperation { ran.increment() }
      backend.after(.seconds(1)) { late.increment() }
      backend.run()
      #expect(ran.value == 1 && late.value == 0 && backend.now == .zero)
      backend.advance(by: .seconds(1))
      #expect(late.value == 1)
    }
  }

  @Test("without runsByItself nothing runs until somebody waits; with it, it does")
  func runsByItself() throws {
    let ran = Counter()
    let still = DeterministicBackend(seed: 1, runsByItself: false)
    OperationQueue(backend: still).addOperation { ran.increment() }
    giveOthersAChance()
    #expect(ran.value == 0)
    still.run()
    #expect(ran.value == 1)
    still.shutdown()
    let going = DeterministicBackend(seed: 1)
    OperationQueue(backend: going).addOperation { going.after(.seconds(3_600)) { ran.increment() } }
    try ran.wait(for: 2, "the operation and its timer")
    going.shutdown()
  }

  @Test("a task sleeps on the clock, and lets jobs run")
  func clock() async throws {
    let backend = DeterministicBackend(seed: 4, runsByItself: false)
    let ran = Counter()
    OperationQueue(backend: backend).addOperation {
      backend.work(for: .seconds(5))
      ran.increment()
    }
    let start = backend.clock.now
    try await backend.clock.sleep(until: start.advanced(by: .seconds(4)))
    #expect(ran.value == 0 && start.duration(to: backend.clock.now) == .seconds(4))
    try await backend.clock.sleep(for: .seconds(2))
    #expect(ran.value == 1 && backend.now == .seconds(6))
    // Where time goes on by itself the sleep may be over before anybody cancels.
    let still = DeterministicBackend(seed: 4, runsByItself: false, advancesByItself: false)
    let sleeper = Task { try await still.clock.sleep(for: .seconds(1_000)) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    still.shutdown()
    backend.shutdown()
    await #expect(throws: CancellationError.self) { try await backend.clock.sleep(for: .seconds(1)) }
  }

  @Test("a task that awaits an operation lets the backend run, and the clock go on")
  func awaiting() async throws {
    let ran = Counter()
    try await withDeterministicOperations(seed: 5) { backend in
      let queue = OperationQueue(backend: backend)
      let operation = queue.addTask {
        try await backend.clock.sleep(for: .seconds(30))
        ran.increment()
        return backend.now
      }
      #expect(ran.value == 0)
      let end = try await operation.value
      #expect(end == .seconds(30) && ran.value == 1)
      queue.addOperation { ran.increment() }
      #expect(await queue.drained())
      #expect(ran.value == 2)
    }
  }

  /// The backend is that of no test: a machine that is busy for longer than `patience` would make a guest of a test's
  /// body.
  @Test("a wait that was left drives nothing any more, neither jobs nor the clock")
  func leftWait() async throws {
    let backend = DeterministicBackend(seed: 5, runsByItself: false)
    let queue = OperationQueue(backend: backend)
    let ran = Counter()
    let never = queue.addTask { try await Task.sleep(for: .seconds(1_000_000)) }
    let wait = Task { await never.finished() }
    wait.cancel()
    #expect(await wait.value == false)
    queue.addOperation { ran.increment() }
    backend.after(.seconds(1)) { ran.increment() }
    try await Task.sleep(for: .milliseconds(20))
    #expect(ran.value == 0 && backend.now == .zero)
    never.cancel()
    #expect(await never.finished())
    try await backend.clock.sleep(until: .init(offset: .seconds(2)))
    #expect(ran.value == 2 && backend.now == .seconds(2))
    backend.shutdown()
  }

  @Test(
    "the clock goes exactly as far as it is asked to, also while a body sleeps for longer", arguments: [false, true])
  func exactlySoFar(isSuspended: Bool) async throws {
    try await withDeterministicOperations(seed: 3) { backend in
      let queue = OperationQueue(backend: backend)
      let body = queue.addTask {
        if isSuspended { try await backend.clock.sleep(for: .seconds(60)) } else { backend.sleep(for: .seconds(60)) }
      }
      await backend.advance(by: .seconds(1))
      #expect(backend.now == .seconds(1))
      await backend.run(until: backend.clock.now.advanced(by: .seconds(2)))
      #expect(backend.now == .seconds(3) && !body.isFinished)
      try await body.value
      #expect(backend.now == .seconds(60))
    }
  }

  @Test("10,000 tasks that await operations, and time that goes on for them")
  func manyAwaiting() async throws {
    let total = try await withDeterministicOperations(seed: 6) { backend in
      let queue = OperationQueue(backend: backend)
      let operations = (0..<10_000).map { number in
        queue.addTask {
          if number % 100 == 0 { try await backend.clock.sleep(for: .seconds(number)) }
          return 1
        }
      }
      return try await withThrowingTaskGroup(of: Int.self) { group in
        for operation in operations { group.addTask { try await operation.value } }
        return try await group.reduce(0, +)
      }
    }
    #expect(total == 10_000)
  }

  @Test("an asynchronous test")
  func asynchronousTest() async {
    let ran = Counter()
    let total = await withDeterministicOperations(seed: 4) { backend in
      let queue = OperationQueue(backend: backend)
      queue.addOperation { ran.increment() }
      #expect(ran.value == 0)
      await backend.run()
      #expect(ran.value == 1)
      backend.after(.seconds(2)) { ran.increment() }
      await backend.advance(by: .seconds(1))
      #expect(ran.value == 1)
      await backend.waitUntil { ran.value == 2 }
      await backend.run(until: .init(offset: .seconds(9)))
      #expect(backend.now == .seconds(9))
      return ran.value
    }
    #expect(total == 2)
  }

  @Test("shutdown lets time pass for what has begun, and drops other timers")
  func shutdown() {
    let (worked, dropped) = (Counter(), Counter())
    let tracker = LifetimeTracker()
    let backend = DeterministicBackend(seed: 1, runsByItself: false, advancesByItself: false)
    OperationQueue(backend: backend).addOperation {
      backend.work(for: .seconds(5))
      worked.increment()
    }
    let token = tracker.token()
    backend.after(.seconds(60)) {
      withExtendedLifetime(token) {}
      dropped.increment()
    }
    backend.shutdown()
    #expect(worked.value == 1 && dropped.value == 0)
    #expect(backend.now == .seconds(5))
  }

  @Test("times without an end go as far as the clock goes")
  func longTimes() {
    let longest = Duration.seconds(Int64.max)
    withDeterministicOperations(seed: 1) { backend in
      let (queue, ran) = (OperationQueue(), Counter())
      backend.after(longest) { ran.increment() }
      queue.addOperation {
        backend.sleep(for: longest)
        backend.work(for: .seconds(1))
        backend.work(for: longest)
        ran.increment()
      }
      queue.waitUntilAllOperationsAreFinished()
      backend.advance(by: longest)
      #expect(ran.value == 2 && backend.now > .seconds(100 * 365 * 86_400))
      queue.addOperation { ran.increment() }
      backend.advance(by: .seconds(1))
      #expect(ran.value == 3)
    }
    let backend = DeterministicBackend(seed: 1, runsByItself: false, patience: longest)
    backend.run(until: .init(offset: longest))
    backend.shutdown()
  }
}
