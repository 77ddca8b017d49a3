import FoundationEssentials
import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// A result in the format of the action github-action-benchmark (`tool: customSmallerIsBetter`), which draws results
/// over time. The format has the one time that stands for each benchmark, per subject.
package enum GitHubBenchmark {
  private struct Entry: Encodable {
    let name: String
    let unit: String
    let value: Double
    /// Shown beside the value.
    let range: String?
    let extra: String
  }

  private struct Line: Hashable {
    let cell: CellKey
    let metric: Metric
  }

  /// Throws when there is no time in the result.
  package static func text(_ set: ResultSet) throws -> String {
    let primary = set.rows.primaryTimes
    let rows = set.rows.filter { primary[$0.cell.scenario.name] == $0.reading.metric }
    let lines = Dictionary(grouping: rows) { Line(cell: $0.cell, metric: $0.reading.metric) }
    let entries = lines.map { line, rows in entry(line, rows) }.sorted { $0.name < $1.name }
    guard !entries.isEmpty else { throw Complaint(.badInput, "\(set.name) has no time of a benchmark to show") }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(entries), as: UTF8.self) + "\n"
  }

  private static func entry(_ line: Line, _ rows: [Row]) -> Entry {
    let processes = Dictionary(grouping: rows) { "\($0.runID) \($0.process)" }.values.map {
      Statistics.median($0.map(\.reading.value))
    }
    let estimate = Statistics.estimate(processes)
    return Entry(
      name: "\(line.cell.scenario) on \(line.cell.arm)", unit: line.metric.unit,
      value: estimate.median,
      range: estimate.interval.map {
        "\(NumberFormat.significant($0.lowerBound)) - \(NumberFormat.significant($0.upperBound))"
      },
      extra: "\(line.metric.name), median of \(estimate.count) processes")
  }
}
