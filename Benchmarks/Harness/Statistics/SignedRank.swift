import Glibc

/// The interval of Wilcoxon's signed-rank test: order statistics of the Walsh averages, about the estimate of Hodges and
/// Lehmann (Hollander, Wolfe and Chicken 2014, sections 3.2 and 3.3).
package enum SignedRank {
  /// The means of all pairs of values, a value with itself too, in order: n (n + 1) / 2 numbers.
  static func walshAverages(_ values: [Double]) -> [Double] {
    var averages: [Double] = []
    averages.reserveCapacity(values.count * (values.count + 1) / 2)
    for first in values.indices {
      for second in first..<values.count { averages.append((values[first] + values[second]) / 2) }
    }
    return averages.sorted()
  }

  /// The confidence of the interval of `count` differences that is asked to have at least `confidence`. Nil when no interval
  /// has that (n < 6 at 95 %).
  package static func coverage(_ count: Int, confidence: Double = 0.95) -> Double? {
    rank(count, confidence: confidence)?.coverage
  }

  /// The largest number of differences whose sums of ranks are counted. Beyond, the sums are normal to four digits.
  private static let mostExact = 100

  /// The rank, from one, of the Walsh average at which the interval begins, and the confidence. The interval ends at the
  /// same rank from above. Nil when even the extremes do not reach `confidence`.
  static func rank(_ count: Int, confidence: Double) -> (rank: Int, coverage: Double)? {
    count <= mostExact ? exactRank(count, confidence) : normalRank(count, confidence)
  }

  private static func exactRank(_ count: Int, _ confidence: Double) -> (rank: Int, coverage: Double)? {
    var tail = 0.0
    var best: (rank: Int, coverage: Double)?
    for (below, probability) in distribution(count).enumerated() {
      tail += probability
      let coverage = 1 - 2 * tail
      guard coverage >= confidence else { break }
      best = (below + 1, coverage)
    }
    return best
  }

  /// The probability of each sum of ranks when every sign is a fair coin: the ranks 1...n, each in the sum or not.
  private static func distribution(_ count: Int) -> [Double] {
    var sums = [1.0]
    for rank in stride(from: 1, through: count, by: 1) {
      var next = sums.map { $0 / 2 } + [Double](repeating: 0, count: rank)
      for (sum, probability) in sums.enumerated() { next[sum + rank] += probability / 2 }
      sums = next
    }
    return sums
  }

  private static func normalRank(_ count: Int, _ confidence: Double) -> (rank: Int, coverage: Double)? {
    let n = Double(count)
    let mean = n * (n + 1) / 4
    let deviation = (n * (n + 1) * (2 * n + 1) / 24).squareRoot()
    func coverage(_ rank: Int) -> Double { 1 - erfc((mean - (Double(rank) - 0.5)) / deviation / 2.0.squareRoot()) }
    var (low, high) = (1, Int(mean))
    guard coverage(low) >= confidence else { return nil }
    while low < high {
      let middle = (low + high + 1) / 2
      if coverage(middle) >= confidence { low = middle } else { high = middle - 1 }
    }
    return (low, coverage(low))
  }
}
