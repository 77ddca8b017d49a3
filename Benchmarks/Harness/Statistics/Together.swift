import Glibc

/// The confidence that each of many intervals needs, so that all of them hold their truths together at 95 %.
///
/// Changes that were measured beside one default share its noise, so their errors vary together, and the largest of
/// them is smaller than that of independent errors (Dunnett 1955). Which errors overlap follows from the pairs. So the
/// largest error is drawn by a bootstrap with multipliers: each pair has a normal number, which multiplies what the
/// pair adds to each error (Chernozhukov, Chetverikov and Kato 2013). The chance that the largest is beyond a bound is
/// the sum of the chances of all, times the mean of 1/N: N are the errors beyond the bound in a draw in which one of
/// them, each by turns, is made to be there (Naiman and Priebe 2001). Few draws give that to a per cent.
///
/// Each interval then has Student's t with its own degrees of freedom at that confidence.
package enum Together {
  static let draws = 300

  /// - Parameter tables: the means that share a default, for each default.
  /// - Returns: at most the confidence of Bonferroni. O(draws * n) for n pairs in all means.
  package static func confidence(of tables: [[TrimmedMean]], seed: UInt64) -> Double {
    let errors = Errors(tables)
    let alone = Widening(comparisons: errors.ranges.count).confidence
    guard errors.ranges.count > 1 else { return alone }
    // Almost that of the normal distribution, and never below it.
    let bound = StudentT.quantile(central: alone, freedom: 1_000)
    var random = SeededGenerator(seed: seed, purpose: "largest-error")
    let shares = (0..<draws).reduce(0) { sum, draw in
      let chosen = draw * errors.ranges.count / draws
      return sum + 1 / Double(errors.beyond(bound, chosen, &random))
    }
    return 1 - (1 - alone) * Double(Self.draws) / shares
  }

  private struct Errors {
    private var pairs = 0
    private var shares: [(pair: Int, share: Double)] = []
    /// The shares of each error.
    private(set) var ranges: [Range<Int>] = []

    init(_ tables: [[TrimmedMean]]) {
      for table in tables {
        var numbers: [TrimmedMean.Pair: Int] = [:]
        for mean in table where !mean.shares.isEmpty {
          let first = shares.count
          for (pair, share) in mean.shares {
            let number = numbers[pair] ?? pairs + numbers.count
            numbers[pair] = number
            shares.append((number, share))
          }
          ranges.append(first..<shares.count)
        }
        pairs += numbers.count
      }
    }

    /// How many errors of a draw are beyond the bound, when the chosen one is.
    func beyond(_ bound: Double, _ chosen: Int, _ random: inout SeededGenerator) -> Int {
      var numbers = (0..<pairs).map { _ in random.normal() }
      func error(_ range: Range<Int>) -> Double {
        shares.withUnsafeBufferPointer { shares in
          numbers.withUnsafeBufferPointer { numbers in
            var (sum, place) = (0.0, range.lowerBound)
            while place < range.upperBound {
              sum += shares[place].share * numbers[shares[place].pair]
              place += 1
            }
            return sum
          }
        }
      }
      let moved = random.normal(beyond: bound) - error(ranges[chosen])
      for place in ranges[chosen] { numbers[shares[place].pair] += moved * shares[place].share }
      return 1 + ranges.indices.count { $0 != chosen && abs(error(ranges[$0])) > bound }
    }
  }
}

extension SeededGenerator {
  /// A standard normal number (Box and Muller 1958).
  fileprivate mutating func normal() -> Double {
    let radius = (-2 * log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &self))).squareRoot()
    return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &self))
  }

  /// A standard normal number above the bound (Marsaglia 1964). The errors are symmetric, so none below is needed.
  fileprivate mutating func normal(beyond bound: Double) -> Double {
    while true {
      let first = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &self)
      let number = (bound * bound - 2 * log(first)).squareRoot()
      if Double.random(in: 0..<1, using: &self) * number < bound { return number }
    }
  }
}
