import Glibc
import Harness

/// A benchmark of one's own: a name, and a closure that does what is to be timed.
///
/// ```swift
/// Benchmark("words/count", operations: 1_000) {
///   for _ in 0..<1_000 { guard count(text) == 3 else { throw CheckFailed("miscounted") } }
/// }
/// ```
public struct Benchmark: Sendable {
  /// `family/benchmark`, by which results of different builds are matched: keep it.
  public let name: BenchmarkName
  /// Whether the body keeps to one thread, so that its instructions can be counted under valgrind.
  public let isSingleThreaded: Bool

  private let prepared: @Sendable () throws -> Trial

  /// - Parameters:
  ///   - name: `family/benchmark`.
  ///   - operations: how many operations one call of the body does; all numbers are per operation.
  ///   - isSingleThreaded: whether the body keeps to one thread. One that takes over 100 ms takes too long under
  ///     valgrind, and had better say no.
  ///   - body: what is timed. It is called as often as it takes, so it must leave things as it found them. It throws,
  ///     for instance `CheckFailed`, when the result is wrong: then there is no number. Milliseconds are best; one that
  ///     takes more than ten seconds counts as hung.
  public init(
    _ name: String, operations: Int = 1, isSingleThreaded: Bool = false,
    _ body: @escaping @Sendable () throws -> Void
  ) {
    self.init(name, operations: operations, isSingleThreaded: isSingleThreaded, setUp: {}, measure: { _ in try body() })
  }

  /// The same with something that is made once per process, before anything is timed: input, a queue, a backend.
  public init<State>(
    _ name: String, operations: Int = 1, isSingleThreaded: Bool = false,
    setUp: @escaping @Sendable () throws -> State,
    measure body: @escaping @Sendable (State) throws -> Void
  ) {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    precondition(
      parts.count == 2 && parts.allSatisfy { !$0.isEmpty && !$0.contains(where: \.isWhitespace) },
      "a benchmark's name has the form family/benchmark, without spaces; '\(name)' does not")
    precondition(operations > 0, "'\(name)' must do at least one operation")
    self.name = BenchmarkName(parts[0], parts[1])
    self.isSingleThreaded = isSingleThreaded
    prepared = {
      let state = try setUp()
      return Trial(operationsPerRepeat: operations) { repeats in
        var elapsed = Elapsed()
        let start = Counters.read()
        for _ in 0..<repeats {
          if Self.delay > 0 { Spin.run(rounds: Self.delay * operations) }
          try body(state)
        }
        elapsed.add(since: start)
        return Value(elapsed.readings(operations: operations * repeats))
      }
    }
  }

  func trial() throws -> Trial { try prepared() }

  /// The variable that holds how many rounds of spinning `validate` puts in front of every operation.
  static let delayVariable = "OPBENCH_BENCHMARK_ROUNDS"
  private static let delay = getenv(delayVariable).flatMap { Int(String(cString: $0)) } ?? 0

  /// What the measuring loop itself costs: a call that does nothing stands for many operations.
  static let nothing = Benchmark("laboratory/nothing", operations: 100_000) {}

  /// What the gate holds of it.
  func gated(subject: String) -> GatedCell {
    GatedCell(
      CellKey(Scenario(name, [:]), Arm(subject: subject, workers: 1)),
      [
        GatedMetric(.nsPerOp, .wallClock), GatedMetric(.cpuNsPerOp, .steady),
        GatedMetric(.voluntarySwitchesPerOp, .steady),
      ], countsAllocations: true, countsInstructions: isSingleThreaded)
  }
}

/// What a body throws when the result is wrong.
public typealias CheckFailed = Harness.CheckFailed
