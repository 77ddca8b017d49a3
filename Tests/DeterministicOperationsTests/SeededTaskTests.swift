import DeterministicOperations
import Dispatch
import Operations
import TestSupport
import Testing

/// All tasks of a test belong to a seed.
@Suite("Seeded tasks")
struct SeededTaskTests {
  private struct Wrong: Error {}

  private actor Log {
    private(set) var words: [String] = []
    func add(_ word: String) { words.append(word) }
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
          let waiter = Task { for await _ in AsyncStream<Void>.makeStream().stream {} }
          await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
          await waiter.value
        }
      })
    #expect(error == .allTasksWait(seed: 3))
  }

  @Test("tests run beside each other, and inside of each other")
  func beside() async throws {
    let alone = try await withSeededTasks(seed: 5, Self.order)
    try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<8 { group.addTask { try await withSeededTasks(seed: 5, Self.order) } }
      for try await order in group { #expect(order == alone) }
    }
    let inner = try await withSeededTasks(seed: 1) { _ in try await withSeededTasks(seed: 5, Self.order) }
    #expect(inner == alone)
  }

  @Test("a task that polls lets time pass, and one that never ends is told")
  func polling() async throws {
    try await withSeededTasks(seed: 1) { backend in
      let wakes = Counter()
      Task {
        try await Task.sleep(for: .milliseconds(10))
        wakes.increment()
      }
      while wakes.value == 0 { await Task.yield() }
      #expect(backend.now >= .milliseconds(10) && backend.now < .milliseconds(100))
    }
    await #expect(throws: SeededTasksError.hasNoEnd(seed: 9)) {
      try await withSeededTasks(seed: 9) { _ in
        Task { while true { try await Task.sleep(for: .seconds(1)) } }
        for await _ in AsyncStream<Void>.makeStream().stream {}
      }
    }
  }

  @Test("a body that somebody resumes behind the end of its test adds nothing")
  func lateBody() async throws {
    let end = AsyncStream<Void>.makeStream()
    let (late, added) = (Counter(), Counter())
    await #expect(throws: SeededTasksError.allTasksWait(seed: 1)) {
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

  // MARK: - Planted defects

  /// A defect: the test throws in some orders.
  struct Defect: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let run: @Sendable (DeterministicBackend) async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (DeterministicBackend) async throws -> Void) {
      testDescription = name
      self.run = run
    }
  }

  @Test(
    "a planted defect is found within 200 seeds, and its seed shows it again, with the same steps", arguments: defects)
  func plantedDefect(defect: Defect) async throws {
    let failure = try await #require(throws: SeedFailure.self) { try await forEachSeed(0..<200, defect.run) }
    for _ in 0..<(defect.testDescription.contains("never") ? 1 : 20) {
      let again = try await #require(throws: SeedFailure.self) { try await forEachSeed([failure.seed], defect.run) }
      #expect(again.steps == failure.steps)
      #expect("\(again.underlyingError)" == "\(failure.underlyingError)")
    }
  }

  private static func check(_ isRight: Bool) throws { if !isRight { throw Wrong() } }

  /// The planted defects, written for this test.
  static let defects =
    reentrancy + [
      Defect("a queue that exceeds its limit") { _ in
        actor Limiter {
          private let limit = 2
          private(set) var running = 0
          private(set) var most = 0
          func run(_ body: @Sendable () async -> Void) async {
            while running >= limit { await Task.yield() }
            // Others come in here.
            await Task.yield()
            running += 1
            most = max(most, running)
            await body()
            running -= 1
          }
        }
        let limiter = Limiter()
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<5 { group.addTask { await limiter.run { await Task.yield() } } }
        }
        try check(await limiter.most <= 2)
      },
      Defect("a queue that deadlocks: a continuation that is never resumed") { _ in
        actor Gate {
          private var isOpen = false
          private var waiters: [CheckedContinuation<Void, Never>] = []
          func wait() async {
            if isOpen { return }
            await Task.yield()
            // The gate may have been opened meanwhile.
            await withCheckedContinuation { waiters.append($0) }
          }
          func open() {
            isOpen = true
            for waiter in waiters { waiter.resume() }
            waiters = []
          }
        }
        let gate = Gate()
        let task = Task { await gate.wait() }
        await Task.yield()
        await gate.open()
        await task.value
      },
      Defect("two sequential awaits that another task inverts") { _ in
        let log = Log()
        let first = Task { await log.add("first") }
        let second = Task { await log.add("second") }
        await first.value
        await second.value
        try check(await log.words == ["first", "second"])
      },
      Defect("a continuation that is resumed twice") { _ in
        actor Race {
          private var isOver = false
          private(set) var resumes = 0
          func end() async {
            if isOver { return }
            await Task.yield()
            isOver = true
            resumes += 1
          }
        }
        let race = Race()
        async let answer: Void = race.end()
        async let timeout: Void = race.end()
        _ = await (answer, timeout)
        try check(await race.resumes == 1)
      },
      Defect("a debounce that fires late") { backend in
        actor Debounce {
          private var task: Task<Void, Never>?
          private(set) var fired: [Duration] = []
          func call(_ backend: DeterministicBackend) async {
            task?.cancel()
            await Task.yield()
            task = Task {
              do { try await Task.sleep(for: .milliseconds(100)) } catch { return }
              fired.append(backend.now)
            }
          }
        }
        let debounce = Debounce()
        async let first: Void = debounce.call(backend)
        async let second: Void = debounce.call(backend)
        _ = await (first, second)
        try await Task.sleep(for: .seconds(1))
        // Both calls had cancelled the earlier task before either made its own.
        try check(await debounce.fired.count == 1)
      },
      Defect("a retry that outlives its deadline") { backend in
        let deadline = backend.now + .milliseconds(100)
        let attempts = EventLog<Duration>()
        let retry = Task {
          while !Task.isCancelled {
            attempts.append(backend.now)
            // The pause swallows the cancellation.
            try? await Task.sleep(for: .milliseconds(50))
          }
        }
        try await Task.sleep(for: .milliseconds(100))
        retry.cancel()
        await retry.value
        try check(attempts.events.allSatisfy { $0 < deadline })
      },
      Defect("cancellation between check and use") { _ in
        actor Store {
          private(set) var saved = false
          func save() { saved = true }
        }
        let store = Store()
        let cancels = Counter()
        let task = Task {
          guard !Task.isCancelled else { return false }
          await Task.yield()
          await store.save()
          return cancels.value > 0
        }
        await Task.yield()
        task.cancel()
        cancels.increment()
        try check(await !task.value)
      },
      Defect("the order of two streams") { _ in
        let (numbers, words) = (AsyncStream<Int>.makeStream(), AsyncStream<String>.makeStream())
        let log = Log()
        let readers = [
          Task { for await number in numbers.stream { await log.add("\(number)") } },
          Task { for await word in words.stream { await log.add(word) } },
        ]
        numbers.continuation.yield(1)
        words.continuation.yield("one")
        numbers.continuation.finish()
        words.continuation.finish()
        for reader in readers { await reader.value }
        try check(await log.words == ["1", "one"])
      },
    ]

  /// Actors that others enter during an `await`.
  private static let reentrancy = [
    Defect("check, then act") { _ in
      actor Account {
        private(set) var balance = 100
        func pay(_ amount: Int) async {
          guard balance >= amount else { return }
          await Task.yield()
          balance -= amount
        }
      }
      let account = Account()
      async let first: Void = account.pay(80)
      async let second: Void = account.pay(80)
      _ = await (first, second)
      try check(await account.balance >= 0)
    },
    Defect("a double fetch") { _ in
      actor Cache {
        private var value: Int?
        private(set) var fetches = 0
        func get() async -> Int {
          if let value { return value }
          fetches += 1
          await Task.yield()
          value = 7
          return 7
        }
      }
      let cache = Cache()
      async let first = cache.get()
      async let second = cache.get()
      _ = await (first, second)
      try check(await cache.fetches == 1)
    },
    Defect("a lost update") { _ in
      actor Counter {
        private(set) var count = 0
        func add() async {
          let old = count
          await Task.yield()
          count = old + 1
        }
      }
      let counter = Counter()
      await withTaskGroup(of: Void.self) { group in for _ in 0..<3 { group.addTask { await counter.add() } } }
      try check(await counter.count == 3)
    },
    Defect("a list that changes while it is walked") { _ in
      actor Observers {
        private var names = ["a", "b", "c"]
        private(set) var told: [String] = []
        private func tell(_ name: String) async {
          await Task.yield()
          told.append(name)
        }
        func notify() async { for name in names { await tell(name) } }
        func remove(_ name: String) { names.removeAll { $0 == name } }
        func isTold(after name: String) -> Bool { told.contains(name) && !names.contains(name) }
      }
      let observers = Observers()
      let notify = Task { await observers.notify() }
      await Task.yield()
      await observers.remove("c")
      await notify.value
      try check(await !observers.isTold(after: "c"))
    },
  ]
}
