import Testing

@testable import HarnessComparing
@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessWords
@testable import Laboratory

/// Several subjects in one program: the same benchmark of each, beside the others.
struct BenchmarkSubjectTests {
  enum Sorts: BenchmarkProgram {
    static let benchmarks =
      ["library", "by-hand"].map { name in
        Benchmark(
          "sort/random", parameters: ["n": 10], setUp: { name },
          measure: { guard $0 == name else { throw CheckFailed("not \(name)") } }
        ).subject(name)
      } + [
        Benchmark("sort/equal") {}.subject("by-hand").lasting(.seconds(2)),
        Benchmark("sort/none") {},
      ]
  }

  enum Chosen: BenchmarkProgram {
    static let benchmarks = Sorts.benchmarks
    static let reference = "by-hand"
  }

  @Test func theFirstSubjectIsTheReference() throws {
    #expect(Sorts.subjects == ["library", "by-hand", "Sorts"])
    let suite = ProgramSuite<Sorts>.suite
    #expect(suite.reference == "library" && ProgramSuite<Chosen>.suite.reference == "by-hand")
    #expect(suite.subjects.map(\.name) == Sorts.subjects && suite.subjects.allSatisfy { $0.role == .ours })
    try Sorts.check()
    try Chosen.check()
  }

  @Test func listNamesTheSubjectsOfAScenario() {
    #expect(
      ProgramList<Sorts>.lines()
        == ["sort/random n=10  (library, by-hand)", "sort/equal  (by-hand)", "sort/none  (Sorts)"])
    #expect(ProgramList<BenchmarkProgramTests.Sample>.lines() == ["a/plain", "a/checked", "a/wrong"])
  }

  /// A scenario is planned once, so that its subjects are measured by turns in one block.
  @Test func aScenarioIsPlannedOnceWithAllItsSubjects() throws {
    let planned = try ProgramRun<Sorts>.parse([]).planned()
    #expect(planned.map { $0.arms.map(\.subject) } == [["library", "by-hand"], ["by-hand"], ["Sorts"]])
    #expect(planned.map(\.countsAllocations) == [true, false, true])
    let one = try ProgramRun<Sorts>.parse(["--subject", "library"]).planned()
    #expect(one.map { "\($0.scenario)" } == ["sort/random n=10"] && one[0].arms.map(\.subject) == ["library"])
    let two = try ProgramRun<Sorts>.parse(["--subject", "Sorts,library", "--benchmark", "sort/"]).planned()
    #expect(two.map { "\($0.scenario)" } == ["sort/random n=10", "sort/none"])
  }

  @Test(arguments: [
    (["--subject", "librar"], "there is no subject 'librar'"), (["--subject", ""], "there is no subject ''"),
    (["--subject", "library,"], "there is no subject ''"),
    (
      ["--subject", "library", "--benchmark", "sort/equal"],
      "no benchmark of library matches 'sort/equal'; the subjects that have one are by-hand"
    ),
    (["--subject", "library", "--benchmark", "sort/other"], "no benchmark matches 'sort/other'"),
  ]) func aChoiceThatIsNoneIsOneLine(_ arguments: [String], words: String) throws {
    let complaint = #expect(throws: Complaint.self) { try ProgramRun<Sorts>.parse(arguments).planned() }
    let line = complaint?.description ?? ""
    #expect(complaint?.code == .usage && line.contains(words) && !line.contains("\n"), "\(line)")
  }

  /// Two subjects have the same name and the same parameters: a request names the subject, too.
  @Test func aRequestMeasuresTheSubjectThatItNames() throws {
    func request(_ name: BenchmarkName, _ parameters: Parameters, _ subject: String) -> MeasureRequest {
      MeasureRequest(
        cell: CellKey(Scenario(name, parameters), Arm(subject: subject, workers: 1)),
        mode: .calibrate(target: 1, limit: 1), seed: 1, spin: Spin(roundsPerMicrosecond: 1))
    }
    let suite = ProgramSuite<Sorts>.suite
    for subject in ["library", "by-hand"] {
      let trial = try #require(try suite.trial(request(BenchmarkName("sort", "random"), ["n": "10"], subject)))
      _ = try trial.measure(1)
    }
    #expect(try suite.trial(request(BenchmarkName("sort", "equal"), [:], "library")) == nil)
    #expect(try suite.trial(request(BenchmarkName("sort", "none"), [:], "Sorts")) != nil)
    #expect(try suite.trial(request(BenchmarkName("laboratory", "nothing"), [:], "by-hand")) != nil)
  }

  @Test func theGateMeasuresEachSubject() {
    let cells = ProgramSuite<Sorts>.suite.gated.map(\.cell)
    #expect(
      cells.map { "\($0.scenario) \($0.arm.subject)" } == [
        "sort/random n=10 library", "sort/random n=10 by-hand", "sort/equal by-hand", "sort/none Sorts",
      ])
  }

  /// The table has a subject's ratio to the reference. A metric of the program's has one as a time has.
  @Test func theTableHasTheRatioToTheReference() throws {
    enum Own: BenchmarkProgram {
      static let benchmarks = [("one", 10.0), ("two", 5.0)].map { name, number in
        Benchmark(
          "a/b", setUp: {}, measure: { _ in },
          metrics: [BenchmarkMetric("wait", unit: "ms", better: .less) { _, _ in number }]
        ).subject(name)
      }
    }
    let plan = Plan(scenarios: try ProgramRun<Own>.parse([]).planned(), effort: .quick, seed: 1)
    let rows = (1...6).flatMap { block in
      Own.benchmarks.flatMap { benchmark in
        let cell = CellKey(benchmark.scenario, benchmark.arm(in: "Own"))
        return [
          Row(
            runID: "run", block: block, process: block, valueIndex: 1, cell: cell,
            reading: Reading(
              benchmark.ownMetrics[0], (cell.arm.subject == "one" ? 10 : 5) + Double(block) / 10, count: 1))
        ]
      }
    }
    let results = ResultTable(rows)
    let lines = plan.scenarios.flatMap {
      TableLine.all(results, $0, reference: ProgramSuite<Own>.suite.reference)
    }.filter { $0.metric.name == "wait" }
    let other = try #require(lines.first?.cells[Arm(subject: "two", workers: 1)]?.ratio)
    #expect(lines.count == 1 && (0.5..<0.53).contains(other.median) && other.interval != nil, "\(other)")
    let text = Table(results, plan: plan, failures: [:]).text(
      reference: "one", subjects: [("one", ""), ("two", "")], width: 140)
    #expect(text.contains("x0.5"), "\(text)")
  }
}
