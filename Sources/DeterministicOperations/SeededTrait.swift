#if canImport(Testing)
  import Scheduling
  import Synchronization
  import Testing

  extension Trait where Self == SeededTrait {
    /// Runs a test of Swift Testing once for each seed, each time as `withSeededTasks(seed:)` does: all tasks of the
    /// test belong to the seed. On a suite, the trait is each test's in it that has none of its own.
    ///
    /// ```swift
    /// import DeterministicOperations
    /// import Testing
    ///
    /// actor Counter {
    ///   private(set) var count = 0
    ///   func add() { count += 1 }
    /// }
    ///
    /// struct CounterTests {
    ///   @Test(.seeded(0..<200)) func counts() async {
    ///     let counter = Counter()
    ///     async let first: Void = counter.add()
    ///     async let second: Void = counter.add()
    ///     _ = await (first, second)
    ///     #expect(await counter.count == 2)
    ///   }
    /// }
    /// ```
    ///
    /// An expectation that fails ends the search behind its run. The first issue says the seed and the steps until
    /// then. An error comes as a `SeedFailure`. Known issues and warnings are no failures.
    ///
    /// *The end*: where every task waits, or after a million steps, the test's task is cancelled. The test fails with
    /// what each task waited for. Where its task does not end either, a line says so, and the process ends with code
    /// 70: Swift Testing cannot go on without the end of a test. `withSeededTasks(seed:)` inside of the test can,
    /// because it leaves such a body behind.
    /// - Parameters:
    ///   - seeds: the seeds, one after the other; traps when one is negative. (In Swift 6.3 the literals of a range do
    ///     not become `UInt64` where a trait stands.) With `OPERATIONS_SEED` in the environment only that seed runs.
    ///   - workers: virtual workers, for operations.
    ///   - strategy: how the imitated pool schedules operations.
    ///   - patience: how long all tasks may wait, in real time, for something outside of the test.
    ///   - order: how a seed chooses among the tasks that can go on.
    ///   - mayLeave: whether the test may leave the order.
    ///   - finds: which failure is told. With `.shortest` all seeds run, and the one with the fewest steps runs again.
    public static func seeded(
      _ seeds: Range<some BinaryInteger>, workers: Int = 4, strategy: StealingStrategy = .init(),
      patience: Duration = .seconds(1), order: TaskOrder = .even, mayLeave: Bool = true, finds: SeedSearch = .first
    ) -> Self {
      guard let first = UInt64(exactly: seeds.lowerBound), let end = UInt64(exactly: seeds.upperBound) else {
        fatalError("Operations: the seeds \(seeds) of a test must be from 0 to \(UInt64.max)")
      }
      return Self(seeds: first..<end, finds: finds, run: runs(workers, strategy, patience, order, mayLeave: mayLeave))
    }

    /// Runs a test of Swift Testing with one seed. The other parameters are those of `seeded(_:)` with several seeds.
    public static func seeded(
      _ seed: UInt64, workers: Int = 4, strategy: StealingStrategy = .init(), patience: Duration = .seconds(1),
      order: TaskOrder = .even, mayLeave: Bool = true
    ) -> Self {
      Self(seeds: [seed], finds: .first, run: runs(workers, strategy, patience, order, mayLeave: mayLeave))
    }

    private static func runs(
      _ workers: Int, _ strategy: StealingStrategy, _ patience: Duration, _ order: TaskOrder, mayLeave: Bool
    ) -> SeededTrait.Run {
      { seed, name, body in
        let backend = DeterministicBackend(
          workers: workers, strategy: strategy, seed: seed, runsByItself: false, advancesByItself: true,
          patience: patience, recordsSteps: true)
        do {
          try await backend.hostTasks(order: order, mayLeave: mayLeave, ending: .isCancelled, name: name) { backend in
            try await body()
          }
          return .init(steps: backend.steps, error: nil)
        } catch {
          return .init(steps: backend.steps, error: error)
        }
      }
    }
  }

  /// The trait that `.seeded(0..<200)` gives a test or a suite.
  public struct SeededTrait: TestTrait, SuiteTrait, TestScoping {
    typealias Body = @Sendable () async throws -> Void
    typealias Run = @Sendable (_ seed: UInt64, _ name: String, _ body: @escaping Body) async -> Outcome

    /// How a run ended, issues apart.
    struct Outcome: Sendable {
      let steps: [DeterministicStep]
      let error: (any Error)?
    }

    private let seeds: any Sequence<UInt64> & Sendable
    private let finds: SeedSearch
    private let run: Run
    /// Which trait this is, among those that a test has from its suites.
    private let identity = Identity()

    private final class Identity: Sendable {}

    init(seeds: some Sequence<UInt64> & Sendable, finds: SeedSearch, run: @escaping Run) {
      (self.seeds, self.finds, self.run) = (seeds, finds, run)
    }

    /// True: the trait of a suite is that of its tests.
    public var isRecursive: Bool { true }

    /// - Returns: nil for a suite, and for a test with a trait of seeds that is nearer.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
      let nearest = test.traits.last { $0 is SeededTrait } as? SeededTrait
      return testCase != nil && nearest?.identity === identity ? self : nil
    }

    /// Called by Swift Testing for each case of a test.
    public func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
      try await withoutActuallyEscaping(function) { body in
        try await search(Case(test: test, testCase: testCase, body: body))
      }
    }

    private struct Case {
      let test: Test
      let testCase: Test.Case?
      let body: Body
    }

    private func search(_ testCase: Case) async throws {
      let seeds = SeedVariable.value.map { [$0] } ?? seeds
      var shortest: (seed: UInt64, steps: Int)?
      for seed in seeds {
        let isQuiet = finds == .shortest
        let (outcome, hasIssue) = await run(seed, testCase, isQuiet: isQuiet)
        guard hasIssue || outcome.error != nil else { continue }
        if !isQuiet { return try tell(outcome, of: seed) }
        if shortest.map({ outcome.steps.count < $0.steps }) ?? true { shortest = (seed, outcome.steps.count) }
      }
      guard let shortest else { return }
      try tell(await run(shortest.seed, testCase, isQuiet: false).outcome, of: shortest.seed)
    }

    private func tell(_ outcome: Outcome, of seed: UInt64) throws {
      if let error = outcome.error { throw SeedFailure(seed: seed, underlyingError: error, steps: outcome.steps) }
    }

    /// - Parameter isQuiet: whether failures are only counted.
    private func run(
      _ seed: UInt64, _ testCase: Case, isQuiet: Bool
    ) async -> (outcome: Outcome, hasIssue: Bool) {
      let location = testCase.test.sourceLocation
      SeedVariable.tell(seed, location.fileID, location.line)
      let hasIssue = Mutex(false)
      let result = Mutex<Outcome?>(nil)
      let issues: IssueHandlingTrait = .compactMapIssues { issue in
        guard issue.isFailure else { return issue }
        let isFirst = hasIssue.withLock { hasIssue in
          defer { hasIssue = true }
          return !hasIssue
        }
        if isQuiet { return nil }
        // On a thread outside of the test there is no backend.
        let steps = isFirst ? DeterministicBackend.current.map { SeedFailure.words(about: $0.steps, of: seed) } : nil
        var issue = issue
        issue.comments.append(.init(rawValue: ["with seed \(seed)", steps].compactMap(\.self).joined(separator: ": ")))
        return issue
      }
      try? await issues.provideScope(for: testCase.test, testCase: testCase.testCase) {
        let outcome = await run(seed, "\(testCase.test.name) in \(location.fileID):\(location.line)", testCase.body)
        result.withLock { $0 = outcome }
      }
      return (result.withLock { $0 } ?? .init(steps: [], error: nil), hasIssue.withLock { $0 })
    }
  }
#endif
