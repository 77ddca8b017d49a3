import HarnessMeasuring
import HarnessWords

/// One row of a result.
package struct Row: Hashable, Sendable {
  package let runID: String
  /// The machine that the process ran on; empty in a few published results, which do not say it.
  package let host: String
  /// The block, from one. Block 0 is for processes outside the interleaved blocks, such as the processes that count
  /// allocations.
  package let block: Int
  package let process: Int
  package let valueIndex: Int
  package let cell: CellKey
  package let reading: Reading

  package init(
    runID: String, host: String = "", block: Int, process: Int, valueIndex: Int, cell: CellKey, reading: Reading
  ) {
    (self.runID, self.host, self.block, self.process) = (runID, host, block, process)
    (self.valueIndex, self.cell, self.reading) = (valueIndex, cell, reading)
  }

  /// The cell's parameters and the reading's parameters.
  package var parameters: Parameters { cell.scenario.parameters.merging(reading.detail) }
}

extension Sequence<Row> {
  /// The metrics that each benchmark reports.
  var metrics: [BenchmarkName: Set<Metric>] {
    reduce(into: [:]) { $0[$1.cell.scenario.name, default: []].insert($1.reading.metric) }
  }

  /// The one time that stands for each benchmark, as a record has them. A benchmark without a time has none.
  package var primaryTimes: [String: String] {
    Dictionary(
      uniqueKeysWithValues: metrics.compactMapValues(Metric.primaryTime).map { ("\($0)", $1.name) })
  }
}
