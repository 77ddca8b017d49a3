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

  /// Throws when there is no time in the result.
  package static func text(_ set: ResultSet) throws -> String {
    let entries = ResultTable(set.rows, primary: set.primaryTimes).primaryLines.flatMap { line in
      line.cells.map { entry(line, $0.key, $0.value) }
    }.sorted { $0.name < $1.name }
    guard !entries.isEmpty else { throw Complaint(.badInput, "\(set.name) has no time of a benchmark to show") }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(entries), as: UTF8.self) + "\n"
  }

  private static func entry(_ line: ResultTable.Line, _ arm: Arm, _ processes: ResultTable.Processes) -> Entry {
    let estimate = Statistics.estimate(Array(processes.values))
    return Entry(
      name: "\(line.scenario) on \(arm)", unit: line.metric.unit,
      value: estimate.median,
      range: estimate.interval.map {
        "\(NumberFormat.significant($0.lowerBound)) - \(NumberFormat.significant($0.upperBound))"
      },
      extra: "\(line.metric.name), median of \(estimate.count) processes")
  }
}
