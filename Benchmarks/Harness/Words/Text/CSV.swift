/// Comma-separated values as RFC 4180 has them.
package enum CSV {
  /// The fields as one record with its line end.
  package static func line(_ fields: [String]) -> String {
    fields.map(quoted).joined(separator: ",") + "\r\n"
  }

  /// Quotes a field that holds a separator, a quote or a line break.
  private static func quoted(_ field: String) -> String {
    guard field.unicodeScalars.contains(where: { $0 == "," || $0 == "\"" || $0 == "\r" || $0 == "\n" }) else {
      return field
    }
    return "\"" + field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  /// The shortest text that reads back as the same number, without a needless fraction.
  package static func number(_ value: Double) -> String {
    if value == value.rounded(), abs(value) < 1e15 { return "\(Int64(value))" }
    return "\(value)"
  }
}
