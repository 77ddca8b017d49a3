import Glibc
import HarnessGate
import HarnessMeasuring
import HarnessWords

/// A benchmark of the user's own: a name, parameters, and a closure that is timed.
///
/// ```swift
/// Benchmark("words/count", operations: 1_000) {
///   for _ in 0..<1_000 { guard count(text) == 3 else { throw CheckFailed("miscounted") } }
/// }
/// ```
///
/// A mistake in the description of a benchmark, such as a name without a family, ends each command of the program with
/// one line that says what is wrong.
public struct Benchmark: Sendable {
  /// `family/benchmark`. Results of different builds are matched by this name and the parameters, so keep the name.
  public let name: BenchmarkName
  /// Whether the body uses one thread only, so that its instructions can be counted under valgrind.
  public let isSingleThreaded: Bool

  let parameters: Parameters
  /// What is wrong with the description of the benchmark; nil when nothing is.
  let mistake: String?
  /// The metrics beyond those that every benchmark has, in the order in which they were given.
  let ownMetrics: [Metric]
  /// The facts of the metrics that the laboratory does not know.
  let metricFacts: [Metric: MetricFacts]

  /// What the benchmark measures, where the program has several subjects; nil for the program itself.
  private(set) var subject: String?

  /// About how long one call of the body takes, in seconds; 0 where nobody has said it.
  private(set) var expectedSeconds = 0.0

  /// An allocator that counts is slow: a session of seconds would take minutes.
  var countsAllocations: Bool { expectedSeconds < 1 }

  private let prepared: @Sendable () throws -> Trial

  /// - Parameters:
  ///   - name: `family/benchmark`.
  ///   - parameters: what distinguishes the benchmark from others of the same name, such as `["words": 1_000]`. A name
  ///     has letters, digits, `_` and `-`. A value is stored as its description, which has no space, `;` or `=`.
  ///   - operations: the number of operations in one call of the body. All numbers are per operation.
  ///   - throughput: how many items or bytes one operation handles.
  ///   - isSingleThreaded: whether the body uses one thread only. Give false for a body that takes over 100 ms, because
  ///     the body would take too long under valgrind.
  ///   - body: the closure that is timed. The body is called many times, so the body must leave its state as it was
  ///     before the call. The body throws, for instance `CheckFailed`, when the result is wrong; there is then no
  ///     number. A body of some milliseconds is best. A body that takes more than ten seconds counts as hung, where
  ///     `lasting(_:)` does not say how long it takes.
  public init(
    _ name: String, parameters: [String: any CustomStringConvertible] = [:], operations: Int = 1,
    throughput: Throughput? = nil, isSingleThreaded: Bool = false, _ body: @escaping @Sendable () throws -> Void
  ) {
    self.init(
      name, parameters: parameters, operations: operations, throughput: throughput, isSingleThreaded: isSingleThreaded,
      setUp: {}, measure: { try body() })
  }

  /// As the first initialiser, with a state that is made once per process, before anything is timed: input, a queue, a
  /// backend.
  ///
  /// `setUp` makes the state, `body` is timed with it, and `metrics` are numbers of the benchmark's own, made from the
  /// state after each value.
  @_semantics("optimize.sil.specialize.generic.never")
  public init<State>(
    _ name: String, parameters: [String: any CustomStringConvertible] = [:], operations: Int = 1,
    throughput: Throughput? = nil, isSingleThreaded: Bool = false,
    setUp: @escaping @Sendable () throws -> State,
    measure body: @escaping @Sendable (State) throws -> Void,
    metrics: [BenchmarkMetric<State>] = []
  ) {
    self.init(
      name, parameters, operations, throughput, metrics, isSingleThreaded: isSingleThreaded, empty: Self.nothing
    ) {
      let state = try setUp()
      return (
        state,
        { repeats in
          let start = Counters.read()
          for _ in 0..<repeats {
            Self.wait(operations)
            try body(state)
          }
          return Elapsed(since: start)
        }
      )
    }
  }

