#if canImport(Testing)
  import Scheduling
  import Synchronization
  import Testing

  /// Gives seeds to tests and suites of Swift Testing.
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
    /// 70: Swift Testing cannot go on without the end of a test. A test without the trait that calls
    /// `withSeededTasks(seed:)` can, because that leaves such a body behind.
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
      return Self(
        seeds: first..<end, finds: finds, order: order, mayLeave: mayLeave,
        make: { .init(forTasksOf: $0, workers: workers, strategy: strategy, patience: patience) })
    }

    /// Runs a test of Swift Testing with one seed. The other parameters are those of `seeded(_:)` with several seeds.
    public static func seeded(
      _ seed: UInt64, workers: Int = 4, strategy: StealingStrategy = .init(), patience: Duration = .seconds(1),
      order: TaskOrder = .even, mayLeave: Bool = true
    ) -> Self {
      Self(
        seeds: [seed], finds: .first, order: order, mayLeave: mayLeave,
        make: { .init(forTasksOf: $0, workers: workers, strategy: strategy, patience: patience) })
    }
  }

  /// The trait that `.seeded(0..<200)` gives a test or a suite.
  public struct SeededTrait: TestTrait, SuiteTrait, TestScoping {
    private let seeds: any Sequence<UInt64> & Sendable
    private let finds: SeedSearch
    private let order: TaskOrder
    private let mayLeave: Bool
    private let make: @Sendable (UInt64) -> DeterministicBackend
    /// Which trait this is, among those that a test has from its suites.
    private let identity = Identity()

    private final class Identity: Sendable {}

    /// The trait in whose scope the calling task is: a suite and its test may have the same one.
    @TaskLocal private static var scope: Identity?

    init(
      seeds: some Sequence<UInt64> & Sendable, finds: SeedSearch, order: TaskOrder, mayLeave: Bool,
      make: @escaping @Sendable (UInt64) -> DeterministicBackend
    ) {
      (self.seeds, self.finds, self.order, self.mayLeave, self.make) = (seeds, finds, order, mayLeave, make)
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
      if Self.scope === identity { return try await function() }
      try await Self.$scope.withValue(identity) {
        try await withoutActuallyEscaping(function) { body in
          try await search(Case(test: test, testCase: testCase, body: body))
        }
      }
    }

    private struct Case {
      let test: Test
      let testCase: Test.Case?
      let body: @Sendable () async throws -> Void
    }

    /// How a run ended.
    private struct Outcome {
      let steps: [DeterministicStep]
      let error: (any Error)?
      let hasIssue: Bool

      var isFailure: Bool { hasIssue || error != nil }
    }

    private func search(_ testCase: Case) async throws {
      let seeds = SeedVariable.value.map { [$0] } ?? seeds
      var shortest: (seed: UInt64, steps: Int)?
      for seed in seeds {
        // A time limit, or who cancels the test, ends the search.
        try Task.checkCancellation()
        let isQuiet = finds == .shortest
        let outcome = await run(seed, testCase, isQuiet: isQuiet)
        guard outcome.isFailure else { continue }
        if !isQuiet { return try tell(outcome, of: seed) }
        if shortest.map({ outcome.steps.count < $0.steps }) ?? true { shortest = (seed, outcome.steps.count) }
      }
      try Task.checkCancellation()
      guard let (seed, _) = shortest else { return }
      let outcome = await run(seed, testCase, isQuiet: false)
      try tell(outcome, of: seed)
      if !outcome.isFailure {
        Issue.record(
          "seed \(seed) failed, and passed when it ran again: it does not decide all that the test does",
          sourceLocation: testCase.test.sourceLocation)
      }
    }

    private func tell(_ outcome: Outcome, of seed: UInt64) throws {
      guard let error = outcome.error else { return }
      // Swift Testing knows these: an expectation has told itself, and a test that was cancelled says no more.
      if error is ExpectationFailedError || Task.isCancelled && !(error is SeededTasksError) { throw error }
      throw SeedFailure(seed: seed, underlyingError: error, steps: outcome.steps)
    }

    /// - Parameter isQuiet: whether failures are only counted.
    private func run(_ seed: UInt64, _ testCase: Case, isQuiet: Bool) async -> Outcome {
      let (test, location) = (testCase.test, testCase.test.sourceLocation)
      SeedVariable.tell(seed, location.fileID, location.line)
      let backend = make(seed)
      let hasIssue = Mutex(false)
      let issues: IssueHandlingTrait = .compactMapIssues { issue in
        // What no test is known to have told comes here, too.
        guard issue.isFailure, Test.current?.id == test.id || DeterministicBackend.current === backend else {
          return issue
        }
        let isFirst = hasIssue.withLock { hasIssue in
          defer { hasIssue = true }
          return !hasIssue
        }
        if isQuiet { return nil }
        let steps = isFirst ? ": \(SeedFailure.words(about: backend.steps, of: seed))" : ""
        var issue = issue
        issue.comments.append("with seed \(seed)\(steps)")
        return issue
      }
      let name = "\(test.name) in \(location.fileID):\(location.line)"
      var failure: (any Error)?
      do {
        try await issues.provideScope(for: test, testCase: testCase.testCase) {
          try await backend.hostTasks(order: order, mayLeave: mayLeave, ending: .isCancelled, name: name) { _ in
            try await testCase.body()
          }
        }
      } catch { failure = error }
      return Outcome(steps: backend.steps, error: failure, hasIssue: hasIssue.withLock { $0 })
    }
  }
#endif
