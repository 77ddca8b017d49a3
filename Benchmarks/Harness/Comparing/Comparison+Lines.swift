import Glibc
import HarnessMeasuring
import HarnessStatistics
import HarnessWords

extension Comparison {
  /// One metric of one cell, A against B, paired by block.
  package struct Line: Sendable {
    package let scenario: Scenario
    package let metric: Metric
    let isPrimary: Bool
    package let arm: Arm
    /// What the arm is compared with: another arm of the same file, or the same arm of the other file.
    package let against: String
    package let a: Double
    package let b: Double
    /// The ratio of A to B, with the interval of the signed-rank test, widened for the number of comparisons.
    package let ratio: Estimate
    /// The logarithm of the ratio of each pair, by the place of the pair.
    package let logarithms: [Int: Double]

    /// The ratio of the two medians; nil where there is none.
    private var ratioOfMedians: Double? { Pairing.logarithm(a, over: b).map(exp) }

    /// What to say of a line whose ratio and whose medians seem to contradict each other. The ratio is the centre of
    /// the ratios of single blocks. Where blocks differ much, as tails do, the ratio of the two medians is another
    /// number.
    package var apart: String? {
      guard let other = ratioOfMedians, abs(log(other / ratio.median)) > log(RatioWords.limit) else { return nil }
      return
        "\(scenario)  \(metric.name), \(arm): \(NumberFormat.ratio(ratio.median, nil)) in the blocks, and the two medians give "
        + NumberFormat.ratio(other, nil)
    }

    package var verdict: Verdict { Verdict(ratio.interval) }

    package var verdictWords: String {
      let isTime = metric.unit == "ns"
      return switch verdict {
      case .less: isTime ? "faster" : "lower"
      case .more: isTime ? "slower" : "higher"
      case .same: "no difference shown"
      // Fewer than six pairs have no interval.
      case .open: "too few blocks"
      }
    }
  }

  /// The lines whose ratio is far from the ratio of the two medians, in words, below a heading that says what each of
  /// the two is; empty when there are none.
  package var apartLines: [String] {
    let apart = lines.compactMap(\.apart)
    guard !apart.isEmpty else { return [] }
    return [
      "in \(apart.count) of \(Count.of(lines.count, "line")) the ratio is not that of the two numbers beside it. The ratio is the centre "
        + "of the ratios of paired blocks; the numbers are medians over the blocks of each side. Blocks that differ much, as tails do, "
        + "tell the two apart:"
    ] + apart
  }

  /// The two sides of the ratios of a comparison: A to B.
  package struct Sides: Sendable {
    /// A and B in words.
    package let a: String
    package let b: String
    /// The result that A's numbers are from.
    package let result: String
    let isOneResult: Bool

    /// The subjects of one result against the reference, a subject of the same result.
    static func subjects(of result: String, reference: String) -> Sides {
      Sides(a: "each subject", b: reference, result: result, isOneResult: true)
    }

    /// The later result to the earlier result. A ratio above 1 means that the later result is slower.
    static func results(before: String, after: String) -> Sides {
      Sides(a: after, b: before, result: after, isOneResult: false)
    }

    /// The names of the two sides in the table.
    var aName: String { isOneResult ? "A" : "after" }
    var bName: String { isOneResult ? "B" : "before" }
    /// The name of the ratio, such as `A/B`.
    var ratioName: String { "\(aName)/\(bName)" }

    /// The order in which the command line names two results: the earlier result comes first.
    func ordered(_ a: String, _ b: String) -> [String] { isOneResult ? [a, b] : [b, a] }

    var heading: String {
      isOneResult ? "\(result): \(aName) \(a), \(bName) \(b)" : "\(bName): \(b), \(aName): \(a)"
    }
  }
}
