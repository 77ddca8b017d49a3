import FoundationEssentials

/// A comparison in the formats that `opbench compare` writes.
package struct ComparisonReport {
  private let comparison: Comparison

  package init(_ comparison: Comparison) { self.comparison = comparison }

  // MARK: Table

  /// No line is longer than `width`, unless a single word is longer.
  package func table(width: Int = TextWidth.file) -> String {
    let table = ComparisonTable(comparison, width: width)
    let parts = [
      [comparison.sides.heading, comparison.pairing].map { WrappedText.text($0, width: width, hanging: 4) }.joined(
        separator: "\n"),
      table.text, table.means, WrappedText.text(legend, width: width),
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  /// Says what the intervals promise.
  private var legend: String {
    let widening = comparison.widening
    let paired = "x: median of the paired ratios \(comparison.sides.ratioName)"
    let counts = comparison.lines.map(\.ratio.count).filter { $0 >= 6 }
    guard let fewest = counts.min(), let together = widening.together(fewest) else {
      return "\(paired). Below six blocks there is no interval."
    }
    let promise =
      together >= Widening.familyConfidence - 1e-9
      ? "so wide that all \(widening.comparisons) together hold at 95 %"
      : "from the lowest to the highest block, the widest there is: of \(widening.comparisons) comparisons all together "
        + "hold at \(NumberFormat.significant(together * 100)) %, and \(widening.processesNeeded) blocks would reach 95 %"
    return "\(paired) [interval of the sign test, \(promise)]."
  }

  // MARK: CSV and JSON

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
        optional(line.ratio.interval?.lowerBound), optional(line.ratio.interval?.upperBound), line.verdict.rawValue,
      ])
    }
    let means = comparison.means.map { arm, against, mean in
      CSV.line([
        "all", "geometric-mean", "", "time", "ratio", arm.subject, "\(arm.workers)", comparison.sides.result, against,
        "\(mean.blocks)", "", "",
        CSV.number(mean.ratio), optional(mean.interval?.lowerBound), optional(mean.interval?.upperBound), "",
      ])
    }
    return ([CSV.line(Self.columns)] + lines + means).joined()
  }

  private struct Document: Encodable {
    struct Line: Encodable {
      let benchmark: String
      let params: String
      let metric: String
      let unit: String
      let backend: String
      let workers: Int
      let against: String
      let n: Int
      let a: Double
      let b: Double
      let ratio: Double
      let lower: Double?
      let upper: Double?
      let verdict: String
    }

    struct Mean: Encodable {
      let backend: String
      let workers: Int
      let against: String
      let ratio: Double
      let lower: Double?
      let upper: Double?
      let benchmarks: Int
      let blocks: Int
    }

    let schema: Int
    /// The two sides, in words.
    let a: String
    let b: String
    let pairing: String
    let comparisons: Int
    /// The confidence of each interval; a line with too few blocks has no interval.
    let confidence: Double
    let lines: [Line]
    let geometricMeans: [Mean]
  }

  package func json() throws -> String {
    let document = Document(
      schema: CSV.schema, a: comparison.sides.a, b: comparison.sides.b, pairing: comparison.pairing,
      comparisons: comparison.widening.comparisons, confidence: comparison.widening.confidence,
      lines: comparison.lines.map { line in
        Document.Line(
          benchmark: "\(line.scenario.name)", params: "\(line.scenario.parameters)", metric: line.metric.name,
          unit: line.metric.unit, backend: line.arm.subject, workers: line.arm.workers, against: line.against,
          n: line.ratio.count, a: line.a, b: line.b, ratio: line.ratio.median, lower: line.ratio.interval?.lowerBound,
          upper: line.ratio.interval?.upperBound, verdict: line.verdict.rawValue)
      },
      geometricMeans: comparison.means.map { arm, against, mean in
        Document.Mean(
          backend: arm.subject, workers: arm.workers, against: against, ratio: mean.ratio,
          lower: mean.interval?.lowerBound, upper: mean.interval?.upperBound, benchmarks: mean.benchmarks,
          blocks: mean.blocks)
      })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(document), as: UTF8.self) + "\n"
  }
}
