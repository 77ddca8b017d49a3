/// The table of `opbench compare`: a heading per benchmark, parameters and metric, and a line per subject. The ratio
/// comes first.
struct ComparisonTable {
  private let comparison: Comparison
  private let width: Int

  init(_ comparison: Comparison, width: Int) {
    self.comparison = comparison
    self.width = width
  }

  var text: String {
    let ratios = comparison.lines.map { line in
      ["\(line.arm)", NumberFormat.ratio(line.ratio.median, line.ratio.interval), line.verdict.rawValue]
    }
    let numbers = comparison.lines.map { line in
      ordered(NumberFormat(line.metric.unit, line.a).text(line.a), NumberFormat(line.metric.unit, line.b).text(line.b))
        + ["\(line.ratio.count)"]
    }
    let sides = comparison.sides
    let names = ordered(sides.aName, sides.bName)
    let wide = Table.aligned(
      [["subject", sides.ratioName, ""] + names + ["n"]] + zip(ratios, numbers).map { $0 + $1 })
    let isWide = wide.allSatisfy { $0.count + 2 <= width }
    let rows = isWide ? wide : Table.aligned([["subject", sides.ratioName, ""]] + ratios)
    var lines = wrapped(rows[0])
    var previous = ""
    for (index, line) in comparison.lines.enumerated() {
      let heading = "\(line.scenario)  \(line.metric.name)"
      if heading != previous { lines += WrappedText.lines(heading, width: width, hanging: 4) }
      previous = heading
      lines += wrapped(rows[index + 1])
      let number = numbers[index]
      if !isWide { lines.append("      \(names[0]) \(number[0]), \(names[1]) \(number[1]), n \(number[2])") }
    }
    return lines.joined(separator: "\n")
  }

  /// One line per arm over all benchmarks; empty when no benchmark has a time.
  var means: String {
    guard !comparison.means.isEmpty else { return "" }
    let rows = comparison.means.map { arm, against, mean in
      ["\(arm)", NumberFormat.ratio(mean.ratio, mean.interval), mean.basis, "against \(against)"]
    }
    return (["geometric mean of the times, \(comparison.sides.ratioName)"] + Table.aligned(rows).flatMap(wrapped))
      .joined(separator: "\n")
  }

  /// The order in which the command line names two results: the earlier result comes first.
  private func ordered(_ a: String, _ b: String) -> [String] { comparison.sides.isOneResult ? [a, b] : [b, a] }

  private func wrapped(_ row: String) -> [String] { WrappedText.lines(row, width: width, indent: 2, hanging: 6) }
}
