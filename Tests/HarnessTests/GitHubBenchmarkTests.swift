import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessResults
@testable import HarnessWords

struct GitHubBenchmarkTests {
  struct Entry: Decodable {
    let name: String
    let unit: String
    let value: Double
    let range: String?
    let extra: String
  }

  func row(_ block: Int, _ metric: Metric, _ value: Double, _ subject: String = "stealing") -> Row {
    Row(
      runID: "r", block: block, process: block, valueIndex: 1,
      cell: CellKey(Sample.scenario, Arm(subject: subject, workers: 2)), reading: Reading(metric, value, count: 10))
  }

  @Test func theOneTimeOfEachBenchmark() throws {
    let rows =
      (1...6).flatMap { [row($0, .nsPerOp, Double($0)), row($0, .cpuNsPerOp, 9), row($0, .allocationsPerOp, 1)] }
      + [row(1, .nsPerOp, 50, "foundation")]
    let text = try GitHubBenchmark.text(ResultSet(name: "a.csv", rows: rows, record: nil))
    let entries = try JSONDecoder().decode([Entry].self, from: Data(text.utf8))
    #expect(entries.map(\.name) == ["\(Sample.scenario) on foundation@2", "\(Sample.scenario) on stealing@2"])
    #expect(entries.map(\.value) == [50, 3.5] && entries.allSatisfy { $0.unit == "ns" })
    #expect(entries[0].range == nil && entries[1].range == "1.00 - 6.00")
    #expect(entries[1].extra == "ns_per_op, median of 6 processes")
  }

  @Test func aResultWithoutTimes() {
    let set = ResultSet(name: "a.csv", rows: [row(1, .allocationsPerOp, 1)], record: nil)
    #expect { try GitHubBenchmark.text(set) } throws: { ($0 as? Complaint)?.code == .badInput }
  }
}
