/// Reads times as users write them: `500ns`, `10us`, `2.5ms`, `1s`.
package enum TimeText {
  private static let units = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]

  /// The time in nanoseconds; nil when the text is no number with a unit.
  package static func nanoseconds(_ text: some StringProtocol) -> Double? {
    for (unit, factor) in units where text.hasSuffix(unit) {
      return Double(text.dropLast(unit.count)).map { $0 * factor }
    }
    return nil
  }
}