  /// A benchmark whose body is asynchronous.
  ///
  /// The calls follow one another in one task on the threads of Swift concurrency. The clock is read in that task,
  /// before the first call and after the last. So what the calls wait for counts, and starting the task and waking the
  /// thread that waits for the task do not. That thread is the main thread: a body that needs the main actor never
  /// ends, and counts as hung.
  public init(
    _ name: String, parameters: [String: any CustomStringConvertible] = [:], operations: Int = 1,
    throughput: Throughput? = nil, _ body: @escaping @Sendable () async throws -> Void
  ) {
    self.init(
      name, parameters: parameters, operations: operations, throughput: throughput,
      setUp: { () async in }, measure: { () async throws in try await body() })
  }

  /// As the asynchronous initialiser without a state, with a state that is made once per process, before anything is
  /// timed.
  ///
  /// `setUp` makes the state, `body` is timed with it, and `metrics` are numbers of the benchmark's own, made from the
  /// state after each value.
  @_semantics("optimize.sil.specialize.generic.never")
  public init<State: Sendable>(
    _ name: String, parameters: [String: any CustomStringConvertible] = [:], operations: Int = 1,
    throughput: Throughput? = nil,
    setUp: @escaping @Sendable () async throws -> State,
    measure body: @escaping @Sendable (State) async throws -> Void,
    metrics: [BenchmarkMetric<State>] = []
  ) {
    self.init(
      name, parameters, operations, throughput, metrics, isSingleThreaded: false, empty: Self.nothingInATask
    ) {
      let state = try AsyncWork.run(setUp)
      return (
        state,
        { repeats in
          try AsyncWork.run {
            let start = Counters.read()
            for _ in 0..<repeats {
              Self.wait(operations)
              try await body(state)
            }
            return Elapsed(since: start)
          }
        }
      )
    }
  }

  /// - Parameters:
  ///   - empty: a benchmark of the same kind whose body does nothing.
  ///   - prepare: makes the state, and a closure that times a number of calls of the body.
  ///
  /// No initialiser is specialised for a type of state. Another module calls the general code, and so must the
  /// benchmark whose body does nothing: code made for its type would have a shorter loop.
  @_semantics("optimize.sil.specialize.generic.never")
  private init<State>(
    _ name: String, _ parameters: [String: any CustomStringConvertible], _ operations: Int, _ throughput: Throughput?,
    _ metrics: [BenchmarkMetric<State>], isSingleThreaded: Bool,
    empty: @escaping @autoclosure @Sendable () -> Benchmark,
    prepare: @escaping @Sendable () throws -> (state: State, time: (_ repeats: Int) throws -> Elapsed)
  ) {
    let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    self.name = BenchmarkName(parts[0], parts.count > 1 ? parts[1] : "")
    self.isSingleThreaded = isSingleThreaded
    let texts = parameters.mapValues { "\($0)" }
    self.parameters = texts.reduce(into: [:]) { $0[$1.key] = $1.value }
    ownMetrics = (throughput.map { [$0.metric] } ?? []) + metrics.map(\.metric)
    metricFacts = Dictionary(metrics.map { ($0.metric, $0.facts) }) { first, _ in first }
    mistake = BenchmarkMistakes.first(
      name: name, parameters: texts, operations: operations, throughput: throughput, metrics: metrics.map(\.metric))
    prepared = {
      let (state, time) = try prepare()
      func measure(_ repeats: Int) throws -> Value {
        let elapsed = try time(repeats)
        let count = operations * repeats
        let speed = throughput.map { [$0.reading(operations: count, nanoseconds: elapsed.wall)] } ?? []
        return Value(elapsed.readings(operations: count) + speed)
      }
      var trial = Trial(operationsPerRepeat: operations, measure: measure)
      trial.idle = { _ = try measure(0) }
      trial.emptyCall = {
        // The least of several: what disturbs a loop only adds.
        let trial = try empty().trial()
        return try (0..<5).flatMap { _ in try trial.measure(Self.emptyCalls).readings }
          .filter { $0.metric == .nsPerOp }.map(\.value).min()! * Double(trial.operationsPerRepeat)
      }
      if !metrics.isEmpty {
        trial.ownReadings = { count in try metrics.map { try $0.reading(state, operations: count) } }
      }
      return trial
    }
  }

