/// How much wider intervals must be when several are read together (Bonferroni). Each of `comparisons` intervals at
/// `1 - 0.05 / comparisons` holds its truth, and all together do at 95 %.
///
/// Ranks end at the extremes, so few processes cannot carry many comparisons: ten processes reach 99.8 % at most,
/// enough for 25 comparisons. With more comparisons the extremes are used, and `together` says what the intervals still
/// promise.
package struct Widening: Hashable, Sendable {
  package let comparisons: Int

  package init(comparisons: Int) { self.comparisons = max(1, comparisons) }

  /// The confidence that all intervals together must reach.
  package static let familyConfidence = 0.95

  /// The confidence that one interval must reach.
  package var confidence: Double { 1 - (1 - Self.familyConfidence) / Double(comparisons) }

  /// The confidence to ask of `count` processes: the widened confidence, or the most that the processes can reach. Nil
  /// below six processes, which do not reach 95 % even for one comparison.
  package func confidence(of count: Int) -> Double? { Self.confidence(of: count, asked: confidence) }

  /// A confidence that was asked for, or the most that `count` processes can reach. Nil below six processes.
  package static func confidence(of count: Int, asked: Double) -> Double? {
    guard Statistics.medianRanks(count) != nil else { return nil }
    return min(asked, extremes(count))
  }

  /// The least confidence of the intervals of `count` processes together.
  package func together(_ count: Int) -> Double? {
    guard let asked = confidence(of: count), let coverage = SignedRank.coverage(count, confidence: asked) else {
      return nil
    }
    return max(0, 1 - Double(comparisons) * (1 - coverage))
  }

  /// The fewest processes that reach 95 % together.
  package var processesNeeded: Int {
    var count = 6
    while Self.extremes(count) < confidence { count += 1 }
    return count
  }

  /// The confidence of the interval from the smallest to the largest value.
  private static func extremes(_ count: Int) -> Double {
    // One part in 10^12 less, so that rounding does not make the extremes miss their own confidence.
    (1 - 2 / (0..<count).reduce(1.0) { power, _ in power * 2 }) * (1 - 1e-12)
  }
}
