/// The table a person reads: a section per benchmark, a line per parameters and metric, a column per arm.
package struct Table: Sendable {
  private let summary: Summary
  private let plan: Plan
  private let failures: [CellKey: String]

  package init(_ summary: Summary, plan: Plan, failures: [CellKey: String]) {
    self.summary = summary
    self.plan = plan
    self.failures = failures
  }

  /// `subjects` says of each column what it is.
  package func text(reference: String, subjects: [(name: String, summary: String)] = []) -> String {
    var names: [BenchmarkName] = []
    for planned in plan.scenarios where !names.contains(planned.scenario.name) { names.append(planned.scenario.name) }
    let sections = names.map(section).filter { !$0.isEmpty }
    let columns = Self.aligned(subjects.map { [$0.name, $0.summary] }).joined(separator: "\n")
    let parts = sections + [geometricMeans(reference: reference), columns, legend(reference: reference)]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  /// One line per arm over all benchmarks.
  private func geometricMeans(reference: String) -> String {
    let rows = plan.arms.compactMap { arm in
      summary.geometricMean(arm, seed: plan.seed).map { mean in
        let interval = mean.interval.map { " [\(Scale.range($0))]" } ?? ""
        return [
          "\(arm)", "x\(Scale.significant(mean.ratio))\(interval)",
          mean.basis,
        ]
      }
    }
    guard !rows.isEmpty else { return "" }
    return (["geometric mean of the times, ratio to \(reference)"] + Self.aligned(rows).map { "  \($0)" })
      .joined(separator: "\n")
  }

  private func section(_ name: BenchmarkName) -> String {
    let planned = plan.scenarios.filter { $0.scenario.name == name }
    let lines = summary.lines.filter { $0.scenario.name == name && !$0.isUnremarkable }
    let common = Self.common(lines.map(\.parameters))
    let arms = plan.arms.filter { arm in planned.contains { $0.arms.contains(arm) } }
    var rows = [["", ""] + arms.map(\.description) + ["n"]]
    var previous: String?
    for line in lines {
      let own = line.parameters.without(common).description
      rows.append([own == previous ? "" : own, line.metric.name] + arms.map { cell(line, $0) } + [count(line)])
      previous = own
    }
    for missing in planned where !lines.contains(where: { $0.scenario == missing.scenario }) {
      let empty = arms.map { failures[CellKey(missing.scenario, $0)] == nil ? "-" : "failed" }
      rows.append([missing.scenario.parameters.without(common).description, ""] + empty + ["0"])
    }
    for mean in ScenarioMeans.all(lines) {
      rows.append(
        ["geometric mean of \(mean.scenarios)", mean.metric.name]
          + arms.map { arm in
            mean.means[arm].map { Scale(mean.metric.unit, $0) }.map { $0.format(mean.means[arm]!) + $0.suffix } ?? "-"
          } + [""])
    }
    let notes = planned.flatMap { scenario in scenario.notes.map { "  \($0)" } }
    let heading = common.isEmpty ? "\(name)" : "\(name)  \(common)"
    return ([heading] + notes + Self.aligned(rows).map { "  \($0)" }).joined(separator: "\n")
  }

  private func cell(_ line: SummaryLine, _ arm: Arm) -> String {
    if failures[CellKey(line.scenario, arm)] != nil { return "failed" }
    guard let cell = line.cells[arm] else { return "-" }
    let scale = Scale(line.metric.unit, cell.estimate.median)
    var text = scale.format(cell.estimate.median) + scale.suffix
    if line.metric.isDifference, let interval = cell.estimate.interval, interval.contains(0) {
      return "< \(scale.format(interval.upperBound))\(scale.suffix)"
    }
    if let interval = cell.estimate.interval {
      text += " [\(scale.format(interval.lowerBound)), \(scale.format(interval.upperBound))]"
    }
    if cell.estimate.isUnstable { text += "~" }
    if let ratio = cell.ratio { text += " x\(Scale.significant(ratio.median))" }
    return text
  }

  private func count(_ line: SummaryLine) -> String {
    let counts = Set(line.cells.values.map(\.estimate.count)).sorted()
    return counts.count > 1 ? "\(counts[0])-\(counts[counts.count - 1])" : counts.first.map { "\($0)" } ?? "0"
  }

  private func legend(reference: String) -> String {
    """
    A cell: median over n processes [95 % interval by order statistics, from 6 processes on] x ratio to \(reference),
    paired by block. The geometric mean gives each benchmark one vote, with a bootstrap interval over blocks.
    ~ unstable: half the interval is wider than 5 %.   - no number.   More metrics are in the CSV.
    """
  }

  /// What all have alike.
  private static func common(_ sets: [Parameters]) -> Parameters {
    guard let first = sets.first else { return [:] }
    return sets.count > 1 ? sets.dropFirst().reduce(first) { $0.intersection($1) } : first
  }

  package static func aligned(_ rows: [[String]]) -> [String] {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      let line = cells.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }
}
