/// A median with its order-statistic interval. Below six values there is no interval.
package struct Estimate: Hashable, Sendable {
  package let median: Double
  package let interval: ClosedRange<Double>?
  package let count: Int

  package init(median: Double, interval: ClosedRange<Double>?, count: Int) {
    self.median = median
    self.interval = interval
    self.count = count
  }

  /// True when half the interval's width exceeds 5 % of the median.
  package var isUnstable: Bool {
    guard let interval else { return false }
    return (interval.upperBound - interval.lowerBound) / 2 > 0.05 * abs(median)
  }
}
