import Glibc
import Harness

/// A benchmark of the user's own: a name, and a closure that is timed.
///
/// ```swift
/// Benchmark("words/count", operations: 1_000) {
///   for _ in 0..<1_000 { guard count(text) == 3 else { throw CheckFailed("miscounted") } }
/// }
/// ```
public struct Benchmark: Sendable {
  /// `family/benchmark`. Results of different builds are matched by this name, so keep the name.
  public let name: BenchmarkName
  /// Whether the body uses one thread only, so that its instructions can be counted under valgrind.
  public let isSingleThreaded: Bool

  private let prepared: @Sendable () throws -> Trial

  /// - Parameters:
  ///   - name: `family/benchmark`.
  ///   - operations: the number of operations in one call of the body. All numbers are per operation.
  ///   - isSingleThreaded: whether the body uses one thread only. Give false for a body that takes over 100 ms, because
  ///     the body would take too long under valgrind.
  ///   - body: the closure that is timed. The body is called many times, so the body must leave its state as it was
  ///     before the call. The body throws, for instance `CheckFailed`, when the result is wrong; there is then no
  ///     number. A body of some milliseconds is best. A body that takes more than ten seconds counts as hung.
  public init(
    _ name: String, operations: Int = 1, isSingleThreaded: Bool = false,
    _ body: @escaping @Sendable () throws -> Void
  ) {
    self.init(name, operations: operations, isSingleThreaded: isSingleThreaded, setUp: {}, measure: { _ in try body() })
  }

  /// As the other initialiser, with a state that is made once per process, before anything is timed: input, a queue, a
  /// backend.
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

  /// The variable with the number of rounds of spinning that `validate` puts in front of every operation.
  static let delayVariable = "OPBENCH_BENCHMARK_ROUNDS"
  private static let delay = getenv(delayVariable).flatMap { Int(String(cString: $0)) } ?? 0

  /// Shows the cost of the measuring loop itself: one call that does nothing counts as many operations.
  static let nothing = Benchmark("laboratory/nothing", operations: 100_000) {}

  /// The cell of this benchmark in the gate.
  func gated(subject: String) -> GatedCell {
    GatedCell(
      CellKey(Scenario(name, [:]), Arm(subject: subject, workers: 1)),
      [
        GatedMetric(.nsPerOp, .wallClock), GatedMetric(.cpuNsPerOp, .steady),
        GatedMetric(.voluntarySwitchesPerOp, .steady),
      ], countsAllocations: true, countsInstructions: isSingleThreaded)
  }
}

/// The error that a body throws when the result is wrong.
public typealias CheckFailed = Harness.CheckFailed
