import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessRunning
@testable import HarnessWords

/// The sentences that a run ends with.
struct FamilyVerdictTests {
  /// `factors`: how long the arm takes, in each benchmark, beside the reference.
  func verdicts(
    _ factors: [String: [Double]], arms: [Arm] = [Sample.ours], blocks: Int = 6, spread: Double = 0,
    besides: [String] = ["raw-dispatch", "foundation"], peer: (arm: Arm, benchmark: String, factor: Double)? = nil
  ) -> [String] {
    let all = arms + [Sample.raw, Sample.reference]
    let scenarios = factors.keys.sorted().flatMap { family in
      factors[family]!.indices.map { Scenario(BenchmarkName(family, "b\($0)"), [:]) }
    }
    let plan = Plan(
      scenarios: scenarios.map {
        PlannedScenario(
          scenario: $0, arms: all, incapable: [], repeats: .calibrated(), headlines: [.nsPerOp],
          countsAllocations: false,
          notes: [])
      }, effort: .full, seed: 1)
    let rows = (1...blocks).flatMap { block in
      scenarios.flatMap { scenario in
        all.compactMap { arm -> Row? in
          let index = Int(scenario.name.benchmark.dropFirst())!
          if arm == peer?.arm, scenario.name.benchmark != peer?.benchmark { return nil }
          let factor =
            arm == Sample.reference ? 1 : arm == peer?.arm ? peer!.factor : factors[scenario.name.family]![index]
          let metric = factor.isNaN ? Metric.efficiency : .nsPerOp
          let noise = arm == Sample.reference ? 1 : 1 + spread * (block.isMultiple(of: 2) ? 1 : -1)
          return Row(
            runID: "r", block: block, process: block, valueIndex: 1, cell: CellKey(scenario, arm),
            reading: Reading(metric, factor.isNaN ? 1 : 100 * factor * noise, count: 1))
        }
      }
    }
    return FamilyVerdict.all(
      ResultTable(rows), plan: plan, reference: "foundation", ours: ["stealing", "dispatch"], besides: besides
    ).map(\.text)
  }

  @Test func oneForEachFamily() {
    #expect(
      verdicts(["overhead": [0.5, 0.125], "priority": [1.3]]) == [
        "overhead: stealing is 4.00 times as fast as foundation [4.00, 4.00] over 2 benchmarks",
        "priority: stealing takes x1.30 [1.30, 1.30] of foundation's time over 1 benchmark",
      ])
  }

  @Test func anIntervalAroundOneShowsNothing() {
    let text = verdicts(["overhead": [1]], spread: 0.1)[0]
    #expect(text.hasPrefix("overhead: stealing and foundation show no difference over 1 benchmark (x0.99"), "\(text)")
    #expect(text.contains("[0.9") && text.contains("1.1"), "\(text)")
  }

  @Test func fewBlocksAreSaid() {
    #expect(
      verdicts(["overhead": [0.5]], blocks: 2) == [
        "overhead: stealing is 2.00 times as fast as foundation over 1 benchmark, from too few blocks (2) to be sure"
      ])
  }

  @Test func severalSubjectsShareTheSentence() {
    let two = [Sample.ours, Arm(subject: "stealing", workers: 1), Arm(subject: "dispatch", workers: 2)]
    let text = verdicts(["overhead": [0.5]], arms: two)[0]
    for name in ["stealing@2 is 2.00", "stealing@1 is 2.00", "; dispatch is 2.00"] {
      #expect(text.contains(name), "\(text)")
    }
    #expect(!text.contains("raw-dispatch"))
  }

  /// A peer that runs one of two benchmarks stands beside our time for that one, not for both.
  @Test func aPeerIsComparedOverWhatBothHave() {
    let tbb = Arm(subject: "tbb", workers: 2)
    #expect(
      verdicts(["overhead": [0.5, 0.02]], arms: [Sample.ours, tbb], peer: (tbb, "b0", 0.1)) == [
        "overhead: stealing is 10.0 times as fast as foundation [10.0, 10.0] over 2 benchmarks; tbb is faster: stealing "
          + "takes 5.00 times as long [5.00, 5.00] over the 1 benchmark that both have"
      ])
  }

  @Test func withoutOthersItIsAboutTheReferences() {
    #expect(verdicts(["overhead": [0.5]], arms: []).map { $0.contains("raw-dispatch is 2.00 times") } == [true])
  }

  @Test func aFamilyWithoutTimesSaysSo() {
    #expect(verdicts(["idle": [.nan]]) == ["idle: no time to compare with foundation; the table has its numbers"])
  }

  @Test(arguments: [50, 80, 200])
  func theEndingFitsAndNamesTheCommands(width: Int) {
    let arms = ["stealing", "threadpool", "dispatch"].map { Arm(subject: $0, workers: 2) }
    let numbers = Dictionary(
      uniqueKeysWithValues: (arms.dropLast() + [Sample.reference]).map { ($0, [1: 2.0, 2: 3.0]) })
    let verdict = FamilyVerdict(
      family: "overhead", reference: "foundation", arms: arms,
      means: CommonMeans(
        [CommonMeans.Line(benchmark: "b", numbers: numbers)], arms: arms, reference: "foundation", seed: 1))
    #expect(verdict.text.hasSuffix("; no time of dispatch"), "\(verdict.text)")
    let text = RunEnding([verdict], program: "opbench", file: "a.csv").text(width: width)
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= width }, "\(text)")
    #expect(text.contains("opbench compare a.csv") && text.contains("opbench report a.csv --output report"))
    #expect(RunEnding([verdict], program: "opbench", file: nil).text(width: width).contains("--output X.csv"))
  }
}
