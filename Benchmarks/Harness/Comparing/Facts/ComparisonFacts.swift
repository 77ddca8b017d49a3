import HarnessResults
import HarnessWords

/// A comparison as `opbench compare` shows it: the subjects of one result, or two results.
struct ComparisonFacts: Encodable {
  struct Line: Encodable {
    let benchmark: String
    let params: String
    let metric: String
    let unit: String
    let backend: String
    let workers: Int
    let against: String
    /// The number of paired blocks.
    let n: Int
    let a: Double
    let b: Double
    let aText: String
    let bText: String
    /// Its interval is widened for the number of comparisons.
    let ratio: RatioFacts
    let verdict: String

    init(_ line: Comparison.Line) {
      (benchmark, params) = ("\(line.scenario.name)", "\(line.scenario.parameters)")
      (metric, unit) = (line.metric.name, line.metric.unit)
      (backend, workers, against) = (line.arm.subject, line.arm.workers, line.against)
      (n, a, b) = (line.ratio.count, line.a, line.b)
      (aText, bText) = (NumberFormat(unit, a).text(a), NumberFormat(unit, b).text(b))
      (ratio, verdict) = (RatioFacts(line.ratio), line.verdictWords)
    }
  }

  struct Mean: Encodable {
    let backend: String
    let workers: Int
    let against: String
    let sentence: String
  }

  /// The two sides, in words.
  let a: String
  let b: String
  let pairing: String
  let comparisons: Int
  /// The confidence of each interval; a line with too few blocks has no interval.
  let confidence: Double
  let lines: [Line]
  let geometricMeans: [Joined<Mean, MeanFacts>]
  /// The cells that are not shown, and why.
  let missing: [String]
  /// The conditions in which two results differ.
  let conditions: [String]
  /// Nil for a result that does not name its machines.
  let machines: MachineFacts?
  /// Sentences about ratios on which kinds of machines disagree.
  let kindsDisagree: [String]

  init(_ comparison: Comparison) {
    (a, b, pairing) = (comparison.sides.a, comparison.sides.b, comparison.pairing)
    (comparisons, confidence) = (comparison.widening.comparisons, comparison.widening.confidence)
    lines = comparison.lines.map(Line.init)
    geometricMeans = comparison.means.map { arm, against, mean, lines in
      let sentence = RatioWords(mean.ratio, mean.interval).sentence(arm.subject, against: comparison.sides.b)
      return Joined(
        Mean(backend: arm.subject, workers: arm.workers, against: against, sentence: sentence),
        MeanFacts(mean, lines: lines))
    }
    (missing, conditions) = (comparison.missing, comparison.conditions)
    machines = comparison.machines.map(MachineFacts.init)
    kindsDisagree = comparison.disagreements.map(\.text)
  }
}
