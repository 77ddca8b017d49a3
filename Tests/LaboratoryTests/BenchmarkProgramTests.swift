import Testing

@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessWords
@testable import Laboratory

/// Benchmarks of one's own.
struct BenchmarkProgramTests {
  enum Sample: BenchmarkProgram {
    static let benchmarks = [
      Benchmark("a/plain", operations: 10, isSingleThreaded: true) {},
      Benchmark(
        "a/checked", setUp: { 7 }, measure: { number in guard number == 7 else { throw CheckFailed("not 7") } }),
      Benchmark("a/wrong") { throw CheckFailed("wrong") },
    ]
  }

  @Test func aSuiteOfClosures() throws {
    let suite = GateSuite(build: "release", cells: ProgramSuite<Sample>.suite.gated)
    #expect(GateSuite(suite.lines) == suite)
    #expect(suite.cells.map { "\($0.cell.scenario)" } == ["a/plain", "a/checked", "a/wrong"])
    #expect(suite.cells.map(\.countsInstructions) == [true, false, false])
    #expect(suite.cells.allSatisfy { $0.cell.arm == Arm(subject: "Sample", workers: 1) && $0.countsAllocations })
  }

  /// Without it, a process of more than ten seconds counts as hung, and counting allocations takes minutes.
  @Test func aBodyThatLastsSeconds() throws {
    enum Long: BenchmarkProgram {
      static let benchmarks = [
        Benchmark("a/session") {}.lasting(.seconds(30)), Benchmark("a/short") {}.lasting(.milliseconds(20)),
        Benchmark("a/plain") {},
      ]
    }
    let arm = Arm(subject: "Long", workers: 1)
    let planned = try ProgramRun<Long>.parse([]).planned()
    #expect(planned.map(\.countsAllocations) == [false, true, true])
    #expect(planned.map(\.repeats) == [.calibrated(seconds: 30), .calibrated(seconds: 0.02), .calibrated(seconds: 0)])
    #expect(planned[0].headlines == Metric.cost && planned[2].headlines == Metric.cost + Metric.allocation)
    let plan = Plan(scenarios: planned, effort: .full, seed: 1, startup: 0.01)
    let limits = planned.map { plan.timeout(.time(CellKey($0.scenario, arm), block: 1)) }
    #expect(limits[0] >= 20 * 30 && limits[2] == 10, "\(limits)")
    #expect(ProgramSuite<Long>.suite.gated.map(\.countsAllocations) == [false, true, true])
  }

  @Test func aTrialOfAClosure() throws {
    let plain = try Sample.benchmarks[0].trial()
    let value = try plain.measure(3)
    #expect(value.readings.map(\.metric) == Metric.cost && value.readings.allSatisfy { $0.count == 30 })
    _ = try Sample.benchmarks[1].trial().measure(2)
    #expect(throws: CheckFailed.self) { try Sample.benchmarks[2].trial().measure(1) }
  }

  /// Its results are about the program, which stands beside nothing.
  @Test func aProgramOfOnesOwnIsItsOnlySubject() {
    let suite = ProgramSuite<Sample>.suite
    #expect(suite.subjects == [SubjectFacts("Sample", role: .ours, summary: "this program")])
    #expect(suite.reference == "Sample" && suite.subjects.allSatisfy { !$0.isReference && $0.line == $0.summary })
  }
}
