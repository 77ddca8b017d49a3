import DeterministicOperations
import Operations
import Synchronization
import TestSupport
import Testing

/// Row 67: backends as executors.
@Suite("Backends as executors")
struct ExecutorTests {
  /// Notes on which executor its methods run.
  private actor Account {
    private let executor: BackendSerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private(set) var balance = 0
    private var isInside = false

    init(_ executor: BackendSerialExecutor) { self.executor = executor }

    func pay(_ amount: Int) -> Bool {
      let wasAlone = !isInside
      isInside = true
      balance += amount
      isInside = false
      return wasAlone && executor.isIsolatingCurrentContext() == true
    }
    func pay(_ amount: Int, and other: Account) async -> Bool {
      // A task that begins here, on this actor, has no preference of its own.
      await Task {
        balance += amount
        let here = currentThread()
        return await other.pay(amount) && here == currentThread()
      }.value
    }
  }
  private actor Plain {
    private(set) var count = 0
    func increment() { count += 1 }
  }

  @Test("row 67.1: tasks, their children and default actors run on the backend's threads", arguments: allBackends)
  func tasks(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning()
      let executor = pool.taskExecutor
      let actor = Plain()
      let sum = await Task(executorPreference: executor) {
        await withTaskGroup(of: Int.self) { group in
          for number in 0..<1_000 {
            group.addTask {
              if number % 7 == 0 { await Task.yield() }
              await actor.increment()
              return number
            }
          }
          return await group.reduce(0, +)
        }
      }.value
      #expect(sum == 499_500)
      #expect(await actor.count == 1_000)
      @concurrent func fib(_ n: Int) async -> Int {
        if n < 2 { return n }
        async let left = fib(n - 1)
        async let right = fib(n - 2)
        return await left + right
      }
      #expect(await withTaskExecutorPreference(executor) { await fib(12) } == 144)
    }
  }

  /// A default actor: one job of the executor runs all calls that wait for the actor.
  private actor Crowded {
    func hold(_ begun: Gate, _ gate: Gate) {
      begun.open()
      passBlocking(gate)
    }

    private var hasLeft = false
    func leave() { hasLeft = true }
    /// - Returns: false when the task that finishes the operation stands behind this call, and so would never come.
    func wait(for operation: Operation) -> Bool {
      if hasLeft { waitBlocking(for: operation) }
      return hasLeft
    }
  }

  @Test(
    "row 67.4: a wait in an actor's method holds up no task that the actor has let go", arguments: compensatingBackends)
  func nobodyWaitsBehindAWait(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning(workers: 1)
      let executor = pool.taskExecutor
      var waits = 0
      for _ in 0..<20 {
        let actor = Crowded()
        let (begun, gate) = (Gate(), Gate())
        let finished = AsynchronousOperation { _ in }
        finished.start()
        let holder = Task(executorPreference: executor) { await actor.hold(begun, gate) }
        try await AsynchronousTest.spawn { passBlocking(begun) }.value
        // Both stand in line at the actor, as a rule in this order. The first goes on behind its call, and finishes
        // what the second waits for on the actor.
        let first = Task(executorPreference: executor) {
          await actor.leave()
          finished.finish()
        }
        let second = Task(executorPreference: executor) { await actor.wait(for: finished) }
        try await AsynchronousTest.spawn { giveOthersAChance() }.value
        gate.open()
        await holder.value
        await first.value
        if await second.value { waits += 1 }
        #expect(finished.isFinished)
      }
      #expect(waits > 0)
    }
  }

  @Test("row 67.4: a task that computes holds up no task that it has spawned", arguments: compensatingBackends)
  func spawnedTasksAreVisible(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning(workers: 2)
      let executor = pool.taskExecutor
      for _ in 0..<20 {
        let gate = Gate()
        await Task(executorPreference: executor) {
          _ = Task(executorPreference: executor) { gate.open() }
          // The thread has nothing else to do, and never comes back by itself.
          passBlocking(gate)
        }.value
      }
    }
  }

  @Test("row 67.4: a completion block may wait for a task that it has spawned", arguments: compensatingBackends)
  func completionBlocks(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning()
      let (queue, executor) = (OperationQueue(backend: pool), pool.taskExecutor)
      for _ in 0..<20 {
        let done = Gate()
        // The end of the body is a later part, and a task job.
        let operation = TaskOperation { await Task.yield() }
        operation.completionBlock = {
          let gate = Gate()
          _ = Task(executorPreference: executor) { gate.open() }
          passBlocking(gate)
          done.open()
        }
        queue.addOperation(operation)
        try await AsynchronousTest.spawn { passBlocking(done) }.value
      }
    }
  }

  @Test("row 67.4: a task may wait for an operation with an asynchronous body that it has started by hand")
  func startedByHand() async throws {
    try await AsynchronousTest.run {
      // In no queue the body runs on the default backend.
      let executor = StealingBackend.shared.taskExecutor
      for _ in 0..<20 {
        let (actor, gate) = (Plain(), Gate())
        await Task(executorPreference: executor) {
          let operation = TaskOperation {
            await actor.increment()
            gate.open()
          }
          operation.start()
          passBlocking(gate)
        }.value
        let count = await actor.count
        #expect(count == 1)
      }
    }
  }

  @Test(
    "row 67.4: calls between actors on several serial executors, and by many tasks, lose nobody", arguments: allBackends
  )
  func callsBetweenActors(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning()
      let accounts = (0..<3).map { _ in Account(pool.serialExecutor()) }
      let actor = Plain()
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask(executorPreference: number % 2 == 0 ? pool.taskExecutor : nil) {
            for turn in 0..<20 {
              _ = await accounts[(number + turn) % 3].pay(1)
              await actor.increment()
              if turn % 8 == 0 { await Task.yield() }
            }
          }
        }
      }
      var sum = 0
      for account in accounts { sum += await account.balance }
      #expect(sum == 2_000)
      #expect(await actor.count == 2_000)
    }
  }

  @Test("row 67.2: a serial executor runs one job at a time, and knows its own thread", arguments: allBackends)
  func serial(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning()
      let executor = pool.serialExecutor()
      let (one, other) = (Account(executor), Account(executor))
      #expect(executor.isIsolatingCurrentContext() == false)
      await withTaskGroup(of: Bool.self) { group in
        for number in 0..<1_000 {
          group.addTask { number % 2 == 0 ? await one.pay(1) : await one.pay(1, and: other) }
        }
        for await isRight in group { #expect(isRight) }
      }
      #expect(await one.balance == 1_000)
      #expect(await other.balance == 500)
    }
  }

  @Test("row 67.3: the most urgent job of a serial executor comes first, then the oldest", arguments: allBackends)
  func order(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning()
      let executor = pool.serialExecutor()
      let recorder = Recorder(executor)
      let gate = Gate()
      let begun = Gate()
      let holder = AsynchronousTest.spawn { await recorder.hold(begun, gate) }
      try await AsynchronousTest.spawn { passBlocking(begun) }.value
      var tasks: [Task<Void, any Error>] = []
      for (index, priority) in [TaskPriority.low, .medium, .high, .low, .medium, .high].enumerated() {
        let before = executor.waitingCount
        tasks.append(AsynchronousTest.spawn(priority: priority) { await recorder.append(index) })
        while executor.waitingCount == before { await Task.yield() }
      }
      gate.open()
      try await holder.value
      let (ends, end) = AsyncStream.makeStream(of: Void.self)
      // A task that awaits another one raises the other's priority to its own. So the awaiting task has the lowest.
      _ = AsynchronousTest.spawn(priority: .background) { [tasks] in
        for task in tasks { try await task.value }
        end.finish()
      }
      for await _ in ends {}
      #expect(await recorder.events == [2, 5, 1, 4, 0, 3])
    }
  }

  private actor Recorder {
    private let executor: BackendSerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private(set) var events: [Int] = []
    init(_ executor: BackendSerialExecutor) { self.executor = executor }
    func append(_ event: Int) { events.append(event) }
    func hold(_ begun: Gate, _ gate: Gate) {
      begun.open()
      passBlocking(gate)
    }
  }
}

private func passBlocking(_ gate: Gate) { gate.pass() }
private func waitBlocking(for operation: Operation) { operation.waitUntilFinished() }
