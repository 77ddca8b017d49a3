/// Formats durations, bytes and throughputs in the unit that gives few digits before the point, and everything else in
/// its own unit. The unit stands behind the number, unless the metric's name says it. Every number that a reader sees,
/// here and in the report, is written by this type: three significant digits once the number is rounded.
package struct NumberFormat: Sendable {
  package let divisor: Double
  package let suffix: String

  /// The units that have names of their own for large numbers, the largest first. The last bound is zero.
  package static let scales: [String: [(bound: Double, suffix: String)]] = [
    "ns": [(1e9, " s"), (1e6, " ms"), (1e3, " µs"), (0, " ns")],
    "bytes": [(1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (0, " B")],
    "bytes/s": [(1e9, " GB/s"), (1e6, " MB/s"), (1e3, " kB/s"), (0, " B/s")],
    "items/s": [(1e9, " G/s"), (1e6, " M/s"), (1e3, " k/s"), (0, " /s")],
    "percent": [(0, " %")],
  ]

  package init(_ unit: String, _ value: Double) {
    if let scale = Self.scales[unit]?.first(where: { abs(value) >= $0.bound }) {
      (divisor, suffix) = (max(1, scale.bound), scale.suffix)
    } else {
      (divisor, suffix) = (1, Self.unitsInNames.contains(unit) ? "" : " \(unit)")
    }
  }

  /// The units that the names of the laboratory's own metrics say. Any other unit stands behind its number.
  private static let unitsInNames: Set<String> = [
    "", "allocations", "crossings", "cycles", "faults", "instructions", "migrations", "operations", "ratio", "switches",
    "threads",
  ]

  package func format(_ value: Double) -> String { Self.significant(value / divisor) }

  /// The number with its unit.
  package func text(_ value: Double) -> String { format(value) + suffix }

  /// The number with its interval and its unit, such as `1.23 [1.20, 1.31] µs`.
  package func text(_ value: Double, _ interval: ClosedRange<Double>?) -> String {
    let range = interval.map { " [\(format($0.lowerBound)), \(format($0.upperBound))]" } ?? ""
    return format(value) + range + suffix
  }

  /// A ratio such as `x0.0371 [0.0364, 0.0379]`.
  package static func ratio(_ ratio: Double, _ interval: ClosedRange<Double>?) -> String {
    "x\(significant(ratio))\(interval.map { " \(range($0))" } ?? "")"
  }

  /// An interval such as `[0.0364, 0.0379]`.
  package static func range(_ interval: ClosedRange<Double>) -> String {
    "[\(significant(interval.lowerBound)), \(significant(interval.upperBound))]"
  }

  /// A share such as `2.5 %`, with a digit behind the point below ten.
  package static func percent(_ share: Double) -> String {
    "\(fixed(share * 100, digits: share >= 0.1 || share == 0 ? 0 : 1)) %"
  }

  /// Three significant digits, or all digits before the point. The bounds are where a number is rounded to one more
  /// digit before the point: 9.996 is 10.0, not 10.00. A number below a ten-thousandth has an exponent.
  package static func significant(_ value: Double) -> String {
    let bounds = [99.95, 9.995, 0.9995, 0.09995, 0.009995, 0.0009995, 0.00009995]
    guard value != 0, !value.isNaN else { return value == 0 ? "0" : "nan" }
    guard let digits = bounds.firstIndex(where: { abs(value) >= $0 }) else { return exponential(value) }
    return fixed(value, digits: digits)
  }

  /// Such as `1.23e-5`, for a number near zero.
  private static func exponential(_ value: Double) -> String {
    var (mantissa, exponent) = (value, 0)
    // From 9.995 on, three digits read 10.0.
    while abs(mantissa) < 0.9995 {
      mantissa *= 10
      exponent -= 1
    }
    return "\(fixed(mantissa, digits: 2))e\(exponent)"
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
