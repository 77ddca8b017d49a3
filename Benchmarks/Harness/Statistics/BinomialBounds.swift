import Glibc

/// The rates at which n hits in m trials are still likely: the exact interval of Clopper and Pearson (1934), 95 %.
package struct BinomialBounds: Hashable, Sendable {
  package let lower: Double
  package let upper: Double

  package init(hits: Int, of trials: Int) {
    precondition(0...trials ~= hits, "more hits than trials")
    lower = hits == 0 ? 0 : Self.solve { Self.atLeast(hits, of: trials, rate: $0) - 0.025 }
    upper = hits == trials ? 1 : Self.solve { 0.025 - Self.atMost(hits, of: trials, rate: $0) }
  }

  /// The zero of a rising function, between 0 and 1.
  private static func solve(_ rising: (Double) -> Double) -> Double {
    var (low, high) = (0.0, 1.0)
    for _ in 0..<60 {
      let middle = (low + high) / 2
      if rising(middle) < 0 { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }

  private static func atMost(_ hits: Int, of trials: Int, rate: Double) -> Double {
    (0...hits).reduce(0) { $0 + probability($1, trials, rate) }
  }

  private static func atLeast(_ hits: Int, of trials: Int, rate: Double) -> Double {
    (hits...trials).reduce(0) { $0 + probability($1, trials, rate) }
  }

  private static func probability(_ k: Int, _ n: Int, _ rate: Double) -> Double {
    if rate <= 0 || rate >= 1 { return (rate <= 0 ? k == 0 : k == n) ? 1 : 0 }
    let ways = lgamma(Double(n) + 1) - lgamma(Double(k) + 1) - lgamma(Double(n - k) + 1)
    return exp(ways + Double(k) * log(rate) + Double(n - k) * log(1 - rate))
  }
}
