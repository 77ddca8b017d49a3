import FoundationEssentials
import LaboratorySupport
import Subjects
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessResults
@testable import HarnessWords
@testable import opbench

/// What a result says of its subjects and metrics, so that the report needs no list of its own.
@Suite(.ownThread) struct RecordFactsTests {
  func record(_ readings: [(BenchmarkName, Metric)]) throws -> RunRecord {
    let suite = OpbenchSuite()
    var record = RunRecord(
      runID: "run", plan: Sample.plan(), spin: Spin(roundsPerMicrosecond: 1), subjects: suite.subjects,
      reference: suite.reference, arguments: [], jemalloc: nil, source: "/")
    record.describe(
      readings.map { name, metric in
        Row(
          runID: "run", block: 1, process: 1, valueIndex: 1, cell: CellKey(Scenario(name, [:]), Sample.ours),
          reading: Reading(metric, 1, count: 1))
      })
    return try RunRecord.parse(Data(try record.json().utf8), path: "a.env.json")
  }

  @Test func theEnvironmentHasSubjectsInTheirOrderWithTheirRoles() throws {
    let record = try record([])
    #expect(record.subjects.map(\.name) == SubjectRegistry.all.map(\.name) && record.reference == "foundation")
    let roles = Dictionary(uniqueKeysWithValues: record.subjects.map { ($0.name, $0.role.rawValue) })
    for (name, role) in [
      ("stealing", "ours"), ("stealing-bare", "bare"), ("foundation", "standingReference"), ("nio", "reference"),
      ("serial", "baseline"), ("go", "peer"),
    ] {
      #expect(roles[name] == role)
    }
    #expect(record.subjects.allSatisfy { !$0.summary.isEmpty && $0.role != .control })
  }

  @Test func otherVersionsThanThePublishedAreSaid() throws {
    var record = try record([])
    record.peers = ["go": "go1.27.3", "tbb": "oneTBB 1", "mine": "1"]
    #expect(record.otherVersions(than: ["go": "go1.27.3", "tbb": "oneTBB 1", "rayon": "1"]) == nil)
    #expect(
      record.otherVersions(than: ["go": "go1.19.8", "tbb": "oneTBB 0"])
        == "other versions than in the published results: go (go1.27.3, there go1.19.8); tbb (oneTBB 1, there oneTBB 0)"
    )
    #expect(OpbenchSuite().publishedVersions["rayon"]?.hasPrefix("rayon ") == true)
  }

  @Test func theEnvironmentHasTheMetricsOfItsRows() throws {
    let record = try record([
      (BenchmarkName("overhead", "add"), .cpuNsPerOp), (BenchmarkName("overhead", "add"), .nsPerOp),
      (BenchmarkName("latency", "wake"), Metric("latency_p999_ns", unit: "ns")),
      (BenchmarkName("latency", "wake"), Metric("latency_p50_ns", unit: "ns")),
      (BenchmarkName("priority", "rank-error"), Metric.distribution("rank_error")[0]),
      (BenchmarkName("priority", "share"), .contextSwitchesPerOp), (BenchmarkName("priority", "share"), .jain),
      (BenchmarkName("priority", "share"), .executed),
    ])
    #expect(record.primaryTimes == ["overhead/add": "ns_per_op", "latency/wake": "latency_p50_ns"])
    #expect(
      record.metrics.mapValues(\.words) == [
        "cpu_ns_per_op": "CPU time per operation", "ns_per_op": "time per operation",
        "latency_p999_ns": "latency, p99.9", "latency_p50_ns": "latency, p50", "rank_error_mean": "rank error, mean",
        "context_switches_per_op": "context switches per operation", "jain": "Jain's index", "executed": "executed",
      ])
    #expect(record.metrics.filter { $0.value.better == .more }.map(\.key) == ["jain"])
    #expect(record.metrics["ns_per_op"]?.better == .less && record.metrics["rank_error_mean"]?.better == .less)
    #expect(record.metrics["executed"]?.better == nil)
  }
}
