import Glibc
import HarnessStatistics
import HarnessWords

/// A ratio on which two kinds of machines disagree: their intervals do not overlap.
package struct KindDisagreement: Sendable {
  /// The cell and the metric.
  package let what: String
  package let first: (kind: String, ratio: Estimate)
  package let second: (kind: String, ratio: Estimate)

  package var text: String {
    func part(_ one: (kind: String, ratio: Estimate)) -> String {
      "\(NumberFormat.ratio(one.ratio.median, one.ratio.interval)) on \(one.kind)"
    }
    return "\(what): \(part(first)), \(part(second))"
  }

  /// One ratio: the logarithms of its pairs, by kind of machine.
  package struct Series: Sendable {
    package let what: String
    package let logarithms: [String: [Double]]
  }

  /// The ratios on which two kinds disagree, the farthest apart first, and the number of comparisons. The intervals are
  /// widened for that number, so that equal kinds are flagged in 5 % of results at most.
  package static func all(_ series: [Series]) -> [KindDisagreement] {
    let pairs = pairs(series)
    let widening = Widening(comparisons: pairs.count)
    let found = pairs.compactMap { one, first, second -> (distance: Double, KindDisagreement)? in
      guard let left = ratio(one.logarithms[first]!, widening), let right = ratio(one.logarithms[second]!, widening),
        let low = left.interval, let high = right.interval, !low.overlaps(high)
      else { return nil }
      let distance = left.median > right.median ? left.median / right.median : right.median / left.median
      return (distance, KindDisagreement(what: one.what, first: (first, left), second: (second, right)))
    }
    return found.sorted { $0.distance > $1.distance }.map(\.1)
  }

  /// Every two kinds on which a ratio has an interval.
  private static func pairs(_ series: [Series]) -> [(Series, String, String)] {
    series.flatMap { one -> [(Series, String, String)] in
      let kinds = one.logarithms.filter { SignedRank.coverage($0.value.count) != nil }.keys.sorted()
      return kinds.indices.flatMap { first in kinds[(first + 1)...].map { (one, kinds[first], $0) } }
    }
  }

  /// How many comparisons of two kinds there are.
  package static func comparisons(_ series: [Series]) -> Int { pairs(series).count }

  private static func ratio(_ logarithms: [Double], _ widening: Widening) -> Estimate? {
    widening.confidence(of: logarithms.count).flatMap { Pairing.ratio(logarithms, confidence: $0) }
  }

  /// A sentence that names the ratio whose kinds are farthest apart; nil when no kinds disagree.
  package static func sentence(_ all: [KindDisagreement], of comparisons: Int) -> String? {
    guard let first = all.first else { return nil }
    let many = all.count == 1 ? "in one ratio" : "in \(all.count) of \(Count.of(comparisons, "ratio"))"
    return
      "kinds of machines disagree by more than their intervals \(many), so the number for all is that of this mixture "
      + "of machines: \(first.text)" + (all.count == 1 ? "" : ", and so on")
  }
}
