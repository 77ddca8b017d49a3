import HarnessWords

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
      [
        Printable.name("\(line.arm)"), NumberFormat.ratio(line.ratio.median, line.ratio.interval),
        line.verdictWords,
      ]
    }
    let numbers = comparison.lines.map { line in
      comparison.sides.ordered(
        NumberFormat(line.metric.unit, line.a).text(line.a), NumberFormat(line.metric.unit, line.b).text(line.b))
        + ["\(line.ratio.count)"]
    }
    let sides = comparison.sides
    let names = sides.ordered(sides.aName, sides.bName)
    let wide = Table.aligned(
      [["subject", sides.ratioName, ""] + names + ["n"]] + zip(ratios, numbers).map { $0 + $1 })
    let isWide = wide.allSatisfy { TextWidth.of($0) + 2 <= width }
    let rows = isWide ? wide : Table.aligned([["subject", sides.ratioName, ""]] + ratios)
    var lines = wrapped(rows[0])
    var previous = ""
    for (index, line) in comparison.lines.enumerated() {
      let heading = Printable.name("\(line.scenario)  \(line.metric.name)")
      if heading != previous { lines += WrappedText.lines(heading, width: width, hanging: 4) }
      previous = heading
      lines += wrapped(rows[index + 1])
      let number = numbers[index]
      if !isWide { lines.append("      \(names[0]) \(number[0]), \(names[1]) \(number[1]), n \(number[2])") }
    }
    return lines.joined(separator: "\n")
  }

  /// The means over all benchmarks; empty when no benchmark has a time, and when each is over a single line of the
  /// table, which says the same.
  var means: String {
    if let common = comparison.common {
      return common.text(reference: comparison.sides.b, width: width).map(Printable.name).joined(separator: "\n")
    }
    guard comparison.means.contains(where: { $0.lines > 1 }) else { return "" }
    let rows = comparison.means.map { arm, against, mean, _ in
      [
        Printable.name("\(arm)"),
        RatioWords(mean.ratio, mean.interval).compared(with: Printable.name(against)), mean.basis,
      ]
    }
    return
      (["geometric mean of the times of each subject, \(comparison.sides.ratioName)"]
      + Table.aligned(rows).flatMap(wrapped)).joined(separator: "\n")
  }

  private func wrapped(_ row: String) -> [String] { WrappedText.lines(row, width: width, indent: 2, hanging: 6) }
}
