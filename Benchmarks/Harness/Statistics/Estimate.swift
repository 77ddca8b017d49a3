import Glibc

/// A median, or the centre of differences, with its interval. Below six values there is no interval.
package struct Estimate: Hashable, Sendable {
  package let median: Double
  package let interval: ClosedRange<Double>?
  package let count: Int

  package init(median: Double, interval: ClosedRange<Double>?, count: Int) {
    (self.median, self.interval, self.count) = (median, interval, count)
  }

  /// Half the width of a ratio's interval, as a share: in logarithms, so that x0.5 and x2 are as far from x1. Nil
  /// without an interval.
  package var ratioHalfWidth: Double? {
    guard let interval, interval.lowerBound > 0 else { return nil }
    return log(interval.upperBound / interval.lowerBound) / 2
  }

  /// A ratio beyond this, or below its inverse, is far from 1. Whether one arm takes 20 or 21 times as long decides
  /// nothing.
  package static let farRatio = 3.0

  /// How much wider the interval of a ratio may be that is far from 1.
  private static let farFactor = 3.0

  /// The half-width as it counts for a decision: a third of it when the middle of the interval is far from 1.
  package var countedHalfWidth: Double? {
    guard let interval, let half = ratioHalfWidth else { return nil }
    let isFar = abs(log(interval.upperBound * interval.lowerBound) / 2) > log(Self.farRatio)
    return isFar ? half / Self.farFactor : half
  }

  /// The counted half-width above which `~` marks a ratio.
  package static let roughHalfWidth = 0.05

  /// Whether `~` marks a ratio with this interval.
  package var isRough: Bool { (countedHalfWidth ?? 0) > Self.roughHalfWidth }
}
