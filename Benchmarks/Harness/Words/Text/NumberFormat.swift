/// Formats durations, bytes and throughputs in the unit that gives few digits before the point, and everything else in
/// its own unit. The unit stands behind the number, unless the metric's name says it.
package struct NumberFormat: Sendable {
  package let divisor: Double
  package let suffix: String

  package init(_ unit: String, _ value: Double) {
    switch (unit, abs(value)) {
    case ("ns", 1e9...): (divisor, suffix) = (1e9, " s")
    case ("ns", 1e6...): (divisor, suffix) = (1e6, " ms")
    case ("ns", 1e3...): (divisor, suffix) = (1e3, " us")
    case ("ns", _): (divisor, suffix) = (1, " ns")
    case ("bytes", 1e9...): (divisor, suffix) = (1e9, " GB")
    case ("bytes", 1e6...): (divisor, suffix) = (1e6, " MB")
    case ("bytes", 1e3...): (divisor, suffix) = (1e3, " kB")
    case ("bytes", _): (divisor, suffix) = (1, " B")
    case ("bytes/s", 1e9...): (divisor, suffix) = (1e9, " GB/s")
    case ("bytes/s", 1e6...): (divisor, suffix) = (1e6, " MB/s")
    case ("bytes/s", 1e3...): (divisor, suffix) = (1e3, " kB/s")
    case ("bytes/s", _): (divisor, suffix) = (1, " B/s")
    case ("items/s", 1e9...): (divisor, suffix) = (1e9, " G/s")
    case ("items/s", 1e6...): (divisor, suffix) = (1e6, " M/s")
    case ("items/s", 1e3...): (divisor, suffix) = (1e3, " k/s")
    case ("items/s", _): (divisor, suffix) = (1, " /s")
    default: (divisor, suffix) = (1, Self.unitsInNames.contains(unit) ? "" : " \(unit)")
    }
  }

  /// The units that the names of the laboratory's own metrics say. Any other unit stands behind its number.
  private static let unitsInNames: Set<String> = [
    "", "allocations", "crossings", "cycles", "faults", "instructions", "migrations", "operations", "percent", "ratio",
    "switches", "threads",
  ]

  package func format(_ value: Double) -> String { Self.significant(value / divisor) }

  /// The number with its unit.
  package func text(_ value: Double) -> String { format(value) + suffix }

  /// A ratio such as `x0.037 [0.036, 0.038]`: three significant digits, and two below 0.1.
  package static func ratio(_ ratio: Double, _ interval: ClosedRange<Double>?) -> String {
    let range = interval.map { " [\(factor($0.lowerBound)), \(factor($0.upperBound))]" } ?? ""
    return "x\(factor(ratio))\(range)"
  }

  package static func factor(_ value: Double) -> String {
    guard value > 0, value < 0.1 else { return significant(value) }
    // A number below 0.1 has two significant digits, because more have no room.
    let digits = value >= 0.01 ? 3 : value >= 0.001 ? 4 : value >= 0.0001 ? 5 : 6
    return fixed(value, digits: digits)
  }

  /// Three significant digits, or all digits before the point.
  package static func significant(_ value: Double) -> String {
    let size = abs(value)
    // The bounds are where a number is rounded to one more digit before the point: 9.996 is 10.0, not 10.00.
    let digits =
      size >= 99.95 || value == 0
      ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : size >= 0.09995 ? 3 : size >= 0.009995 ? 4 : 5
    return fixed(value, digits: digits)
  }

  package static func fixed(_ value: Double, digits: Int) -> String {
    // A double has no digits beyond this, and no integer has room for them.
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
