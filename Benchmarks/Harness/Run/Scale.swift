/// Durations in the unit that gives one to three digits before the point; everything else as it is.
package struct Scale: Sendable {
  package let divisor: Double
  package let suffix: String

  package init(_ unit: String, _ value: Double) {
    switch (unit, abs(value)) {
    case ("ns", 1e9...): (divisor, suffix) = (1e9, " s")
    case ("ns", 1e6...): (divisor, suffix) = (1e6, " ms")
    case ("ns", 1e3...): (divisor, suffix) = (1e3, " us")
    case ("ns", _): (divisor, suffix) = (1, " ns")
    default: (divisor, suffix) = (1, "")
    }
  }

  package func format(_ value: Double) -> String { Self.significant(value / divisor) }

  package static func range(_ interval: ClosedRange<Double>) -> String {
    "\(significant(interval.lowerBound)), \(significant(interval.upperBound))"
  }

  /// Three significant digits, or all those before the point.
  package static func significant(_ value: Double) -> String {
    let size = abs(value)
    let digits = size >= 100 || value == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : size >= 0.01 ? 4 : 5
    return fixed(value, digits: digits)
  }

  private static func fixed(_ value: Double, digits: Int) -> String {
    // More digits than a double has; and no integer has room for them.
    guard abs(value) < 1e15 else { return "\(value)" }
    let power = (0..<digits).reduce(1.0) { factor, _ in factor * 10 }
    let scaled = Int64((abs(value) * power).rounded())
    let whole = "\(scaled / Int64(power))"
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard digits > 0 else { return sign + whole }
    let fraction = "\(scaled % Int64(power))"
    return sign + whole + "." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
