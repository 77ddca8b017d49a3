import FoundationEssentials
import LaboratorySupport
import Synchronization
import TestSupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessWords
@testable import Laboratory

/// Throughputs, and metrics of a benchmark's own.
@Suite(.ownThread) struct OwnMetricTests {
  /// What a cache would count.
  private final class Cache: Sendable {
    private let hits = Mutex(0)

    func hit() { hits.withLock { $0 += 1 } }
    /// The hits since the last call.
    func take() -> Int {
      hits.withLock { hits in
        defer { hits = 0 }
        return hits
      }
    }
  }

  private enum Sample: BenchmarkProgram {
    static let benchmarks = [
      Benchmark(
        "a/cached", operations: 10, throughput: .bytes(perOperation: 32), setUp: { Cache() },
        measure: { cache in for _ in 0..<5 { cache.hit() } },
        metrics: [
          BenchmarkMetric("hit_rate", unit: "ratio", better: .more) { Double($0.take()) / Double($1) },
          BenchmarkMetric("entries", unit: "lines", better: .less) { _, _ in 12 },
        ]),
      Benchmark("a/items", throughput: .items(perOperation: 2.5)) { await Task.yield() },
    ]
  }

  private static func readings(_ benchmark: Benchmark, _ mode: MeasureRequest.Mode) throws -> [Reading] {
    var lines: [ResultLine] = []
    MeasuringProcess(try benchmark.trial()) { lines.append($0) }.run(mode)
    #expect(lines.last == .end)
    // As the parent reads them.
    return try lines.dropLast().map { line in
      guard case .reading(_, let reading) = try #require(ResultLine(line.text)) else { throw CheckFailed(line.text) }
      return reading
    }
  }

  /// Also behind a lead-in, each answer is about one value.
  @Test func eachValueHasItsNumbers() throws {
    let readings = try Self.readings(Sample.benchmarks[0], .time(repeats: 4, values: 3, leadIn: 1_000))
    let rates = readings.filter { $0.metric == Metric("hit_rate", unit: "ratio") }
    #expect(rates.map(\.value) == [0.5, 0.5, 0.5] && rates.allSatisfy { $0.count == 40 })
    #expect(readings.count { $0.metric == Metric("entries", unit: "lines") && $0.value == 12 } == 3)
  }

  @Test(arguments: [(0, Metric.bytesPerSecond, 32.0), (1, .itemsPerSecond, 2.5)])
  func aThroughputIsTheAmountOverTheTime(index: Int, metric: Metric, amount: Double) throws {
    let readings = try Self.readings(Sample.benchmarks[index], .time(repeats: 3, values: 2))
    let times = readings.filter { $0.metric == .nsPerOp }.map(\.value)
    let speeds = readings.filter { $0.metric == metric }.map(\.value)
    #expect(times.count == 2 && speeds.count == 2)
    for (time, speed) in zip(times, speeds) { #expect(abs(speed * time / 1e9 / amount - 1) < 1e-9) }
    #expect(metric.better == .more)
  }

  @Test func theEnvironmentSaysWhichSideIsBetter() throws {
    let suite = ProgramSuite<Sample>.suite
    var written = RunRecord(
      runID: "run", plan: LaboratorySupport.Sample.plan(), spin: Spin(roundsPerMicrosecond: 1),
      subjects: suite.subjects,
      reference: suite.reference, arguments: [], jemalloc: nil, source: "/")
    written.describe(try rows(), own: suite.metricFacts)
    let record = try RunRecord.parse(Data(try written.json().utf8), path: "a.env.json")
    #expect(record.metrics["hit_rate"] == MetricFacts(words: "hit rate", better: .more))
    #expect(record.metrics["entries"] == MetricFacts(words: "entries, in lines", better: .less))
    #expect(record.metrics["bytes_per_second"] == MetricFacts(words: "bytes per second", better: .more))
    #expect(record.primaryTimes == ["a/cached": "ns_per_op"])
  }

  private func rows() throws -> [Row] {
    let benchmark = Sample.benchmarks[0]
    let cell = CellKey(benchmark.scenario, Arm(subject: "Sample", workers: 1))
    return try Self.readings(benchmark, .time(repeats: 1, values: 1)).map {
      Row(runID: "run", block: 1, process: 1, valueIndex: 1, cell: cell, reading: $0)
    }
  }

  @Test func theTableAndTheCSVShowThem() throws {
    let benchmark = Sample.benchmarks[0]
    let plan = Plan(
      scenarios: try ProgramRun<Sample>.parse(["--benchmark", "cached"]).planned(), effort: .quick, seed: 1)
    let results = ResultTable(try rows())
    let shown = TableLine.all(results, plan.scenarios[0], reference: "Sample").map(\.metric.name)
    #expect(benchmark.ownMetrics.map(\.name) == ["bytes_per_second", "hit_rate", "entries"])
    for metric in benchmark.ownMetrics { #expect(shown.contains(metric.name)) }
    let text = Table(results, plan: plan, failures: [:]).text(
      reference: "Sample", subjects: [("Sample", "this program")], width: 120)
    #expect(text.contains("hit_rate") && text.contains("12.0 lines") && text.contains("B/s"), "\(text)")
    let csv = try rows().map(CSV.line).joined()
    #expect(csv.contains(",hit_rate,ratio,0.5,10,\r\n"), "\(csv)")
  }

  @Test func aNumberThatIsNoneFails() throws {
    let benchmark = Benchmark(
      "a/none", setUp: {}, measure: { _ in },
      metrics: [BenchmarkMetric("share", unit: "ratio", better: .more) { _, _ in .nan }])
    let own = try #require(try benchmark.trial().ownReadings)
    #expect(throws: CheckFailed("the metric share is nan, which is no number")) { try own(1) }
  }

  @Test(arguments: [
    ("bytes/s", 12, "12.0 B/s"), ("bytes/s", 2_048, "2.05 kB/s"), ("bytes/s", 3_145_728, "3.15 MB/s"),
    ("bytes/s", 4e10, "40.0 GB/s"), ("items/s", 12, "12.0 /s"), ("items/s", 1_234, "1.23 k/s"),
    ("entries", 12, "12.0 entries"), ("ratio", 0.5, "0.500"), ("switches", 2, "2.00"), ("items/s", 5e6, "5.00 M/s"),
    ("items/s", 5e9, "5.00 G/s"),
  ])
  func numbersWithTheirUnits(unit: String, value: Double, text: String) {
    #expect(NumberFormat(unit, value).text(value) == text)
  }
}
