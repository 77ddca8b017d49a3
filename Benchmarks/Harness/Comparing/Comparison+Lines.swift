import HarnessMeasuring
import HarnessStatistics
import HarnessWords

extension Comparison {
  /// One metric of one cell, A against B, paired by block.
  package struct Line: Sendable {
    package let scenario: Scenario
    package let metric: Metric
    package let arm: Arm
    /// What the arm is compared with: another arm of the same file, or the same arm of the other file.
    package let against: String
    package let a: Double
    package let b: Double
    /// The ratio of A to B, with the interval of the signed-rank test, widened for the number of comparisons.
    package let ratio: Estimate
    /// The logarithm of the ratio of each pair, by the place of the pair.
    package let logarithms: [Int: Double]

    package enum Verdict: String, Sendable {
      case faster, slower, lower, higher
      /// The interval holds 1.
      case same = "no difference shown"
      /// Fewer than six pairs have no interval.
      case open = "too few blocks"
    }

    package var verdict: Verdict {
      guard let interval = ratio.interval else { return .open }
      if interval.contains(1) { return .same }
      let isTime = metric.unit == "ns"
      return interval.upperBound < 1 ? (isTime ? .faster : .lower) : (isTime ? .slower : .higher)
    }
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
