import HarnessPlanning
import HarnessWords

/// The table for readers: a section per benchmark, a line per parameters and metric, a column per arm. The ratio to the
/// reference comes first, because times differ from machine to machine.
package struct Table: Sendable {
  private let results: ResultTable
  private let plan: Plan
  private let failures: [CellKey: String]

  package init(_ results: ResultTable, plan: Plan, failures: [CellKey: String]) {
    (self.results, self.plan, self.failures) = (results, plan, failures)
  }

  /// `subjects` describes the subject of each column; `ours` are those that say over which benchmarks means stand
  /// together. No line is longer than `width`.
  package func text(
    reference: String, ours: Set<String>? = nil, subjects: [(name: String, summary: String)] = [],
    width: Int = TextWidth.file
  ) -> String {
    var names: [BenchmarkName] = []
    for planned in plan.scenarios where !names.contains(planned.scenario.name) { names.append(planned.scenario.name) }
    let lines = plan.scenarios.reduce(into: [Scenario: [TableLine]]()) {
      $0[$1.scenario] = TableLine.all(results, $1, reference: reference)
    }
    let isCompared = lines.values.contains { $0.contains { $0.cells.values.contains { $0.ratio != nil } } }
    let sections = names.map { section($0, lines, width: width) }.filter { !$0.isEmpty }
    let longest = subjects.map { TextWidth.of($0.name) }.max() ?? 0
    let columns = subjects.flatMap { subject in
      let name = TextWidth.padded(subject.name, to: longest)
      return WrappedText.lines("\(name)  \(subject.summary)", width: width, hanging: longest + 2)
    }.joined(separator: "\n")
    let means = results.means(plan.arms, ours: ours, reference: reference, seed: plan.seed)
      .text(reference: reference, width: width)
    let parts =
      sections + [
        means.joined(separator: "\n"), columns, legend(reference: reference, isCompared, width: width),
        reasons(width: width),
      ]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  /// Why each failed cell has no number. The line that was written when the cell failed has scrolled away by the end.
  private func reasons(width: Int) -> String {
    let lines = plan.scenarios.flatMap(\.cells).compactMap { cell in
      failures[cell].map { "\(cell): \(Printable.name($0))" }
    }
    guard !lines.isEmpty else { return "" }
    return
      (["failed, and so without a number:"]
      + lines.flatMap { WrappedText.lines($0, width: width, indent: 2, hanging: 6) }).joined(separator: "\n")
  }

  private func section(_ name: BenchmarkName, _ all: [Scenario: [TableLine]], width: Int) -> String {
    let planned = plan.scenarios.filter { $0.scenario.name == name }
    let lines = planned.flatMap { all[$0.scenario]! }.filter { !$0.isUnremarkable }
    let common = Self.common(lines.map(\.parameters))
    let arms = plan.arms.filter { arm in planned.contains { $0.arms.contains(arm) } }
    var rows: [TableBlocks.Line] = []
    var previous: String?
    for line in lines {
      let own = line.parameters.without(common).description
      rows.append(
        TableBlocks.Line(
          parameters: own == previous ? "" : own, metric: line.metric.name, count: count(line),
          cells: arms.map { cell(line, $0) }))
      previous = own
    }
    for missing in planned where !lines.contains(where: { $0.scenario == missing.scenario }) {
      let empty = arms.map { failures[CellKey(missing.scenario, $0)] == nil ? "-" : "failed" }
      rows.append(
        TableBlocks.Line(
          parameters: missing.scenario.parameters.without(common).description, metric: "", count: "0",
          cells: empty.map(TableCell.plain)))
    }
    for mean in ScenarioMeans.all(lines) {
      let means = arms.map { arm in
        mean.means[arm].map { NumberFormat(mean.metric.unit, $0).text($0) } ?? "-"
      }
      rows.append(
        TableBlocks.Line(
          parameters: "geometric mean of \(mean.scenarios)", metric: mean.metric.name, count: "",
          cells: means.map(TableCell.plain)))
    }
    let heading = WrappedText.lines(common.isEmpty ? "\(name)" : "\(name)  \(common)", width: width, hanging: 4)
    let notes = planned.flatMap(\.notes).flatMap { WrappedText.lines($0, width: width, indent: 2, hanging: 4) }
    let blocks = TableBlocks(arms.map(\.description), rows, width: width - 2).text
    return (heading + notes + blocks.map { "  \($0)" }).joined(separator: "\n")
  }

  private func cell(_ line: TableLine, _ arm: Arm) -> TableCell {
    if failures[CellKey(line.scenario, arm)] != nil { return .plain("failed") }
    let isCompared = line.cells.values.contains { $0.ratio != nil }
    return line.cells[arm].map { TableCell($0, line.metric, isCompared: isCompared) } ?? .plain("-")
  }

  private func count(_ line: TableLine) -> String {
    let counts = Set(line.cells.values.map(\.estimate.count)).sorted()
    return counts.count > 1 ? "\(counts[0])-\(counts[counts.count - 1])" : counts.first.map { "\($0)" } ?? "0"
  }

  private func legend(reference: String, _ isCompared: Bool, width: Int) -> String {
    let cell =
      isCompared
      ? """
      A cell: x ratio to \(reference), paired by block [95 % interval of the signed-rank test, from 6 blocks on], and the \
      median over n processes; in a line without ratios, the median with its interval. Less than 1 is better for times, \
      bytes and counts. ~ unstable: half the ratio's interval is wider than 5 %, or \
      than 15 % beyond a ratio of 3.
      """ : "A cell: median over n processes [95 % interval by order statistics, from 6 processes on]."
    let mean =
      isCompared
      ? " The geometric mean gives each benchmark one vote, with a bootstrap interval over blocks." : ""
    let failed = failures.isEmpty ? "" : " failed: a process crashed, hung or got a wrong result, as said below."
    return WrappedText.text("\(cell) - no number.\(failed)\(mean) More metrics are in the CSV.", width: width)
  }

  /// The parameters that all sets have in common.
  private static func common(_ sets: [Parameters]) -> Parameters {
    guard let first = sets.first else { return [:] }
    return sets.count > 1 ? sets.dropFirst().reduce(first) { $0.intersection($1) } : first
  }

  package static func aligned(_ rows: [[String]], trimmed: Bool = true) -> [String] {
    let widths = (rows.first ?? []).indices.map { column in rows.map { TextWidth.of($0[column]) }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).map { TextWidth.padded($0, to: $1) }
      let line = cells.joined(separator: "  ")
      return trimmed ? WrappedText.trimmed(line) : line
    }
  }
}
