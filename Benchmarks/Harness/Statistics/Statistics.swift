import Glibc

/// Statistics without assumptions about distributions: medians, ranks and signs.
package enum Statistics {
  /// The middle value, or the mean of the two middle ones. `values` must not be empty.
  package static func median(_ values: [Double]) -> Double {
    precondition(!values.isEmpty, "the median of nothing")
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  /// The index, from zero, of the smallest sorted value that at least `fraction` of `count` values do not exceed.
  package static func nearestRank(_ fraction: Double, of count: Int) -> Int {
    // A fraction such as 0.99 is a little more than its decimal value; the slack keeps 0.99 of 100 at rank 99.
    let rank = Int((fraction * Double(count) - 1e-9 * Double(count)).rounded(.up))
    return min(max(rank, 1), count) - 1
  }

  /// The smallest of sorted values that at least `fraction` of them do not exceed. `sorted` must not be empty.
  package static func percentile<Value>(_ fraction: Double, ofSorted sorted: [Value]) -> Value {
    sorted[nearestRank(fraction, of: sorted.count)]
  }

  /// The geometric mean of values above 0; nil of nothing.
  package static func geometricMean(_ values: some Collection<Double>) -> Double? {
    values.isEmpty ? nil : exp(values.reduce(0) { $0 + log($1) } / Double(values.count))
  }

  /// Ranks, from one, between which the true median lies with at least `confidence`, and the exact confidence. The
  /// ranks are the innermost `k` and `n + 1 - k` of a binomial with one half that reach `confidence`. Nil when even the
  /// extremes do not reach `confidence` (n < 6 at 95 %).
  package static func medianRanks(
    _ count: Int, confidence: Double = 0.95
  ) -> (lower: Int, upper: Int, coverage: Double)? {
    var tail = 0.0
    var best: (lower: Int, upper: Int, coverage: Double)?
    for rank in 1..<max(1, count / 2 + 1) {
      tail += binomialHalf(count, rank - 1)
      let coverage = 1 - 2 * tail
      guard coverage >= confidence else { break }
      best = (rank, count + 1 - rank, coverage)
    }
    return best
  }

  /// The median of values that are independent of one another (one per process), with its interval.
  package static func estimate(_ values: [Double], confidence: Double = 0.95) -> Estimate {
    let sorted = values.sorted()
    let interval = medianRanks(sorted.count, confidence: confidence).map { sorted[$0.lower - 1]...sorted[$0.upper - 1] }
    return Estimate(median: median(sorted), interval: interval, count: sorted.count)
  }

  /// The centre of differences between two arms, one per block, with its interval: both invert a signed-rank test whose
  /// ranks are capped. Differences between two arms of like noise are symmetric about their centre, which the values of
  /// one arm are not.
  package static func pairedEstimate(_ differences: [Double], confidence: Double = 0.95) -> Estimate {
    precondition(!differences.isEmpty, "the centre of nothing")
    let (centre, interval) = SignedRank.estimate(differences, confidence: confidence)
    return Estimate(median: centre, interval: interval, count: differences.count)
  }

  /// P(X = k) of a binomial with n trials of probability one half.
  private static func binomialHalf(_ n: Int, _ k: Int) -> Double {
    exp(lgamma(Double(n) + 1) - lgamma(Double(k) + 1) - lgamma(Double(n - k) + 1) - Double(n) * M_LN2)
  }
}
