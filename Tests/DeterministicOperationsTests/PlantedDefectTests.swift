import DeterministicOperations
import Operations
import TestSupport
import Testing

/// Defects of asynchronous code, written for this test, that some orders show.
@Suite("Planted defects")
struct PlantedDefectTests {
  private struct Wrong: Error {}

  private actor Log {
    private(set) var words: [String] = []
    func add(_ word: String) { words.append(word) }
  }

  /// A defect: the test throws in some orders.
  struct Defect: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// How often the seed shows the defect again.
    let repeats: Int
    let run: @Sendable (DeterministicBackend) async throws -> Void

    init(
      _ name: String, repeats: Int = 20, _ run: @escaping @Sendable (DeterministicBackend) async throws -> Void
    ) {
      (testDescription, self.repeats, self.run) = (name, repeats, run)
    }
  }

  @Test("a defect is found within 200 seeds, and its seed shows it again, with the same steps", arguments: defects)
  func isFound(defect: Defect) async throws {
    func search(_ seeds: some Sequence<UInt64>) async throws -> SeedFailure {
      try await #require(throws: SeedFailure.self) {
        try await forEachSeed(seeds, defect.run)
      }
    }
    let failure = try await search(0..<200)
    for _ in 0..<defect.repeats {
      let again = try await search([failure.seed])
      #expect(again.steps == failure.steps)
      #expect("\(again.underlyingError)" == "\(failure.underlyingError)")
    }
  }

  @Test("some order does not show the defect", arguments: defects)
  func isHidden(defect: Defect) async throws {
    for seed in 0..<200 as Range<UInt64> {
      let isShown = await (try? withSeededTasks(seed: seed, defect.run)) == nil
      if !isShown { return }
    }
    Issue.record("each order shows it")
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
      // Each time takes a second, in which something outside might end the wait.
      Defect("a queue that deadlocks: a continuation that is never resumed", repeats: 1) { _ in
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
      await withTaskGroup(of: Void.self) { group in for _ in 0..<2 { group.addTask { await counter.add() } } }
      try check(await counter.count == 2)
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
