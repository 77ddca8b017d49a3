import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessWords

struct SummaryTests {
  private func lines(_ results: ResultTable, _ plan: Plan = Sample.plan()) -> [TableLine] {
    TableLine.all(results, plan.scenarios[0], reference: "foundation")
  }

  @Test func numbersOfAnySizeCanBeShown() {
    #expect(NumberFormat.significant(999_999_999_999_999) == "999999999999999")
    #expect(NumberFormat.significant(1e15) == "1000000000000000.0")
    #expect(NumberFormat.significant(-9.3e18) == "-9.3e+18")
    #expect(NumberFormat.significant(.infinity) == "inf")
    #expect(NumberFormat.significant(.nan) == "nan")
    #expect(NumberFormat("ns", 1e30).format(1e30) == "1e+21")
    #expect(NumberFormat.significant(1e-300) == "1.00e-300")
    // Three digits, also where rounding adds one.
    for (value, text) in [(9.9999, "10.0"), (99.96, "100"), (0.99996, "1.00"), (9.994, "9.99"), (0.09996, "0.100")] {
      #expect(NumberFormat.significant(value) == text)
    }
  }

  @Test func aProcessIsTheMedianOfItsValues() {
    let rows = Sample.rows(Sample.ours, block: 1, [1, 100, 2]) + Sample.rows(Sample.ours, block: 2, [4, 5, 6, 7])
    #expect(ResultTable(rows).lines.map(\.cells) == [[Sample.ours: [1: 2, 2: 5.5]]])
  }

  @Test func ratiosPairBlocks() throws {
    // Ratios 0.5, 0.1 and 0.2; block 4 has no reference. The ratio of the medians would be another. The centre lies
    // between 0.2 and the mean of the outer two.
    var rows: [Row] = []
    for (block, ours, reference) in [(1, 10.0, 20.0), (2, 10, 100), (3, 200, 1_000)] {
      rows += Sample.rows(Sample.ours, block: block, [ours]) + Sample.rows(Sample.reference, block: block, [reference])
    }
    rows += Sample.rows(Sample.ours, block: 4, [7])
    let line = try #require(lines(ResultTable(rows)).first)
    let cell = try #require(line.cells[Sample.ours])
    #expect(cell.estimate.count == 4 && cell.estimate.median == 10)
    let ratio = try #require(cell.ratio)
    #expect(
      abs(ratio.median - (0.2 * (0.5 * 0.1).squareRoot()).squareRoot()) < 1e-12 && ratio.count == 3
        && ratio.interval == nil)
    #expect(try #require(line.cells[Sample.reference]).ratio == nil)
  }

  @Test func excludedBlocksCountForNoArm() throws {
    var rows: [Row] = []
    for block in 1...3 {
      rows += Sample.rows(Sample.ours, block: block, [Double(block)]) + Sample.rows(Sample.reference, block: block, [9])
    }
    var result = RunResult()
    result.rows = rows
    result.blocksRun = Set((1...3).map { ScenarioBlock(Sample.scenario, block: $0) })
    result.disturbed = [ScenarioBlock(Sample.scenario, block: 2)]
    let line = lines(ResultTable(result))[0]
    #expect(line.cells.values.allSatisfy { $0.estimate.count == 2 })
    #expect(line.cells[Sample.ours]?.estimate.median == 2)
  }

  @Test func aReferenceThatFailedGivesNoRatio() throws {
    let rows = Sample.rows(Sample.ours, block: 1, [1]) + Sample.rows(Sample.reference, block: 1, [2])
    var result = RunResult()
    result.rows = rows
    result.failures = [CellKey(Sample.scenario, Sample.reference): "it hung in block 2"]
    let line = lines(ResultTable(result))[0]
    #expect(Array(line.cells.keys) == [Sample.ours])
    #expect(try #require(line.cells[Sample.ours]).ratio == nil)
  }

  @Test func countsNobodyCouldMakeAreAnEmptyLine() {
    let rows = Sample.rows(Sample.ours, block: 1, [1])
    let headlines: [Metric] = [.nsPerOp, .efficiency, .allocationsPerOp]
    let counting = lines(ResultTable(rows), Sample.plan(counts: true, headlines: headlines))
    #expect(counting.map(\.metric) == [.nsPerOp, .allocationsPerOp])
    #expect(counting[1].cells.isEmpty)
    #expect(lines(ResultTable(rows), Sample.plan(headlines: headlines)).map(\.metric) == [.nsPerOp])
  }

  @Test func detailsAreLinesOfTheirOwn() {
    let rows = ["high", "low"].flatMap { Sample.rows(Sample.ours, block: 1, [1], detail: ["level": $0]) }
    #expect(lines(ResultTable(rows)).map(\.parameters.description) == ["level=high;ops=10", "level=low;ops=10"])
  }
}

