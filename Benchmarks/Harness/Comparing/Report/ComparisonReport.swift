import HarnessStatistics
import HarnessWords

/// A comparison in the formats that `opbench compare` writes.
package struct ComparisonReport {
  private let comparison: Comparison

  package init(_ comparison: Comparison) { self.comparison = comparison }

  // MARK: Table

  /// No line is longer than `width`, unless a single word is longer.
  package func table(width: Int = TextWidth.file) -> String {
    let table = ComparisonTable(comparison, width: width)
    func wrapped(_ text: String) -> String { WrappedText.text(Printable.name(text), width: width, hanging: 4) }
    let parts = [
      ([comparison.sides.heading, comparison.pairing] + circumstances).map(wrapped).joined(separator: "\n"),
      caution.map(wrapped) ?? "",
      table.text, table.means, WrappedText.text(legend, width: width), items(comparison.apartLines, width: width),
      items([missingHeading].compactMap { $0 } + comparison.missing, width: width),
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  /// A heading and the items below it; empty when there are none.
  private func items(_ lines: [String], width: Int) -> String {
    lines.enumerated().flatMap { index, line in
      WrappedText.lines(Printable.name(line), width: width, indent: index == 0 ? 0 : 2, hanging: index == 0 ? 4 : 6)
    }.joined(separator: "\n")
  }

  /// The line above the cells that are not shown; nil when there are none.
  private var missingHeading: String? {
    comparison.missing.isEmpty ? nil : "\(Count.of(comparison.missing.count, "cell")) left out:"
  }

  /// The conditions in which two results differ, on which machines the numbers are from, and whether kinds of them
  /// disagree.
  private var circumstances: [String] {
    comparison.conditions.map { "warning: \($0)" }
      + [
        comparison.machines?.text, comparison.peers,
        KindDisagreement.sentence(comparison.disagreements, of: comparison.lines.count).map { "warning: \($0)" },
      ].compactMap { $0 }
  }

  /// The fewest blocks of a line; a line with few blocks says less than the others.
  private var fewest: Int { comparison.lines.map(\.ratio.count).min() ?? 0 }

  /// Says that there are too few blocks for the number of comparisons, and how many would do; nil when there are
  /// enough.
  private var caution: String? {
    // The widening counts only lines that have an interval.
    let count = comparison.lines.count
    let needed = Widening(comparisons: count).processesNeeded
    guard fewest < needed else { return nil }
    let all = count == 1 ? "an interval" : "intervals that hold for all of them together at 95 %"
    let needs = count == 1 ? "needs" : "need"
    let begin = "too few blocks: \(Count.of(count, "comparison")) \(needs) \(Count.of(needed, "block")) for \(all)"
    let fewer = count == 1 ? "" : "; --benchmark compares fewer"
    let least = Set(comparison.lines.map(\.ratio.count)).count == 1 ? "there are" : "some have only"
    guard let single = Widening(comparisons: 1).confidence(of: fewest),
      let coverage = SignedRank.coverage(
        fewest, confidence: max(single, comparison.widening.confidence(of: fewest) ?? 0))
    else { return "\(begin), and \(least) \(fewest), where 6 are the fewest for any interval\(fewer)" }
    let missed = Int((Double(count) * (1 - coverage)).rounded(.up))
    return "\(begin), and \(least) \(fewest). Each interval by itself holds at "
      + "\(Self.percent(coverage)) %: by chance up to \(missed) of \(count) miss the truth\(fewer)"
  }

  /// Three significant digits, and two behind the point where three would read 100.
  private static func percent(_ share: Double) -> String {
    let percent = share * 100
    guard percent >= 99.95 else { return NumberFormat.significant(percent) }
    return NumberFormat.fixed((percent * 100).rounded(.down) / 100, digits: 2)
  }

  /// Says what the intervals are.
  private var legend: String {
    let paired = "x: centre of the paired ratios \(comparison.sides.ratioName)"
    guard comparison.lines.contains(where: { $0.ratio.interval != nil }) else {
      return "\(paired). Below six blocks there is no interval."
    }
    let promise =
      caution == nil
      ? ", so wide that all \(comparison.widening.comparisons) together hold at 95 %"
      : ", from the lowest to the highest block: the widest there is"
    return "\(paired) [interval of the signed-rank test\(promise)]."
  }

  // MARK: Markdown

  /// For a pull request or a page.
  package func markdown() -> String {
    let sides = comparison.sides
    let head =
      ["benchmark", "metric", "subject", sides.ratioName, "verdict"] + sides.ordered(sides.aName, sides.bName) + ["n"]
    var lines = ["### \(Markdown.escaped(sides.heading))", "", "\(Markdown.escaped(comparison.pairing)).", ""]
    lines += circumstances.flatMap { ["\(Markdown.escaped($0)).", ""] }
    if let caution { lines += ["**\(Markdown.escaped(caution)).**", ""] }
    lines += [Markdown.row(head), "|---|---|---|--:|---|--:|--:|--:|"]
    lines += comparison.lines.map { line in
      let format = { (value: Double) in NumberFormat(line.metric.unit, value).text(value) }
      return Markdown.row(
        [
          Markdown.code("\(line.scenario)"), line.metric.name, "\(line.arm)",
          NumberFormat.ratio(line.ratio.median, line.ratio.interval), line.verdictWords,
        ] + sides.ordered(format(line.a), format(line.b)) + ["\(line.ratio.count)"])
    }
    let means = ComparisonTable(comparison, width: .max).means.split(separator: "\n").map(String.init)
    // A line of the table that is indented is an item of the list below its heading.
    lines += means.isEmpty ? [] : [""]
    lines += means.flatMap {
      $0.hasPrefix("  ") ? ["* " + Markdown.escaped(String($0.drop { $0 == " " }))] : [Markdown.escaped($0), ""]
    }
    lines += ["", Markdown.escaped(legend)]
    for items in [comparison.apartLines, [missingHeading].compactMap { $0 } + comparison.missing] where !items.isEmpty {
      lines += ["", Markdown.escaped(items[0]), ""] + items.dropFirst().map { "* \(Markdown.escaped($0))" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  // MARK: CSV

  private static let columns = [
    "family", "benchmark", "params", "metric", "unit", "backend", "workers", "result", "against", "n", "a", "b",
    "ratio", "lower", "upper", "verdict",
  ]

  /// One record per line. The family of the geometric means is `all`. Column `a` has the number of `result`, column `b`
  /// the number of `against`.
  package func csv() -> String {
    func optional(_ number: Double?) -> String { number.map(CSV.number) ?? "" }
    let lines = comparison.lines.map { line in
      CSV.line([
        line.scenario.name.family, line.scenario.name.benchmark, "\(line.scenario.parameters)", line.metric.name,
        line.metric.unit, line.arm.subject, "\(line.arm.workers)", comparison.sides.result, line.against,
        "\(line.ratio.count)", CSV.number(line.a), CSV.number(line.b), CSV.number(line.ratio.median),
        optional(line.ratio.interval?.lowerBound), optional(line.ratio.interval?.upperBound), line.verdictWords,
      ])
    }
    let means = comparison.means.map { arm, against, mean, _ in
      CSV.line([
        "all", "geometric-mean", "", "time", "ratio", arm.subject, "\(arm.workers)", comparison.sides.result, against,
        "\(mean.blocks)", "", "",
        CSV.number(mean.ratio), optional(mean.interval?.lowerBound), optional(mean.interval?.upperBound), "",
      ])
    }
    return ([CSV.line(Self.columns)] + lines + means).joined()
  }
}
