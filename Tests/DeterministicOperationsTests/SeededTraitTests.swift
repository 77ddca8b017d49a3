import DeterministicOperations
import Glibc
import Operations
import Synchronization
import TestSupport
import Testing

/// Tests of Swift Testing that a trait gives seeds.
@Suite("Tests with a trait of seeds", .seeded(0..<5, patience: .seconds(100)))
struct SeededTraitTests {
  private static let ran = Mutex<[String: [UInt64]]>([:])

  /// Looks whether the seeds of the calling test come one after the other, the first one first.
  private static func lookAtSeed(of test: String, from first: UInt64 = 0) throws {
    let seed = try #require(DeterministicBackend.current?.seed)
    let seeds = ran.withLock {
      $0[test, default: []].append(seed)
      return $0[test]
    }
    #expect(seeds == Array(first...seed) && seed < first + 5)
  }

  @Test("the trait of a suite is that of its tests, and time is the seed's")
  func hasSeeds() async throws {
    try Self.lookAtSeed(of: "suite")
    let start = ContinuousClock.now
    try await Task.sleep(for: .seconds(3_600))
    #expect(ContinuousClock.now - start >= .seconds(3_600))
    #expect(DeterministicBackend.current?.now == .seconds(3_600))
    let queue = OperationQueue()
    #expect(queue.backend === DeterministicBackend.current)
  }

  @Test("the trait of a test counts before that of its suite", .seeded(7, patience: .seconds(100)))
  func hasItsOwn() async throws { try Self.lookAtSeed(of: "own", from: 7) }

  @Test("each case of a test has the seeds", arguments: ["first", "second"])
  func hasCases(word: String) async throws { try Self.lookAtSeed(of: word) }

  @Test("a test on the main actor stays there, and a test without await has seeds, too")
  @MainActor
  func onTheMainActor() throws {
    MainActor.assertIsolated()
    try Self.lookAtSeed(of: "main")
  }

  @Test("seeds order the tasks", .seeded(0..<20, patience: .seconds(100)))
  func orders() async {
    let log = EventLog<Int>()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<6 { group.addTask { log.append(number) } }
    }
    let count = Self.orders.withLock {
      $0.insert(log.events)
      return $0.count
    }
    if DeterministicBackend.current?.seed == 19 { #expect(count > 10) }
  }
  private static let orders = Mutex<Set<[Int]>>([])
}

/// What a trait of seeds tells Swift Testing: these tests call it, as Swift Testing would.
@Suite("Failures of tests with a trait of seeds")
struct SeededFailureTests {
  private struct Wrong: Error {}

