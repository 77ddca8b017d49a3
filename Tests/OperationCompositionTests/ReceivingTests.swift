import OperationComposition
import Operations
import TestSupport
import Testing

@Suite("Receiving")
struct ReceivingTests {
  @Test("a body gets what its inputs returned, each with its type", arguments: allBackends)
  func types(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (queue, other) = (OperationQueue(backend: backend), OperationQueue(backend: backend))
      // Holds the inputs: an operation that has finished names no dependencies any more.
      let gate = AsyncGate()
      let number = queue.addTask {
        await gate.pass()
        return 3
      }
      let word = other.addTask { "three" }
      let list = queue.addTask { () async throws(Refused) -> [Double] in [0.5, 1.5] }
      let all = queue.addTask(receiving: number, word, list) { "\($0) \($1) \($2.reduce(0, +))" }
      let alone = other.addTask(name: "alone", receiving: all) { $0.uppercased() }
      #expect(alone.name == "alone" && alone.dependencies == [all] && all.dependencies == [number, word, list])
      gate.open()
      // Inputs that have finished already.
      let value = try await alone.value
      let late = queue.addTask(receiving: alone, number) { $0 + String($1) }
      let lateValue = try await late.value
      #expect(lateValue == value + "3")
      #expect(value == "3 THREE 2.0")
    }
  }

  @Test("the first error in the order of the inputs is the result, and the body does not run", arguments: allBackends)
  func errors(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let ran = Counter()
      let fine = queue.addTask { 1 }
      let gate = AsyncGate()
      let first = queue.addTask { () -> Int in
        await gate.pass()
        throw Refused(number: 1)
      }
      let second = queue.addTask { () -> Int in throw Refused(number: 2) }
      await second.finished()
      gate.open()
      let sum = queue.addTask(receiving: fine, first, second) { ran.increment() + $0 + $1 + $2 }
      await #expect(throws: Refused(number: 1)) { try await sum.value }
      // An error goes on through a chain.
      let next = queue.addTask(receiving: sum) { ran.increment() + $0 }
      await #expect(throws: Refused(number: 1)) { try await next.value }
      let cancelled = TaskOperation { 1 }
      cancelled.cancel()
      queue.addOperation(cancelled)
      await #expect(throws: CancellationError.self) {
        try await queue.addTask(receiving: fine, cancelled) { ran.increment() + $0 + $1 }.value
      }
      #expect(ran.value == 0)
    }
  }

  @Test("a chain of 10,000 that adds one to what it receives", arguments: allBackends)
  func chain(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.maxConcurrentOperationCount = 4
      var last = queue.addTask { () throws -> Int in 0 }
      for _ in 0..<10_000 { last = queue.addTask(receiving: last) { $0 + 1 } }
      let value = try await last.value
      #expect(value == 10_000)
    }
  }

  @Test("an input that was made no dependency any more is waited for", arguments: allBackends)
  func removedDependency(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let gate = AsyncGate()
      let input = OperationQueue(backend: backend).addTask { () -> Int in
        await gate.pass()
        return 7
      }
      let double = queue.addTask(receiving: input) { $0 * 2 }
      double.removeDependency(input)
      queue.isSuspended = false
      gate.open()
      let value = try await double.value
      #expect(value == 14)
    }
  }
}
