import DeterministicOperations
import OperationComposition
import Operations
import Synchronization
import TestSupport
import Testing

/// What users of other libraries for operations write, written with this one.
@Suite("Ported")
struct PortedTests {
  @Test("OperationPlus: a producer, a consumer, and a completion with a timeout", arguments: seeds)
  func producerAndConsumer(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let (queue, clock) = (OperationQueue(backend: backend), backend.clock)
      // ProducerOperation<Int>, ConsumerProducerOperation<String, Int>, ConsumerOperation<String>.
      let producer = queue.addTask {
        try await clock.sleep(for: .seconds(1))
        return 42
      }
      let converter = queue.addTask(receiving: producer) { "the answer is \($0)" }
      let printed = EventLog<String>()
      let consumer = queue.addTask(receiving: converter) { printed.append($0) }
      try await consumer.value
      #expect(printed.events == ["the answer is 42"])
      // BaseOperation(timeout: 5.0)
      let timeout = clock.now.advanced(by: .seconds(5))
      let slow = queue.addTask {
        try await withDeadline(timeout, clock: clock) { try await clock.sleep(for: .seconds(60)) }
      }
      await #expect(throws: DeadlineExceeded.self) { try await slow.value }
      // queue.currentOperationsFinished { … }
      queue.addTask { printed.append("late") }
      await queue.drained()
      #expect(printed.events.last == "late")
    }
  }

  @Test("Queuer: chained operations that retry, and a group", arguments: seeds)
  func chainedRetries(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let queue = OperationQueue(backend: backend)
      let log = EventLog<String>()
      // ConcurrentOperation { operation in operation.success = false } with maximumRetries = 3, in a chain.
      let first = queue.addTask {
        try await retry(maxAttempts: 3, clock: backend.clock) {
          log.append("first")
          if log.count < 3 { throw Refused(number: log.count) }
        } strategy: { _ in
          .backoff(.milliseconds(100))
        }
      }
      let second = queue.addTask(receiving: first) { log.append("second") }
      try await queue.addTask(receiving: second) { log.append("completion") }.value
      #expect(log.events == ["first", "first", "first", "second", "completion"])
      #expect(backend.now == .milliseconds(200))
      // GroupOperation { [a, b] } with allOperationsSucceeded.
      let group = queue.addGroup { members in
        let results = (1...2).map { number in members.addTask { number } }
        return try await results[0].value + results[1].value
      }
      let sum = try await group.operation.value
      #expect(sum == 3)
    }
  }

  /// swift-async-queue's LogStore: messages from code that is not asynchronous arrive in their order.
  private actor LogStore {
    private nonisolated let queue: OperationQueue
    private var messages: [String] = []

    init(on backend: any Backend) {
      queue = OperationQueue(backend: backend)
      queue.maxConcurrentOperationCount = 1
    }

    nonisolated func log(_ message: String) { queue.addTask { await self.append(message) } }
    nonisolated func logs() async throws -> [String] { try await queue.addTask { await self.messages }.value }
    private func append(_ message: String) { messages.append(message) }
  }

  @Test("swift-async-queue: a log store whose messages arrive in their order", arguments: allBackends)
  func logStore(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let store = LogStore(on: backend)
      for number in 0..<1000 { store.log("\(number)") }
      let logs = try await store.logs()
      #expect(logs == (0..<1000).map { "\($0)" })
    }
  }

  /// The earthquakes of Apple's "Advanced NSOperations": a group downloads and parses if the server can be reached;
  /// alerts come one at a time.
  struct Reachable: OperationCondition {
    let isReachable: Bool
    struct Unreachable: Error {}
    func evaluate() async throws { if !isReachable { throw Unreachable() } }
  }

  @Test("advanced operations: earthquakes", arguments: seeds)
  func earthquakes(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let (queue, clock) = (OperationQueue(backend: backend), backend.clock)
      let alerts = MutualExclusion<String>(backend: backend)
      let shown = EventLog<String>()
      func earthquakes(isReachable: Bool) -> TaskOperation<Int, any Error> {
        queue.addTask(name: "get earthquakes", conditions: [Reachable(isReachable: isReachable)]) {
          let group = OperationGroup(backend: backend) { members in
            let download = members.addTask {
              try await clock.sleep(for: .seconds(2))
              return "3.1,4.5,5.9"
            }
            let parse = members.addTask(receiving: download) { $0.split(separator: ",").compactMap { Double($0) } }
            return try await members.addTask(receiving: parse) { $0.count { $0 > 4 } }.value
          }
          group.queue.name = "earthquakes"
          OperationQueue.current?.addOperation(group.operation)
          return try await group.operation.value
        }
      }
      let strong = try await earthquakes(isReachable: true).value
      #expect(strong == 2)
      let unreachable = earthquakes(isReachable: false)
      await #expect(throws: Reachable.Unreachable.self) { try await unreachable.value }
      for number in 1...3 {
        queue.addTask(conditions: [alerts.turn(of: "alert")]) {
          shown.append("shows \(number)")
          try await clock.sleep(for: .seconds(1))
          shown.append("hides \(number)")
        }
      }
      await queue.drained()
      #expect(shown.events == (1...3).flatMap { ["shows \($0)", "hides \($0)"] })
    }
  }
}
