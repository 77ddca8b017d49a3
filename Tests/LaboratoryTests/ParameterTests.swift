import Testing

@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Laboratory

/// Benchmarks of one's own with parameters: each set is a scenario of its own, everywhere.
struct ParameterTests {
  enum Sample: BenchmarkProgram {
    static let benchmarks =
      [10, 100].flatMap { words in
        ["plain", "fast"].map { kind in
          Benchmark(
            "words/split", parameters: ["words": words, "kind": kind], operations: words, isSingleThreaded: true
          ) {
            guard kind == "plain" || words == 10 else { throw CheckFailed("\(words) \(kind)") }
          }
        }
      } + [Benchmark("words/join") {}]
  }

  static let scenarios = [
    "words/split kind=plain;words=10", "words/split kind=fast;words=10", "words/split kind=plain;words=100",
    "words/split kind=fast;words=100", "words/join",
  ]

  @Test func eachSetIsAScenario() throws {
    try Sample.check()
    let suite = ProgramSuite<Sample>.suite
    #expect(Sample.benchmarks.map { "\($0.scenario)" } == Self.scenarios)
    #expect(suite.experiment.scenarios.map(\.description) == Self.scenarios)
    #expect(suite.benchmarkNames.map(\.description) == ["words/split", "words/join"])
    let gate = GateSuite(build: "release", cells: suite.gated)
    #expect(GateSuite(gate.lines) == gate)
    #expect(gate.cells.map { "\($0.cell.scenario)" } == Self.scenarios)
  }

  @Test(arguments: [
    ("split", Array(scenarios[..<4])), ("words/split$", Array(scenarios[..<4])), ("words=10$", Array(scenarios[..<2])),
    ("split kind=fast", [scenarios[1], scenarios[3]]), ("join", [scenarios[4]]),
  ])
  func aRunMatchesNamesAndParameters(expression: String, expected: [String]) throws {
    let run = try ProgramRun<Sample>.parse(["--benchmark", expression])
    #expect(try run.chosen().map { "\($0.scenario)" } == expected)
  }

  @Test func aRunOfNoBenchmarkNamesThemAll() throws {
    let run = try ProgramRun<Sample>.parse(["--benchmark", "words=11"])
    let complaint = #expect(throws: Complaint.self) { try run.chosen() }
    #expect(complaint?.code == .usage && complaint?.description.contains("kind=fast;words=100, words/join") == true)
  }

  /// A process measures the set that it is asked for, with that set's operations, and no other.
  @Test func aProcessMeasuresItsSet() throws {
    func trial(_ parameters: Parameters) throws -> Trial? {
      let cell = CellKey(
        Scenario(BenchmarkName("words", "split"), parameters), Arm(subject: "Sample", workers: 1))
      return try ProgramSuite<Sample>.suite.trial(
        MeasureRequest(
          cell: cell, mode: .calibrate(target: 1, limit: 1), seed: 1, spin: Spin(roundsPerMicrosecond: 1)))
    }
    let small = try #require(try trial(["words": "10", "kind": "fast"]))
    #expect(small.operationsPerRepeat == 10)
    #expect(try small.measure(2).readings.map(\.count) == [20, 20, 20, 20])
    let large = try #require(try trial(["words": "100", "kind": "fast"]))
    #expect(throws: CheckFailed("100 fast")) { try large.measure(1) }
    #expect(try trial(["words": "100"]) == nil)
    #expect(try trial([:]) == nil)
  }
}
