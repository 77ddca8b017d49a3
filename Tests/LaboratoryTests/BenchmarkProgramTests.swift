import Testing

@testable import HarnessGate
@testable import HarnessMeasuring
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
