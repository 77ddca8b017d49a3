/// One metric of one cell, A against B, paired by block.
package struct ComparedLine: Sendable {
  package let scenario: Scenario
  package let metric: Metric
  package let arm: Arm
  /// What the arm is compared with: another arm of the same file, or the same arm of the other file.
  package let against: String
  package let a: Double
  package let b: Double
  /// The ratio of A to B, with the interval of the sign test, widened for the number of comparisons.
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
