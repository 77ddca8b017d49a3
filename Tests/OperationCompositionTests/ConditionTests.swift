import DeterministicOperations
import OperationComposition
import Operations
import Synchronization
import TestSupport
import Testing

@Suite("Conditions")
struct ConditionTests {
  /// Writes down that it was asked, and waits or throws.
  struct Asked: OperationCondition {
    let name: String
    let log: EventLog<String>
    var gate: AsyncGate?
    var error: Refused?

    func evaluate() async throws {
      log.append(name)
      await gate?.pass()
      if let error { throw error }
    }
  }

  @Test("conditions are asked in their order, behind the dependencies", arguments: allBackends)
  func order(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let log = EventLog<String>()
      let gate = AsyncGate()
      let first = queue.addTask {
        await gate.pass()
        log.append("dependency")
      }
      let operation = queue.addTask(
        dependencies: [first], conditions: [Asked(name: "a", log: log), Asked(name: "b", log: log)]
      ) {
        log.append("body")
        return 1
      }
      gate.open()
      let value = try await operation.value
      #expect(value == 1 && log.events == ["dependency", "a", "b", "body"])
    }
  }

  @Test("the first condition that throws gives the result", arguments: allBackends)
  func failure(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (queue, log) = (OperationQueue(backend: backend), EventLog<String>())
      let operation = queue.addTask(
        name: "upload",
        conditions: [
          Asked(name: "a", log: log), Asked(name: "b", log: log, error: Refused(number: 4)),
          Asked(name: "c", log: log),
        ]
      ) {
        log.append("body")
      }
      await #expect(throws: Refused(number: 4)) { try await operation.value }
      #expect(log.events == ["a", "b"])
    }
  }

  @Test("an operation whose conditions are open holds no place, and says what it waits for", arguments: allBackends)
  func holdsNoPlace(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (queue, log, gate) = (OperationQueue(backend: backend), EventLog<String>(), AsyncGate())
      queue.maxConcurrentOperationCount = 1
      let first = queue.addTask(name: "upload", conditions: [Asked(name: "a", log: log, gate: gate)]) {
        log.append("first")
      }
      let second = queue.addTask { log.append("second") }
      await second.finished()
      let why = first.whyNotStarted().description
      #expect(why.contains("conditions of upload"), "\(why)")
      gate.open()
      try await first.value
      #expect(log.events.filter { $0 != "a" } == ["second", "first"])
    }
  }

  @Test("cancelling an operation ends the wait for its conditions", arguments: allBackends)
  func cancelling(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (queue, ended, asked) = (OperationQueue(backend: backend), AsyncGate(), AsyncGate())
      let never = Sleeping(asked: asked, ended: ended)
      let operation = queue.addTask(conditions: [never]) { Issue.record("the body ran") }
      await asked.pass()
      operation.cancel()
      await #expect(throws: CancellationError.self) { try await operation.value }
      await ended.pass()
    }
  }

  struct Sleeping: OperationCondition {
    let asked: AsyncGate
    let ended: AsyncGate

    func evaluate() async throws {
      asked.open()
      defer { ended.open() }
      try await Task.sleep(for: .seconds(3600))
    }
  }

  @Test("prepare() adds dependencies")
  func prepare() async throws {
    struct Behind: OperationCondition {
      let other: Operation
      func prepare(_ operation: Operation) { operation.addDependency(other) }
      func evaluate() async throws {}
    }
    try await AsynchronousTest.run {
      let (queue, gate, log) = (OperationQueue(), AsyncGate(), EventLog<String>())
      let other = queue.addTask {
        await gate.pass()
        log.append("other")
      }
      let operation = queue.addTask(conditions: [Behind(other: other)]) { log.append("body") }
      #expect(operation.dependencies.contains(other))
      gate.open()
      try await operation.value
      #expect(log.events == ["other", "body"])
    }
  }

  @Test("delays on a virtual clock", arguments: seeds)
  func delays(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let queue = OperationQueue(backend: backend)
      let clock = backend.clock
      let minute = queue.addTask(conditions: [Delay(for: .seconds(60), clock: clock)]) { backend.now }
      let behind = queue.addTask(dependencies: [minute], conditions: [Delay(for: .seconds(5), clock: clock)]) {
        backend.now
      }
      let noon = DeterministicClock.Instant(offset: .seconds(100))
      let fixed = queue.addTask(conditions: [Delay(until: noon, clock: clock)]) { backend.now }
      let none = queue.addTask(conditions: [Delay(for: .seconds(-1), clock: clock)]) { backend.now }
      let times = try await [none.value, minute.value, behind.value, fixed.value]
      #expect(times == [.zero, .seconds(60), .seconds(65), .seconds(100)])
      let cancelled = queue.addTask(conditions: [Delay(for: .seconds(1_000_000), clock: clock)]) {}
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      #expect(backend.now < .seconds(1_000))
    }
  }

  @Test("a delay without an end ends when it is cancelled, and not before", arguments: allBackends)
  func endlessDelay(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let endless = queue.addTask(conditions: [Delay(for: .seconds(Int64.max))]) {}
      try await Task.sleep(for: .milliseconds(20))
      #expect(!endless.isFinished)
      endless.cancel()
      await #expect(throws: CancellationError.self) { try await endless.value }
    }
  }
}
