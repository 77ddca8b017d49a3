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