  /// Runs the body in the scope of the trait.
  private func scope(of trait: some TestScoping, _ body: @Sendable () async throws -> Void) async throws {
    try await trait.provideScope(for: #require(Test.current), testCase: .current, performing: body)
  }

  /// What the trait tells, without telling it to the test that asks.
  private func told(
    by trait: SeededTrait, _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> (issues: [Issue], failure: SeedFailure?) {
    let issues = EventLog<Issue>()
    let outer: IssueHandlingTrait = .compactMapIssues { issue in
      issues.append(issue)
      return nil
    }
    let failure = EventLog<SeedFailure>()
    try await scope(of: outer) {
      do { try await scope(of: trait, body) } catch {
        failure.append(try #require(error as? SeedFailure))
      }
    }
    return (issues.events, failure.events.first)
  }
  private static var seed: UInt64? { DeterministicBackend.current?.seed }

  @Test("an expectation that fails ends the search, and says its seed and the steps")
  func expectation() async throws {
    let runs = EventLog<UInt64>()
    let (issues, failure) = try await told(by: .seeded(3..<20, patience: .seconds(100))) {
      runs.append(Self.seed ?? 0)
      await Task.yield()
      #expect(Self.seed != 5, "the culprit")
      #expect(Self.seed != 5)
    }
    #expect(runs.events == [3, 4, 5] && failure == nil)
    #expect(issues.count == 2)
    let comments = issues.map { $0.comments.map(\.rawValue) }
    #expect(comments.first?.first == "the culprit")
    #expect(comments.first?.last?.hasPrefix("with seed 5: OPERATIONS_SEED=5 runs it again. The steps:\n  ") == true)
    #expect(comments.first?.last?.contains("task 1 goes on") == true)
    #expect(comments.last == ["with seed 5"])
  }

  @Test("an error ends the search, and is thrown with its seed and the steps")
  func thrownError() async throws {
    let runs = Counter()
    let (issues, failure) = try await told(by: .seeded(3..<20, patience: .seconds(100))) {
      runs.increment()
      await Task.yield()
      if Self.seed == 6 { throw Wrong() }
    }
    #expect(issues.isEmpty && runs.value == 4)
    #expect(failure?.seed == 6 && failure?.underlyingError is Wrong && failure?.steps.isEmpty == false)
  }

  @Test("the shortest failure is told once, and no other", arguments: [true, false])
  func shortest(throwing: Bool) async throws {
    let runs = EventLog<UInt64>()
    let (issues, failure) = try await told(by: .seeded(0..<6, patience: .seconds(100), finds: .shortest)) {
      let seed = try #require(Self.seed)
      runs.append(seed)
      for _ in 0..<(10 - seed) { await Task.yield() }
      if seed == 5 { return }
      if throwing { throw Wrong() }
      #expect(seed == 5)
    }
    #expect(runs.events == [0, 1, 2, 3, 4, 5, 4])
    #expect(issues.count == (throwing ? 0 : 1) && failure?.seed == (throwing ? 4 : nil))
    #expect(throwing || issues.first?.comments.last?.rawValue.contains("OPERATIONS_SEED=4 ") == true)
  }

  @Test("warnings and known issues are no failures", arguments: [SeedSearch.first, .shortest])
  func warnings(finds: SeedSearch) async throws {
    let runs = Counter()
    let (issues, failure) = try await told(by: .seeded(0..<4, patience: .seconds(100), finds: finds)) {
      runs.increment()
      Issue.record("look here", severity: .warning)
      withKnownIssue { Issue.record("known") }
    }
    #expect(runs.value == 4 && failure == nil && issues.count == 8 && issues.allSatisfy { !$0.isFailure })
  }

  @Test("a test that left the order, which it may not, fails")
  func leaves() async throws {
    let (issues, failure) = try await told(by: .seeded(0..<4, patience: .seconds(100), mayLeave: false)) {
      await SeededTaskTests.Elsewhere().visit()
    }
    guard case .left(seed: 0, _)? = failure?.underlyingError as? SeededTasksError else {
      Issue.record("\(issues) \(String(describing: failure))")
      return
    }
  }

  @Test("an expectation that the test requires is told once")
  func required() async throws {
    let runs = Counter()
    let outer: IssueHandlingTrait = .compactMapIssues { _ in nil }
    await #expect(throws: ExpectationFailedError.self) {
      try await scope(of: outer) {
        try await scope(of: SeededTrait.seeded(0..<4, patience: .seconds(100))) {
          runs.increment()
          try #require(Self.seed == nil)
        }
      }
    }
    #expect(runs.value == 1)
  }

  @Test("a failure that its seed does not show again is one")
  func passesAgain() async throws {
    let runs = Counter()
    let (issues, failure) = try await told(by: .seeded(0..<3, patience: .seconds(100), finds: .shortest)) {
      if runs.increment() == 2 { throw Wrong() }
    }
    #expect(runs.value == 4 && failure == nil && issues.count == 1)
    #expect(issues.first?.comments.first?.rawValue.hasPrefix("seed 1 failed, and passed when it ran again") == true)
  }

  @Test("a test that was cancelled runs no more seeds")
  func cancelledTest() async throws {
    let runs = Counter()
    let test = AsynchronousTest.spawn {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await told(by: .seeded(0..<3, patience: .seconds(100))) { runs.increment() }
    }
    _ = await test.result
    #expect(runs.value == 0)
  }

  @Test("the same trait of a suite and of its test runs each seed once")
  func sameTrait() async throws {
    let runs = Counter()
    let trait: SeededTrait = .seeded(0..<3, patience: .seconds(100))
    try await scope(of: trait) { try await scope(of: trait) { runs.increment() } }
    #expect(runs.value == 3)
  }

  @Test("a body that ends late behind its cancellation ends the test, and not the process")
  func endsLate() async throws {
    let (issues, failure) = try await told(by: .seeded(0..<3, patience: .milliseconds(200))) {
      let ended = AsyncGate()
      await withTaskCancellationHandler {
        await ended.pass()
      } onCancel: {
        // Three times the patience behind it.
        startThread {
          for _ in 0..<60 { usleep(10_000) }
          ended.open()
        }
      }
    }
    guard case .allTasksWait(seed: 0, _)? = failure?.underlyingError as? SeededTasksError else {
      Issue.record("\(issues) \(String(describing: failure))")
      return
    }
  }

  /// What the body holds, to see when the body is gone.
  private final class Held: Sendable {}

  @Test("a test all of whose tasks wait is cancelled, fails with the tasks, and lets go of all it held")
  func allTasksWait() async throws {
    weak var held: Held?
    let runs = Counter()
    do {
      let object = Held()
      held = object
      let (issues, failure) = try await told(by: .seeded(2..<9, patience: .milliseconds(50))) {
        runs.increment()
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        for await _ in stream {}
        // Behind the cancellation: the error of the body does not count any more.
        withExtendedLifetime((object, continuation)) {}
        try Task.checkCancellation()
      }
      #expect(issues.isEmpty && runs.value == 1)
      guard case .allTasksWait(seed: 2, let tasks)? = failure?.underlyingError as? SeededTasksError else {
        Issue.record("\(String(describing: failure))")
        return
      }
      #expect(tasks.first == "1 task", "\(tasks)")
    }
    #expect(held == nil)
  }

  @Test("without seeds nothing runs")
  func noSeeds() async throws {
    let (issues, failure) = try await told(by: .seeded(0..<0)) { Issue.record("ran") }
    #expect(issues.isEmpty && failure == nil)
  }
}
