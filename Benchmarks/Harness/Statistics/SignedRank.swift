import Glibc

/// The interval of a signed-rank test, and its centre. Each difference has a rank: 1 for the difference nearest to the
/// asked value. No rank counts for more than `cap`.
///
/// Wilcoxon's test has no cap, and the sign test has the cap 1 (Hájek, Šidák and Sen 1999 have tests of any scores).
/// The cap is for processes that are in one of two states: without a cap the few pairs of unlike states have the
/// highest ranks, and one such pair outweighs several others.
package enum SignedRank {
  /// The most that a rank counts: half of the number of differences up to 20, then 10, and a quarter from 40 on.
  static func cap(_ count: Int) -> Int { max(4, min(count / 2, max(10, count / 4))) }

  /// The centre of the differences, and between which values the test does not tell it from another one. Nil for the
  /// interval when there are too few differences. O(n^2 log n) for n differences.
  static func estimate(_ differences: [Double], confidence: Double) -> (centre: Double, interval: ClosedRange<Double>?)
  {
    let upwards = Side(differences)
    let downwards = upwards.mirrored
    let total = scores(differences.count).reduce(0, +)
    let centre = (upwards.first { 2 * $0 >= total } - downwards.first { 2 * $0 >= total }) / 2
    guard let sum = critical(differences.count, confidence: confidence)?.sum else { return (centre, nil) }
    return (centre, upwards.first { $0 > sum }...(-downwards.first { $0 > sum }))
  }

  /// The confidence of the interval of `count` differences that is asked to have at least `confidence`. Nil when no
  /// interval has that (n < 6 at 95 %).
  package static func coverage(_ count: Int, confidence: Double = 0.95) -> Double? {
    critical(count, confidence: confidence)?.coverage
  }

  /// What the ranks 1...count count for.
  private static func scores(_ count: Int) -> [Int] {
    (0..<count).map { min($0 + 1, cap(count)) }
  }

  /// The ranks of the differences below a value, as the value grows: their sum changes where the value is the mean of
  /// two differences (a Walsh average).
  private struct Side {
    private let sorted: [Double]
    /// The sums of every two differences, of a difference with itself too, in order.
    private let pairSums: [Double]

    init(_ differences: [Double]) {
      sorted = differences.sorted()
      var sums: [Double] = []
      sums.reserveCapacity(sorted.count * (sorted.count + 1) / 2)
      for first in sorted.indices {
        for second in first..<sorted.count { sums.append(sorted[first] + sorted[second]) }
      }
      pairSums = sums.sorted()
    }

    private init(sorted: [Double], pairSums: [Double]) { (self.sorted, self.pairSums) = (sorted, pairSums) }

    /// The side of the differences with the other sign.
    var mirrored: Side { Side(sorted: sorted.reversed().map { -$0 }, pairSums: pairSums.reversed().map { -$0 }) }

    /// The lowest Walsh average just above which the sum of ranks is enough.
    func first(where isEnough: (Int) -> Bool) -> Double {
      var (low, high) = (0, pairSums.count - 1)
      while low < high {
        let middle = (low + high) / 2
        if isEnough(rankSum(justAbove: pairSums[middle])) { high = middle } else { low = middle + 1 }
      }
      return pairSums[low] / 2
    }

    /// The sum of the capped ranks of the differences that lie below a value a little above `doubled / 2`.
    private func rankSum(justAbove doubled: Double) -> Int {
      var above = 0
      while above < sorted.count, 2 * sorted[above] <= doubled { above += 1 }
      var below = above - 1
      var sum = 0
      let cap = SignedRank.cap(sorted.count)
      var rank = 0
      while rank < sorted.count, below >= 0 {
        rank += 1
        // Of two at the same distance from `doubled / 2` the one above is nearer to a value a little above.
        if above < sorted.count, sorted[below] + sorted[above] <= doubled {
          above += 1
        } else {
          sum += min(rank, cap)
          below -= 1
        }
      }
      return sum
    }
  }

  /// The largest number of differences whose sums of ranks are counted. Beyond, the sums are normal to four digits.
  private static let mostExact = 100

  /// The largest sum of ranks that is outside of the interval, and the interval's confidence. Nil when even the
  /// extremes do not reach `confidence`.
  private static func critical(_ count: Int, confidence: Double) -> (sum: Int, coverage: Double)? {
    count <= mostExact ? exact(count, confidence) : normal(count, confidence)
  }

  private static func exact(_ count: Int, _ confidence: Double) -> (sum: Int, coverage: Double)? {
    var tail = 0.0
    var best: (sum: Int, coverage: Double)?
    for (sum, probability) in distribution(count).enumerated() {
      tail += probability
      let coverage = 1 - 2 * tail
      guard coverage >= confidence else { break }
      best = (sum, coverage)
    }
    return best
  }

  /// The probability of each sum of ranks when every sign is a fair coin: each rank is in the sum or not.
  private static func distribution(_ count: Int) -> [Double] {
    let scores = scores(count)
    var sums = [Double](repeating: 0, count: scores.reduce(0, +) + 1)
    sums[0] = 1
    var largest = 0
    for score in scores {
      largest += score
      // From above: the sum without the score is still that of the scores before.
      var sum = largest
      while sum >= 0 {
        sums[sum] = (sums[sum] + (sum >= score ? sums[sum - score] : 0)) / 2
        sum -= 1
      }
    }
    return sums
  }

  private static func normal(_ count: Int, _ confidence: Double) -> (sum: Int, coverage: Double)? {
    let scores = scores(count).map(Double.init)
    let mean = scores.reduce(0, +) / 2
    let deviation = (scores.reduce(0) { $0 + $1 * $1 } / 4).squareRoot()
    func coverage(_ sum: Int) -> Double { 1 - erfc((mean - (Double(sum) + 0.5)) / deviation / 2.0.squareRoot()) }
    var (low, high) = (0, Int(mean) - 1)
    guard coverage(low) >= confidence else { return nil }
    while low < high {
      let middle = (low + high + 1) / 2
      if coverage(middle) >= confidence { low = middle } else { high = middle - 1 }
    }
    return (low, coverage(low))
  }
}