  private static let emptyCalls = 20_000

  /// Says that one call of the body takes about `duration`: for whole programs and sessions that take seconds.
  ///
  /// The plan of a run uses `duration`: a process makes fewer calls, a run has fewer processes, and a process counts as
  /// hung when it takes far longer than planned. Allocations are counted below one second alone. Traps when `duration`
  /// is below 0.
  ///
  /// ```swift
  /// Benchmark("pages/session") { try await session() }.lasting(.seconds(5))
  /// ```
  public func lasting(_ duration: Duration) -> Benchmark {
    precondition(duration >= .zero, "\(name): a body cannot last \(duration)")
    var benchmark = self
    benchmark.expectedSeconds = duration / .seconds(1)
    return benchmark
  }

  /// Says what the benchmark measures: a library, an algorithm, a way of doing the same work. Benchmarks of the same
  /// name and parameters with different subjects stand beside each other: `run` measures them by turns, and tables and
  /// `report` show each subject's ratio to the program's `reference`. The gate compares each subject with itself in
  /// another build.
  ///
  /// A subject's name has letters, digits, `_`, `-` and `.`. Benchmarks without a subject measure the program itself.
  ///
  /// ```swift
  /// static let benchmarks = [
  ///   Benchmark("sort/random") { sortWithTheLibrary() }.subject("library"),
  ///   Benchmark("sort/random") { sortByHand() }.subject("by-hand"),
  /// ]
  /// ```
  public func subject(_ name: String) -> Benchmark {
    var benchmark = self
    benchmark.subject = name
    return benchmark
  }

  func trial() throws -> Trial { try prepared() }

  var scenario: Scenario { Scenario(name, parameters) }

  /// The variable with the number of rounds of `Delay` that `validate` puts in front of every operation.
  static let delayVariable = "OPBENCH_BENCHMARK_ROUNDS"
  private static let delay = getenv(delayVariable).flatMap { Int(String(cString: $0)) } ?? 0

  private static func wait(_ operations: Int) {
    if delay > 0 { Delay.run(rounds: delay * operations) }
  }

  /// Shows the cost of the measuring loop itself: one call that does nothing counts as many operations.
  static let nothing = Benchmark("laboratory/nothing", operations: 100_000) {}

  /// Shows the cost of the measuring loop around an asynchronous body.
  private static let nothingInATask = Benchmark("laboratory/nothing", operations: 100_000) { () async in }

  /// - Parameter program: the subject of benchmarks that name none.
  func arm(in program: String) -> Arm { Arm(subject: subject ?? program, workers: 1) }

  /// Every subject once, in the order of the benchmarks; the program where there are no benchmarks.
  static func subjects(of benchmarks: [Benchmark], in program: String) -> [String] {
    let all = benchmarks.map { $0.arm(in: program).subject }
    return all.isEmpty ? [program] : all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// The cell of this benchmark in the gate.
  func gated(in program: String) -> GatedCell {
    GatedCell(
      CellKey(scenario, arm(in: program)),
      [
        GatedMetric(.nsPerOp, .wallClock), GatedMetric(.cpuNsPerOp, .steady),
        GatedMetric(.voluntarySwitchesPerOp, .steady),
      ], countsAllocations: countsAllocations, countsInstructions: isSingleThreaded)
  }
}

/// The error that a body throws when the result is wrong.
public typealias CheckFailed = HarnessWords.CheckFailed
