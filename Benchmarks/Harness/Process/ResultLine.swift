/// The lines a measuring process writes to its standard output. A process that ends without `end` has failed.
package enum ResultLine: Hashable, Sendable {
  case reading(valueIndex: Int, Reading)
  /// The answer of a calibration.
  case repeats(Int)
  /// A trace has been written.
  case traced(operations: Int, notShown: Int)
  case failure(String)
  /// The program has no such cell.
  case absent
  case end

  package var text: String {
    switch self {
    case .reading(let index, let reading):
      let fields = [
        "reading", "\(index)", reading.metric.name, reading.metric.unit, "\(reading.value)", "\(reading.count)",
        reading.detail.description,
      ]
      return fields.joined(separator: "\t")
    case .repeats(let count): return "repeats\t\(count)"
    case .traced(let operations, let notShown): return "traced\t\(operations)\t\(notShown)"
    case .failure(let message): return "failure\t" + message.split(whereSeparator: \.isNewline).joined(separator: " ")
    case .absent: return "absent"
    case .end: return "end"
    }
  }

  /// Nil for any text that `text` does not write.
  package init?(_ text: String) {
    let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    switch (fields[0], fields.count) {
    case ("reading", 7):
      guard let index = Int(fields[1]), let value = Double(fields[4]), let count = Int(fields[5]),
        let detail = Parameters(fields[6])
      else { return nil }
      self = .reading(
        valueIndex: index, Reading(Metric(fields[2], unit: fields[3]), value, count: count, detail: detail))
    case ("repeats", 2):
      guard let count = Int(fields[1]) else { return nil }
      self = .repeats(count)
    case ("traced", 3):
      guard let operations = Int(fields[1]), let notShown = Int(fields[2]) else { return nil }
      self = .traced(operations: operations, notShown: notShown)
    case ("failure", 2): self = .failure(fields[1])
    case ("absent", 1): self = .absent
    case ("end", 1): self = .end
    default: return nil
    }
  }
}