struct GeometricMeanLineTests {
  @Test func overAllBenchmarksWithARatio() throws {
    var rows: [Row] = []
    for block in 1...6 {
      rows += Sample.rows(Sample.ours, block: block, [100]) + Sample.rows(Sample.reference, block: block, [400])
    }
    let results = ResultTable(rows)
    let means = results.means([Sample.ours, Sample.reference], reference: "foundation", seed: 1)
    let mean = try #require(means.together.first)
    #expect(means.together.count == 1 && means.apart.isEmpty && means.leader == Sample.ours)
    #expect(abs(mean.ratio - 0.25) < 1e-12 && mean.benchmarks == 1 && mean.blocks == 6)
    // The mean of a single line says what the line says.
    let text = Table(results, plan: Sample.plan(), failures: [:]).text(reference: "foundation")
    #expect(text.contains("x0.250 [0.250, 0.250]") && !text.contains("geometric mean of the times"))
  }

  @Test func theReferenceWithAsManyWorkers() {
    let arms = [("foundation", 1), ("foundation", 2), ("foundation", 4)].map { Arm(subject: $0.0, workers: $0.1) }
    #expect(Arm.reference("foundation", for: Sample.ours, among: arms) == arms[1])
    #expect(Arm.reference("foundation", for: Arm(subject: "x", workers: 8), among: arms) == arms[2])
    #expect(Arm.reference("foundation@1", for: Sample.ours, among: arms) == arms[0])
    #expect(Arm.reference("nobody", for: Sample.ours, among: arms) == nil)
  }

  @Test func oneTimeStandsForABenchmark() {
    let p50 = Metric("latency_p50_ns", unit: "ns")
    #expect(Metric.primaryTime(of: [.cpuNsPerOp, .makespan, .nsPerOp]) == .nsPerOp)
    #expect(Metric.primaryTime(of: [Metric("latency_max_ns", unit: "ns"), p50]) == p50)
    #expect(Metric.primaryTime(of: [.cpuNsPerOp, .efficiency]) == nil)
  }

  @Test func aDifferenceThatMayBeNothingIsABound() {
    let metric = Metric("priority_overhead_ns", unit: "ns")
    func text(_ values: [Double]) -> String {
      let plan = Sample.plan(headlines: [metric])
      let rows = values.enumerated().map { index, value in
        Row(
          runID: "r", block: index + 1, process: index, valueIndex: 1, cell: CellKey(Sample.scenario, Sample.ours),
          reading: Reading(metric, value, count: 1))
      }
      return Table(ResultTable(rows), plan: plan, failures: [:])
        .text(reference: "foundation")
    }
    #expect(text([-2, -1, 1, 2, 3, 4]).contains("< 4.00 ns"))
    #expect(text([1, 2, 3, 4, 5, 6]).contains("3.50 [1.00, 6.00] ns"))
  }
}

struct TableTests {
  func text(_ rows: [Row], failures: [CellKey: String] = [:]) -> String {
    let plan = Sample.plan()
    return Table(ResultTable(rows), plan: plan, failures: failures).text(reference: "foundation")
  }

  @Test func mediansIntervalsRatiosAndCounts() {
    var rows: [Row] = []
    for block in 1...6 {
      rows += Sample.rows(Sample.ours, block: block, [100.1 + Double(block)])
      rows += Sample.rows(Sample.reference, block: block, [4_000])
    }
    let text = text(rows)
    #expect(text.contains("overhead/external-add  ops=10"))
    #expect(text.contains("a note"))
    #expect(text.contains("x0.0259 [0.0253, 0.0265]  104 ns"), "\(text)")
    #expect(text.contains("  4.00 µs\n"))
    let alone = self.text(rows.filter { $0.cell.arm == Sample.reference })
    #expect(alone.contains("4.00 [4.00, 4.00] µs"))
    #expect(text.split(separator: "\n").contains { $0.hasPrefix("    ns_per_op  6  x0.0259") })
  }

  @Test func noIntervalBelowSixProcesses() {
    let text = text((1...5).flatMap { Sample.rows(Sample.ours, block: $0, [100]) })
    #expect(text.contains("100 ns"))
    #expect(!text.contains("100 ns ["))
  }

  @Test func unstableAndFailedCellsSaySo() {
    let spread = (1...6).flatMap { Sample.rows(Sample.ours, block: $0, [100 + 10 * Double($0)]) }
    let failed = text(spread, failures: [CellKey(Sample.scenario, Sample.ours): "why"])
    #expect(failed.contains("failed") && !failed.contains("130 ns"))
    #expect(text([], failures: [CellKey(Sample.scenario, Sample.ours): "why"]).contains("failed"))
    // What the word means is in the legend, and each reason stands at the end, harmless to a terminal.
    #expect(
      failed.replacing("\n", with: " ").contains("failed: a process crashed, hung or got a wrong result")
        && !text(spread).contains("failed"))
    let reason = text(spread, failures: [CellKey(Sample.scenario, Sample.ours): "\u{1B}[2Jit hung"])
    #expect(
      reason.hasSuffix(
        "failed, and so without a number:\n  overhead/external-add on stealing@2 (ops=10): \\u{1B}[2Jit hung\n"),
      "\(reason)")
  }
}
