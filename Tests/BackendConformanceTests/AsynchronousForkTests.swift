import OperationBackends
import TestSupport
import Testing

/// Row 63: the functions that fork, from asynchronous code.
@Suite("Asynchronous forks")
struct AsynchronousForkTests {
  struct Refused: Error, Equatable {}

  /// Runs an asynchronous body on a fresh backend. Nobody shuts it down: that would block a thread of Swift's.
  private func onBackend<Result: Sendable>(
    _ backend: TestBackend, _ body: @escaping @Sendable (any Backend) async throws -> Result
  ) async throws -> Result {
    let pool = backend.leftRunning()
    return try await body(pool)
  }

  @Test("row 63: each function does what the one that blocks does", arguments: allBackends)
  func eachFunction(backend: TestBackend) async throws {
    try await onBackend(backend) { pool in
      let (first, second) = await pool.run { join({ 1 }, { "b" }) }
      #expect(first == 1 && second == "b")
      let count = Counter()
      await pool.run { concurrentPerform(iterations: 100) { _ in count.increment() } }
      await pool.run { (0..<100).concurrentForEach { _ in count.increment() } }
      await pool.run {
        withForkScope { scope in
          for _ in 0..<100 { scope.spawn { count.increment() } }
        }
      }
      #expect(count.value == 300)
      let doubled = await pool.run { (0..<100).concurrentMap { 2 * $0 } }
      #expect(doubled == (0..<100).map { 2 * $0 })
      let square: @Sendable (Int) -> Int = { $0 * $0 }
      #expect(await pool.run { doubled.concurrentMap(square) } == doubled.map(square))
      let four: @Sendable () -> Int = { 4 }
      #expect(await pool.run { join(four, four) } == (4, 4))
      let sum = await pool.run { doubled.concurrentReduce(0, +) }
      let length = await pool.run { doubled.concurrentReduce(0, { $0 + "\($1)".count }, combine: +) }
      #expect(sum == 9_900)
      #expect(length == doubled.reduce(0) { $0 + "\($1)".count })
      var numbers = (0..<1_000).map { ($0 * 7_919) % 1_009 }
      let sorted = numbers.sorted()
      await pool.run { numbers.concurrentSort() }
      #expect(numbers == sorted)
      await pool.run { numbers.concurrentSort { $0 > $1 } }
      #expect(numbers == sorted.reversed())
      await pool.run { numbers.concurrentForEachChunk(ofCount: 100) { number, chunk in chunk[0] = number } }
      #expect((0..<10).allSatisfy { numbers[100 * $0] == $0 })
    }
  }

  @Test("row 63: a body uses variables of the actor that awaits it, and another backend inside", arguments: allBackends)
  @MainActor
  func fromAnActor(backend: TestBackend) async {
    let (pool, other) = (backend.leftRunning(), TestBackend.threadPool.leftRunning())
    var numbers = (0..<1_000).map { ($0 * 7_919) % 1_009 }
    let sorted = numbers.sorted()
    let ends = await pool.run {
      numbers.concurrentSort()
      let doubled = other.run { numbers.concurrentMap { 2 * $0 } }
      return join({ doubled.first }, { doubled.last })
    }
    #expect(numbers == sorted)
    #expect(ends == (2 * sorted[0], 2 * sorted[999]))
  }

  @Test("row 63: errors come back", arguments: allBackends)
  func errors(backend: TestBackend) async throws {
    try await onBackend(backend) { pool in
      await #expect(throws: Refused.self) {
        try await pool.run {
          try join({ () throws(Refused) -> Int in throw Refused() }, { () throws(Refused) -> Int in 2 })
        }
      }
      await #expect(throws: Refused.self) {
        try await pool.run {
          try withForkScope(throwing: Refused.self) { scope throws(Refused) in
            scope.spawn { () throws(Refused) in throw Refused() }
          }
        }
      }
      var numbers = Array(0..<100)
      await #expect(throws: Refused.self) {
        try await pool.run { try numbers.concurrentSort { _, _ throws(Refused) in throw Refused() } }
      }
      #expect(numbers.sorted() == Array(0..<100))
    }
  }

  @Test("row 63: the first body sees the task: its cancellation and its task-local values", arguments: allBackends)
  func taskIsSeen(backend: TestBackend) async throws {
    try await onBackend(backend) { pool in
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return await TaskWord.$word.withValue("inside") {
          await pool.run { join({ (Task.isCancelled, TaskWord.word) }, {}) }
        }.0
      }
      task.cancel()
      let (isCancelled, word) = await task.value
      #expect(isCancelled)
      #expect(word == "inside")
    }
  }

  /// Gives all jobs to another backend, and notes their priorities.
  private final class NotingBackend: Backend {
    let name = "noting"
    let priorities = EventLog<Operation.QueuePriority>()
    private let other: any Backend

    init(_ other: any Backend) { self.other = other }

    var workerCount: Int { other.workerCount }

    func submit(_ job: Job) {
      priorities.append(job.priority)
      other.submit(job)
    }
  }

  @Test("row 63: the priority of the task chooses the level", arguments: allBackends)
  func taskPriority(backend: TestBackend) async throws {
    let levels: [(TaskPriority, Operation.QueuePriority)] = [
      (.background, .veryLow), (.utility, .low), (.medium, .normal), (.userInitiated, .high),
      (TaskPriority(rawValue: 33), .veryHigh),
    ]
    try await onBackend(backend) { pool in
      for (priority, level) in levels {
        let noting = NotingBackend(pool)
        // Who awaits a task's value gives the task its own priority.
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task.detached(priority: priority) {
          await noting.run { join({}, {}) }
          end.finish()
        }
        for await _ in ends {}
        #expect(!noting.priorities.events.isEmpty)
        #expect(noting.priorities.events.allSatisfy { $0 == level })
      }
    }
  }

  @Test("row 63: more tasks than Swift has threads wait at the same time", arguments: allBackends)
  func manyTasks(backend: TestBackend) async throws {
    try await onBackend(backend) { pool in
      let sum = await withTaskGroup(of: Int.self) { group in
        for number in 0..<50 {
          group.addTask {
            await pool.run { (0..<100).concurrentMap { $0 + number } }.reduce(0, +)
          }
        }
        return await group.reduce(0, +)
      }
      #expect(sum == (0..<50).reduce(0) { $0 + 4_950 + 100 * $1 })
    }
  }
}

enum TaskWord {
  @TaskLocal static var word = ""
}
