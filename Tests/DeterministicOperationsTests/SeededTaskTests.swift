import DeterministicOperations
import Dispatch
import Operations
import TestSupport
import Testing

/// All tasks of a test belong to a seed.
@Suite("Seeded tasks")
struct SeededTaskTests {
  private struct Wrong: Error {}

  actor Log {
    private(set) var words: [String] = []
    func add(_ word: String) { words.append(word) }
  }

  /// An actor with an executor of its own.
  actor Elsewhere {
    private let executor = StealingBackend.shared.serialExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    func visit() {}
  }

  /// Tasks of each kind write down in which order they go on.
  @Sendable private static func order(_ backend: DeterministicBackend) async -> [String] {
    let log = Log()
    let queue = OperationQueue()
    let unstructured = (0..<3).map { number in
      Task {
        await log.add("task \(number)")
        await Task.yield()
        await log.add("task \(number) again")
      }
    }
    let detached = Task.detached { await log.add("detached") }
    let operation = queue.addTask { await log.add("operation") }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<3 {
        group.addTask {
          try? await Task.sleep(for: .milliseconds(5))
          await log.add("child \(number)")
        }
      }
    }
    for task in unstructured { await task.value }
    await detached.value
    await operation.finished()
    return await log.words
  }

  @Test("a seed decides the order of all tasks, and seeds differ")
  func orders() async throws {
    var orders: Set<[String]> = []
    for seed in 0..<20 as Range<UInt64> {
      let first = try await withSeededTasks(seed: seed, Self.order)
      for _ in 0..<5 {
        let again = try await withSeededTasks(seed: seed, Self.order)
        #expect(again == first)
      }
      #expect(first.count == 11)
      orders.insert(first)
    }
    #expect(orders.count > 10)
  }

  @Test("two runs of a seed have the same steps")
  func steps() async throws {
    try await forEachSeed(0..<20, checksDeterminism: true) { backend in _ = await Self.order(backend) }
  }

  @Test("an hour of sleeps takes no time, on each clock, and sleeps end in the order of their ends")
  func time() async throws {
    let start = ContinuousClock.now
    try await withSeededTasks(seed: 1) { backend in
      let before = (ContinuousClock.now, SuspendingClock.now)
      let log = Log()
      await withTaskGroup(of: Void.self) { group in
        for minutes in [30, 10, 60, 20] {
          group.addTask {
            try? await Task.sleep(for: .seconds(60 * minutes))
            await log.add("\(minutes)")
          }
        }
      }
      #expect(await log.words == ["10", "20", "30", "60"])
      #expect(before.0.duration(to: .now) == .seconds(3_600) && before.1.duration(to: .now) == .seconds(3_600))
      #expect(backend.now == .seconds(3_600))
      try await Task.sleep(nanoseconds: 1_000_000_000)
      try await Task.sleep(until: .now + .seconds(1), clock: .suspending)
      #expect(backend.now == .seconds(3_602))
    }
    #expect(ContinuousClock.now - start < .seconds(600))
  }

  @Test("outside of the test, and in a thread beside it, time is real")
  func realTime() async throws {
    let inside = try await withSeededTasks(seed: 1) { _ in
      try await Task.sleep(for: .seconds(1_000_000))
      let here = SuspendingClock.now
      let there = await withCheckedContinuation { continuation in
        startThread { continuation.resume(returning: SuspendingClock.now) }
      }
      return (here, there)
    }
    #expect(inside.1.duration(to: inside.0) > .seconds(900_000))
    #expect(inside.0 > .now && inside.1 <= .now)
  }

  @Test("a task that others resume is back in the order, and goes on on the backend")
  func foreignThreads() async throws {
    for seed in 0..<10 as Range<UInt64> {
      try await withSeededTasks(seed: seed) { backend in
        let task = Task {
          await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume() }
          }
          return OperationQueue().backend === backend
        }
        #expect(await task.value)
      }
    }
  }

  @Test("the body may throw, be cancelled, and leave tasks behind")
  func ends() async throws {
    await #expect(throws: Wrong.self) { try await withSeededTasks(seed: 1) { _ in throw Wrong() } }
    let test = Task {
      try await withSeededTasks(seed: 1) { _ in
        // Nothing ends this but being cancelled.
        for await _ in AsyncStream<Void>.makeStream().stream {}
        return Task.isCancelled
      }
    }
    test.cancel()
    #expect(try await test.value)
    let ticks = Counter()
    try await withSeededTasks(seed: 1) { _ in
      Task {
        while true {
          try await Task.sleep(for: .seconds(1))
          ticks.increment()
        }
      }
      try await Task.sleep(for: .milliseconds(3_500))
    }
    #expect(ticks.value == 3)
  }

  @Test("a test whose tasks all wait ends with an error that has the seed")
  func allWait() async throws {
    let error = try #require(
      await #expect(throws: SeededTasksError.self) {
        try await withSeededTasks(seed: 3) { _ in
          let waiter = Task(name: "reader") { for await _ in AsyncStream<Void>.makeStream().stream {} }
          await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
          await waiter.value
        }
      })
    guard case .allTasksWait(seed: 3, let tasks) = error else { throw error }
    #expect(tasks.first == "2 tasks" && tasks.count == 3)
    #expect(
      "\(error)".contains("\ntask 2 \"reader\", priority medium: has waited for somebody to resume its continuation"))
    #expect("\(error)".contains("\n  in closure #1"), "\(error)")
  }

  @Test("a task awaits what an operation or a timer of the backend resumes, though nobody waits for those")
  func resumedByOperations() async throws {
    try await forEachSeed(0..<20, patience: .seconds(100), mayLeave: false) { backend in
      let queue = OperationQueue()
      await withUnsafeContinuation { continuation in queue.addOperation { continuation.resume() } }
      await withUnsafeContinuation { continuation in backend.after(.seconds(60)) { continuation.resume() } }
      #expect(backend.now == .seconds(60))
      // Also where the first operation starts the second one.
      queue.maxConcurrentOperationCount = 1
      await withUnsafeContinuation { continuation in
        let last = BlockOperation { continuation.resume() }
        last.addDependency(BlockOperation {})
        queue.addOperations([last, last.dependencies[0]], waitUntilFinished: false)
      }
    }
  }

  @Test(
    "an operation waits for what a timer, a task or a thread outside makes true, while the test awaits the operation")
  func waitingOperations() async throws {
    try await forEachSeed(0..<10, patience: .seconds(100)) { backend in
      let queue = OperationQueue()
      for way in 0..<3 {
        let isTrue = Counter()
        switch way {
        case 0: backend.after(.seconds(1)) { isTrue.increment() }
        case 1: Task { isTrue.increment() }
        default: startThread { isTrue.increment() }
        }
        await withUnsafeContinuation { continuation in
          queue.addOperation {
            backend.waitUntil { isTrue.value == 1 }
            continuation.resume()
          }
        }
      }
    }
  }

  @Test("a timer that sets itself again is no end")
  func timersWithoutEnd() async throws {
    @Sendable func tick(_ backend: DeterministicBackend) { backend.after(.seconds(1)) { tick(backend) } }
    let error = try #require(
      await #expect(throws: SeededTasksError.self) {
        try await withSeededTasks(seed: 9) { backend in
          tick(backend)
          for await _ in AsyncStream<Void>.makeStream().stream {}
        }
      })
    guard case .hasNoEnd(seed: 9, _) = error else { throw error }
  }

  @Test("tests run beside each other, and inside of each other")
  func beside() async throws {
    // Beside other tests a thread may get no CPU for long, and the outer test waits in real time for the inner one.
    @Sendable func run() async throws -> [String] {
      try await withSeededTasks(seed: 5, patience: .seconds(100), Self.order)
    }
    let alone = try await run()
    try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<8 { group.addTask { try await run() } }
      for try await order in group { #expect(order == alone) }
    }
    let inner = try await withSeededTasks(seed: 1, patience: .seconds(100)) { _ in try await run() }
    #expect(inner == alone)
  }

  /// Polls, where the caller is, until another task has slept.
  static func poll(_ backend: DeterministicBackend, isolation: isolated (any Actor)? = #isolation) async {
    let wakes = Counter()
    Task {
      try await Task.sleep(for: .milliseconds(10))
      wakes.increment()
    }
    while wakes.value == 0 { await Task.yield() }
    #expect(backend.now >= .milliseconds(10) && backend.now < .milliseconds(100))
  }

  @Test("a task that polls lets time pass, and one that never ends is told")
  func polling() async throws {
    try await withSeededTasks(seed: 1) { backend in
      await Self.poll(backend)
    }
    let error = try #require(
      await #expect(throws: SeededTasksError.self) {
        try await withSeededTasks(seed: 9) { _ in
          Task(name: "ticks") { while true { try await Task.sleep(for: .seconds(1)) } }
          for await _ in AsyncStream<Void>.makeStream().stream {}
        }
      })
    guard case .hasNoEnd(seed: 9, let tasks) = error else { throw error }
    #expect(tasks.contains { $0.contains("\"ticks\"") })
  }

  @Test("a body that somebody resumes behind the end of its test adds nothing")
  func lateBody() async throws {
    let end = AsyncStream<Void>.makeStream()
    let (late, added) = (Counter(), Counter())
    await #expect(throws: SeededTasksError.self) {
      try await withSeededTasks(seed: 1, patience: .milliseconds(20)) { _ in
        for await _ in end.stream {}
        OperationQueue().addOperation { added.increment() }
        late.increment()
      }
    }
    end.continuation.finish()
    try await AsynchronousTest.eventually("the body goes on") { late.value > 0 }
    #expect(added.value == 0)
  }

  @Test("a task of others that a test resumes stays outside")
  func foreignTask() async throws {
    let (begun, inside, resumed) = (
      AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream()
    )
    let test = Task {
      try await withSeededTasks(seed: 1, patience: .seconds(100)) { _ in
        begun.continuation.finish()
        for await _ in inside.stream {}
        resumed.continuation.finish()
      }
    }
    for await _ in begun.stream {}
    // Younger than the test's own task.
    let isOutside = Task {
      inside.continuation.finish()
      for await _ in resumed.stream {}
      // On a thread of the test the sleep would take no time, and would be dropped at the test's end.
      let before = SuspendingClock.now
      try? await Task.sleep(for: .milliseconds(5))
      return SuspendingClock.now - before >= .milliseconds(5) && !(OperationQueue().backend is DeterministicBackend)
    }
    try await test.value
    #expect(await isOutside.value)
  }

  @Test("an order by priorities holds a task up for long, and repeats itself")
  func priorities() async throws {
    /// Whether another task goes on within 20 steps of this one.
    @Sendable func isSeen(_ backend: DeterministicBackend) async -> Bool {
      let steps = Counter()
      let other = Task { _ = steps.increment() }
      for _ in 0..<20 { await Task.yield() }
      let isSeen = steps.value > 0
      await other.value
      return isSeen
    }
    func seen(_ order: TaskOrder) async throws -> Int {
      var seen = 0
      for seed in 0..<100 as Range<UInt64> {
        seen += try await withSeededTasks(seed: seed, order: order, isSeen) ? 1 : 0
      }
      return seen
    }
    #expect(try await seen(.even) == 100)
    let byPriorities = try await seen(.priorities(changes: 0))
    #expect((30...70).contains(byPriorities), "\(byPriorities)")
    #expect(try await seen(.priorities(changes: 0)) == byPriorities)
    try await forEachSeed(0..<20, order: .priorities(changes: 3), checksDeterminism: true) { backend in
      #expect(await Self.order(backend).count == 11)
    }
    // A task that polls is no end.
    try await withSeededTasks(seed: 1, order: .priorities(changes: 0)) { _ in
      let wakes = Counter()
      for _ in 0..<5 { Task { wakes.increment() } }
      while wakes.value < 5 { await Task.yield() }
    }
  }

  @Test("what leaves is named, and a test may demand that nothing does")
  func departures() async throws {
    let order = try await withSeededTasks(seed: 4, mayLeave: false) { backend in
      (await Self.order(backend), backend.departures)
    }
    #expect(order.0.count == 11 && order.1.isEmpty)
    let elsewhere = Elsewhere()
    let lines = try await withSeededTasks(seed: 4, patience: .seconds(100)) { backend in
      await elsewhere.visit()
      // This thread may resume the task before it is suspended: then nothing has left.
      await withUnsafeContinuation { continuation in DispatchQueue(label: "a queue").async { continuation.resume() } }
      return backend.departures
    }
    #expect(lines.allSatisfy { $0.hasPrefix("task 1 was handed over by the thread ") }, "\(lines)")
    #expect((1...2).contains(lines.count), "\(lines)")
    let error = try #require(
      await #expect(throws: SeededTasksError.self) {
        try await withSeededTasks(seed: 4, patience: .seconds(100), mayLeave: false) { _ in await elsewhere.visit() }
      })
    guard case .left(seed: 4, let departures) = error else { throw error }
    await #expect(throws: SeedFailure.self) {
      try await forEachSeed([4], patience: .seconds(100), mayLeave: false) { _ in await elsewhere.visit() }
    }
    #expect(departures.count == 1 && "\(error)".hasSuffix("tasks left the order of the test\n\(departures[0])"))
  }

  @Test("the shortest failure of many seeds is found")
  func shortest() async throws {
    let failure = try await #require(throws: SeedFailure.self) {
      try await forEachSeed(0..<20, finds: .shortest) { backend in
        for _ in 0..<(20 - backend.seed) { await Task.yield() }
        if backend.seed % 5 == 3 { throw Wrong() }
      }
    }
    #expect(failure.seed == 18)
  }
}
