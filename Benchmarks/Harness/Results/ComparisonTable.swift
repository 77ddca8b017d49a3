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
    let ratios = comparison.lines.map { line in
      ["\(line.arm)", Scale.ratio(line.ratio.median, line.ratio.interval), line.verdict.rawValue]
    }
    let numbers = comparison.lines.map { line in
      [
        Scale(line.metric.unit, line.a).text(line.a), Scale(line.metric.unit, line.b).text(line.b),
        "\(line.ratio.count)",
      ]
    }
    let wide = Table.aligned(
      [["subject", "A/B", "", "A", "B", "n"]] + zip(ratios, numbers).map { $0 + $1 })
    let isWide = wide.allSatisfy { $0.count + 2 <= width }
    let rows = isWide ? wide : Table.aligned([["subject", "A/B", ""]] + ratios)
    var lines = wrapped(rows[0])
    var previous = ""
    for (index, line) in comparison.lines.enumerated() {
      let heading = "\(line.scenario)  \(line.metric.name)"
      if heading != previous { lines += WrappedText.lines(heading, width: width, hanging: 4) }
      previous = heading
      lines += wrapped(rows[index + 1])
      let number = numbers[index]
      if !isWide { lines.append("      A \(number[0]), B \(number[1]), n \(number[2])") }
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
