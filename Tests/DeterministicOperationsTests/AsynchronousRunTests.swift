import DeterministicOperations
import Operations
import TestSupport
import Testing

/// The asynchronous `withDeterministicOperations`: code under test needs no change, and what the body awaits runs.
@Suite("Asynchronous runs")
struct AsynchronousRunTests {
  private actor Account {
    private let executor: BackendSerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private(set) var balance = 0

    init(on backend: any Backend) { executor = backend.serialExecutor() }

    func pay(_ amount: Int) -> Int {
      balance += amount
      return balance
    }

    func payLater(_ amount: Int, _ clock: DeterministicClock) async throws -> Int {
      try await clock.sleep(for: .seconds(3_600))
      return pay(amount)
    }
  }

  /// Code under test, which makes its own queue.
  private static func answer() async throws -> Int {
    let queue = OperationQueue()
    let first = queue.addTask { 20 }
    let second = queue.addTask { 22 }
    return try await first.value + second.value
  }

  @Test("OperationQueue() is on the backend before and behind an await, in tasks, and not outside")
  func defaultBackend() async throws {
    try await AsynchronousTest.run {
      try await withDeterministicOperations(seed: 1) { backend in
        #expect(OperationQueue().backend === backend)
        try #expect(await Self.answer() == 42)
        #expect(OperationQueue().backend === backend)
        await backend.run()
        #expect(OperationQueue().backend === backend)
        try await Task.sleep(for: .milliseconds(1))
        #expect(OperationQueue().backend === backend)
        async let child = OperationQueue().backend === backend
        #expect(await child)
        #expect(await Task { OperationQueue().backend === backend }.value)
        try #expect(await OperationQueue().addTask { OperationQueue().backend === backend }.value)
        let onMain = await MainActor.run { OperationQueue().backend === backend }
        #expect(onMain)
        // Forks outside of operations, too.
        #expect(OperationQueue.defaultBackend === backend)
        await OperationQueue.defaultBackend.run { concurrentPerform(iterations: 20) { _ in } }
        #expect(backend.statistics.jobs > 3)
      }
      #expect(OperationQueue().backend === StealingBackend.shared)
    }
  }

  @Test("the body of a test on the main actor")
  @MainActor
  func onTheMainActor() async throws {
    try await withDeterministicOperations(seed: 1) { backend in
      #expect(OperationQueue().backend === backend)
      try #expect(await Self.answer() == 42)
      #expect(OperationQueue().backend === backend)
      #expect(await Account(on: backend).pay(3) == 3)
    }
    #expect(OperationQueue().backend === StealingBackend.shared)
  }

