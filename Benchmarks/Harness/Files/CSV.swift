/// Comma-separated values as RFC 4180 has them, with a header, and the columns of schema 2. Schema 1 had the same columns
/// without the last, the machine.
package enum CSV {
  package static let schema = 2

  package static let header = [
    "schema", "run_id", "block", "process", "value_index", "family", "benchmark", "params", "backend", "workers",
    "metric",
    "unit", "value", "n", "host",
  ]

  /// The header of each schema that is read, by its number.
  static let headers = [1: Array(header.dropLast()), 2: header]

  package static func line(_ row: Row) -> String {
    line([
      "\(schema)", row.runID, "\(row.block)", "\(row.process)", "\(row.valueIndex)", row.cell.scenario.name.family,
      row.cell.scenario.name.benchmark, row.parameters.description, row.cell.arm.subject, "\(row.cell.arm.workers)",
      row.reading.metric.name, row.reading.metric.unit, number(row.reading.value), "\(row.reading.count)", row.host,
    ])
  }

  /// The fields as one record with its line end.
  package static func line(_ fields: [String]) -> String {
    fields.map(quoted).joined(separator: ",") + "\r\n"
  }

  /// Quotes a field that holds a separator, a quote or a line break.
  static func quoted(_ field: String) -> String {
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
