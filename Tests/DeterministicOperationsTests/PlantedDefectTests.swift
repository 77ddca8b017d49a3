import DeterministicOperations
import Glibc
import Operations
import TestSupport
import Testing

/// Defects of asynchronous code, written for this test, that some orders show.
@Suite("Planted defects")
struct PlantedDefectTests {
  private struct Wrong: Error {}

  /// A defect: the test throws in some orders.
  struct Defect: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// How often the seed shows the defect again.
    let repeats: Int
    let run: @Sendable () async throws -> Void

    init(_ name: String, repeats: Int = 20, _ run: @escaping @Sendable () async throws -> Void) {
      (testDescription, self.repeats, self.run) = (name, repeats, run)
    }
  }

  @Test("a defect is found within 200 seeds, and its seed shows it again, with the same steps", arguments: defects)
  func isFound(defect: Defect) async throws {
    func search(_ seeds: some Sequence<UInt64>) async throws -> SeedFailure {
      try await #require(throws: SeedFailure.self) {
        try await forEachSeed(seeds) { _ in try await defect.run() }
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
      let isShown = await (try? withSeededTasks(seed: seed) { _ in try await defect.run() }) == nil
      if !isShown { return }
    }
    Issue.record("each order shows it")
  }

  /// How often runs in real time, and seeds, find each defect. Run by hand: `PLANTED_RUNS=1000 swift test --filter
  /// isFoundByChance`.
  @Test(
    "runs on the default executor find the defects now and then", .enabled(if: plantedRuns > 0), .serialized,
    arguments: defects)
  func isFoundByChance(defect: Defect) async throws {
    var found = 0
    for _ in 0..<Self.plantedRuns { found += try await Self.passes(defect) ? 0 : 1 }
    func seeds(_ order: TaskOrder) async -> Int {
      var seeds = 0
      for seed in 0..<200 as Range<UInt64> {
        do {
          try await withSeededTasks(seed: seed, patience: .milliseconds(20), order: order) { _ in
            try await defect.run()
          }
        } catch { seeds += 1 }
      }
      return seeds
    }
    let priorities = [await seeds(.priorities(changes: 1)), await seeds(.priorities(changes: 3))]
    print(
      "planted: \(defect.testDescription): \(found) of \(Self.plantedRuns) runs, \(await seeds(.even)) of 200 seeds, "
        + "with 1 and 3 changes of priorities \(priorities)")
  }

  private static let plantedRuns = getenv("PLANTED_RUNS").flatMap { Int(String(cString: $0)) } ?? 0

  /// One that has not ended after 100 milliseconds counts as found.
  private static func passes(_ defect: Defect) async throws -> Bool {
    let (results, continuation) = AsyncStream<Bool>.makeStream()
    Task.detached {
      do { try await defect.run() } catch { continuation.yield(false) }
      continuation.yield(true)
    }
    let limit = Task.detached {
      try await Task.sleep(for: .milliseconds(100))
      continuation.yield(false)
    }
    var iterator = results.makeAsyncIterator()
    let passes = await iterator.next() ?? false
    limit.cancel()
    return passes
  }

  private static func check(_ isRight: Bool) throws { if !isRight { throw Wrong() } }

  /// The planted defects, written for this test.
  static let defects =
    reentrancy + [
      Defect("a queue that exceeds its limit") {
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
      Defect("a queue that deadlocks: a continuation that is never resumed", repeats: 1) {
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
      Defect("two sequential awaits that another task inverts") {
        let log = SeededTaskTests.Log()
        let first = Task { await log.add("first") }
        let second = Task { await log.add("second") }
        await first.value
        await second.value
        try check(await log.words == ["first", "second"])
      },
      Defect("a continuation that is resumed twice") {
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
      Defect("a debounce that fires late") {
        actor Debounce {
          private var task: Task<Void, Never>?
          private(set) var fired = 0
          func call() async {
            task?.cancel()
            await Task.yield()
            task = Task {
              do { try await Task.sleep(for: .milliseconds(2)) } catch { return }
              fired += 1
            }
          }
        }
        let debounce = Debounce()
        async let first: Void = debounce.call()
        async let second: Void = debounce.call()
        _ = await (first, second)
        try await Task.sleep(for: .milliseconds(20))
        // Both calls had cancelled the earlier task before either made its own.
        try check(await debounce.fired == 1)
      },
      Defect("a retry that outlives its deadline") {
        let deadline = ContinuousClock.now + .milliseconds(10)
        let attempts = EventLog<ContinuousClock.Instant>()
        let retry = Task {
          while !Task.isCancelled {
            attempts.append(.now)
            // The pause swallows the cancellation.
            try? await Task.sleep(for: .milliseconds(5))
          }
        }
        try await Task.sleep(until: deadline, clock: .continuous)
        retry.cancel()
        await retry.value
        try check(attempts.events.allSatisfy { $0 < deadline })
      },
      Defect("cancellation between check and use") {
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
      Defect("the order of two streams") {
        let (numbers, words) = (AsyncStream<Int>.makeStream(), AsyncStream<String>.makeStream())
        let log = SeededTaskTests.Log()
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
    Defect("check, then act") {
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
    Defect("a double fetch") {
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
    Defect("a lost update") {
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
    Defect("a state that others see half changed") {
      actor Accounts {
        private var (savings, checking) = (100, 0)
        /// Outside of the actor.
        nonisolated func ask() async { await Task.yield() }
        var sum: Int { savings + checking }
        func move(_ amount: Int) async {
          savings -= amount
          await ask()
          checking += amount
        }
      }
      let accounts = Accounts()
      async let move: Void = accounts.move(50)
      await Task.yield()
      let sum = await accounts.sum
      await move
      try check(sum == 100)
    },
    Defect("a stop while the start is under way") {
      actor Service {
        private(set) var isRunning = false
        func start() async {
          await Task.yield()
          isRunning = true
        }
        func stop() { isRunning = false }
      }
      let service = Service()
      let start = Task { await service.start() }
      await Task.yield()
      await service.stop()
      await start.value
      try check(await !service.isRunning)
    },
    Defect("a view model of the main actor that shows an older answer") {
      @MainActor final class ViewModel {
        private(set) var shown = ""
        private nonisolated func ask(_ word: String) async -> String {
          await Task.yield()
          return word
        }
        func search(_ word: String) async { shown = await ask(word) }
      }
      let model = ViewModel()
      let first = Task { @MainActor in await model.search("s") }
      let second = Task { @MainActor in await model.search("swift") }
      await first.value
      await second.value
      try check(await model.shown == "swift")
    },
    Defect("a list that changes while it is walked") {
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