  @Test("tasks of a synchronous test, and inner runs, have the backend of their run")
  func innerRuns() async throws {
    try await AsynchronousTest.run {
      let outside = withDeterministicOperations(seed: 1) { backend in
        Task { OperationQueue().backend === backend }
      }
      #expect(await outside.value)
      try await withDeterministicOperations(seed: 1) { outer in
        try await withDeterministicOperations(seed: 2) { inner in
          #expect(OperationQueue().backend === inner)
          try #expect(await Self.answer() == 42)
          let ofOuter = OperationQueue(backend: outer).addTask { 7 }
          try #expect(await ofOuter.value == 7)
        }
        #expect(OperationQueue().backend === outer)
        withDeterministicOperations(seed: 3) { inner in #expect(OperationQueue().backend === inner) }
        #expect(OperationQueue().backend === outer)
      }
    }
  }

  @Test("the body awaits an actor on the backend")
  func actors() async throws {
    try await AsynchronousTest.run {
      try await withDeterministicOperations(seed: 1) { backend in
        let account = Account(on: backend)
        for round in 1...5 { #expect(await account.pay(1) == round) }
        try #expect(await account.payLater(2, backend.clock) == 7)
        #expect(backend.now == .seconds(3_600))
        // A body that does the same.
        let queue = OperationQueue()
        let payment = queue.addTask { try await account.payLater(3, backend.clock) }
        try #expect(await payment.value == 10)
        #expect(backend.now == .seconds(7_200))
        // One that waits already when the body awaits the actor: both are in one line.
        let late = queue.addTask { await account.pay(1) }
        #expect(await account.balance <= 11)
        try #expect(await late.value == 11)
      }
    }
  }

  @Test("the body awaits a task that prefers the backend")
  func preferringTasks() async throws {
    try await AsynchronousTest.run {
      try await withDeterministicOperations(seed: 1) { backend in
        let executor = backend.taskExecutor
        #expect(await Task(executorPreference: executor) { 1 }.value == 1)
        let sleeper = Task(executorPreference: executor) {
          try await backend.clock.sleep(for: .seconds(60))
          let operation = OperationQueue().addTask { 6 * 7 }
          return try await operation.value
        }
        try #expect(await sleeper.value == 42)
        #expect(backend.now == .seconds(60))
        let total = try await withTaskExecutorPreference(executor) { () async throws in
          try await backend.clock.sleep(for: .seconds(60))
          return try await Self.answer()
        }
        #expect(total == 42 && backend.now == .seconds(120))
        let within = OperationQueue().addTask {
          try await Task(executorPreference: executor) { try await Self.answer() }.value
        }
        try #expect(await within.value == 42)
      }
    }
  }

  @Test("what the body awaits of tasks beside the backend")
  func otherTasks() async throws {
    try await AsynchronousTest.run {
      try await withDeterministicOperations(seed: 1) { backend in
        try #expect(await Task { try await Self.answer() }.value == 42)
        let account = Account(on: backend)
        #expect(await Task.detached { await account.pay(4) }.value == 4)
      }
    }
  }

  @Test("while the body goes on, nothing else does: its tasks and its operations have the order of the seed")
  func order() async throws {
    try await AsynchronousTest.run {
      @Sendable func steps(_ seed: UInt64) async throws -> [DeterministicStep] {
        try await withDeterministicOperations(seed: seed, recordsSteps: true) { backend in
          let queue = OperationQueue()
          let account = Account(on: backend)
          try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
              group.addTask {
                backend.note("child \(number)")
                let value = try await queue.addTask {
                  backend.note("body \(number)")
                  try await backend.clock.sleep(for: .milliseconds(number % 2))
                  return await account.pay(number)
                }.value
                backend.note("child \(number) has \(value)")
              }
            }
            try await group.waitForAll()
          }
          queue.addOperation { backend.note("last") }
          backend.note("added")
          await queue.drained()
          return backend.steps
        }
      }
      var orders: Set<[String]> = []
      for seed in 0..<100 as Range<UInt64> {
        let first = try await steps(seed)
        let second = try await steps(seed)
        #expect(first == second, "seed \(seed)")
        let notes = first.map(\.what)
        orders.insert(notes)
        let (added, last) = (notes.firstIndex(of: "added"), notes.firstIndex(of: "last"))
        #expect(try #require(added) < #require(last))
      }
      #expect(orders.count > 50)
    }
  }

  @Test("synchronous waits in the body, and time")
  func waits() async throws {
    try await AsynchronousTest.run {
      try await withDeterministicOperations(seed: 1) { backend in
        func wait() {
          let operation = BlockOperation { backend.work(for: .seconds(5)) }
          OperationQueue().addOperations([operation], waitUntilFinished: true)
          #expect(operation.isFinished && backend.now == .seconds(5))
          backend.work(for: .seconds(1))
          backend.sleep(for: .seconds(1))
          backend.yield()
          #expect(backend.now == .seconds(7))
          backend.run()
          backend.run(until: .init(offset: .seconds(9)))
          #expect(backend.now == .seconds(9))
        }
        wait()
        try #expect(await Self.answer() == 42)
      }
    }
  }

  @Test("a test that throws, and one whose only try stands in a macro")
  func throwing() async throws {
    struct Wrong: Error {}
    try await AsynchronousTest.run {
      await #expect(throws: Wrong.self) {
        try await withDeterministicOperations(seed: 1) { backend in
          await backend.run()
          throw Wrong()
        }
      }
      #expect(throws: Wrong.self) { try withDeterministicOperations(seed: 1) { _ in throw Wrong() } }
      // The compiler looks for a `try` before the macros are there: so one stands before the macro.
      try await withDeterministicOperations(seed: 1) { _ in
        let operation = OperationQueue().addTask { 6 * 7 }
        try #expect(await operation.value == 42)
      }
      try withDeterministicOperations(seed: 1) { _ in
        let operation = BlockOperation {}
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        try #expect(Self.checked(operation.isFinished))
      }
      // Without errors there is nothing to try.
      let number = await withDeterministicOperations(seed: 1) { backend in
        await backend.run()
        return 1
      }
      let other = withDeterministicOperations(seed: 1) { _ in 1 }
      #expect(number + other == 2)
    }
  }

  private static func checked(_ value: Bool) throws -> Bool { value }
}
