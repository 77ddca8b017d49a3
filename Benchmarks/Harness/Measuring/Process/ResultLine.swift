import HarnessWords

extension Sequence<ResultLine> {
  /// What a task takes beyond the serial program, in each value that has the time of a task and the speed-up: the time
  /// less the serial time, which is the time multiplied by the speed-up. So it is for the programs of all languages.
  package var forkOverheads: [ResultLine] {
    var times: [Int: Reading] = [:]
    for case .reading(let index, let reading) in self where reading.metric == .nsPerOp { times[index] = reading }
    return compactMap { line in
      guard case .reading(let index, let speedup) = line, speedup.metric == .speedup, let time = times[index] else {
        return nil
      }
      return .reading(
        valueIndex: index, Reading(.forkOverhead, time.value * (1 - speedup.value), count: time.count))
    }
  }
}

/// The lines a measuring process writes to its standard output. A process that ends without `end` has failed.
package enum ResultLine: Hashable, Sendable {
  case reading(valueIndex: Int, Reading)
  /// The answer of a calibration.
  case repeats(Int)
  /// A trace has been written.
  case traced(operations: Int, notShown: Int)
  /// A call of the body took hardly longer than a call of an empty body, both in nanoseconds.
  case tooShort(call: Double, empty: Double)
  case failure(String)
  /// The process stops itself right behind this line, and goes on when it is its turn.
  case turn
  /// The program has no such cell.
  case absent
  case end

  /// What to say of a cell whose body is too short to be measured; nil for any other line.
  package func shortness(of cell: CellKey) -> String? {
    guard case .tooShort(let call, let empty) = self else { return nil }
    return "\(cell): a call of the body takes \(NumberFormat.significant(call)) ns, and of an empty body "
      + "\(NumberFormat.significant(empty)) ns: the number is about the loop; has the compiler removed the work? "
      + "blackHole(result) keeps it, and more operations in a call make the call longer"
  }

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
    case .tooShort(let call, let empty): return "too-short\t\(call)\t\(empty)"
    case .failure(let message): return "failure\t" + message.split(whereSeparator: \.isNewline).joined(separator: " ")
    case .turn: return "turn"
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
    case ("too-short", 3):
      guard let call = Double(fields[1]), let empty = Double(fields[2]) else { return nil }
      self = .tooShort(call: call, empty: empty)
    case ("failure", 2): self = .failure(fields[1])
    case ("turn", 1): self = .turn
    case ("absent", 1): self = .absent
    case ("end", 1): self = .end
    default: return nil
    }
  }
}
