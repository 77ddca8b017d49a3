/// The table of `opbench compare`: a heading per benchmark, parameters and metric, and a line per subject, the ratio
/// first.
struct ComparisonTable {
  private let comparison: Comparison
  private let width: Int

  init(_ comparison: Comparison, width: Int) {
    self.comparison = comparison
    self.width = width
  }

  var text: String {
    let rows = comparison.lines.map { line in
      [
        "\(line.arm)", Scale.ratio(line.ratio.median, line.ratio.interval), line.verdict.rawValue,
        Scale(line.metric.unit, line.a).text(line.a), Scale(line.metric.unit, line.b).text(line.b),
        "\(line.ratio.count)",
      ]
    }
    let aligned = Table.aligned([["subject", "A/B", "", "A", "B", "n"]] + rows)
    var lines = wrapped(aligned[0])
    var previous = ""
    for (line, row) in zip(comparison.lines, aligned.dropFirst()) {
      let heading = "\(line.scenario)  \(line.metric.name)"
      if heading != previous { lines += WrappedText.lines(heading, width: width, hanging: 4) }
      previous = heading
      lines += wrapped(row)
    }
    return lines.joined(separator: "\n")
  }

  /// One line per arm over all benchmarks; empty where none has a time.
  var means: String {
    guard !comparison.means.isEmpty else { return "" }
    let rows = comparison.means.map { arm, against, mean in
      ["\(arm)", Scale.ratio(mean.ratio, mean.interval), mean.basis, "against \(against)"]
    }
    return (["geometric mean of the times, A/B"] + Table.aligned(rows).flatMap(wrapped)).joined(separator: "\n")
  }

  private func wrapped(_ row: String) -> [String] { WrappedText.lines(row, width: width, indent: 2, hanging: 6) }
}
