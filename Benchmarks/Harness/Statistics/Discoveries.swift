/// The confidence for intervals of which only those that say something are read: of these, 5 % at most are expected to
/// leave their truth out.
///
/// When k of m intervals say something at the confidence `1 - 0.05 k / m`, that holds for these k: the rate of false
/// discoveries (Benjamini and Hochberg 1995), and of the false coverage of what is picked out (Benjamini and Yekutieli
/// 2005). Both hold for independent errors, and for errors that vary together as those beside one default do.
package enum Discoveries {
  /// The largest k of that kind decides. When there is none, the confidence is that for one (Bonferroni).
  /// - Parameter saying: how many intervals say something at a confidence; no more at a higher one.
  package static func confidence(of comparisons: Int, saying: (Double) -> Int) -> Double {
    func confidence(_ count: Int) -> Double {
      1 - (1 - Widening.familyConfidence) * Double(count) / Double(max(1, comparisons))
    }
    var count = comparisons
    while count > 0 {
      let found = saying(confidence(count))
      guard found < count else { break }
      count = found
    }
    return confidence(max(1, count))
  }
}
