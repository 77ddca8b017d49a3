import FoundationEssentials
import HarnessMeasuring
import HarnessWords

/// Reads comma-separated values by RFC 4180: quoted fields may hold separators, line breaks and doubled quotes. A bare
/// LF ends a line too. The last line must have a line end as well, because only the line end tells a whole file from a
/// file that was cut off.
package struct CSVReader {
  package struct Record: Hashable, Sendable {
    package let fields: [String]
    /// The line on which the record begins, from one.
    package let line: Int
  }

  private let bytes: [UInt8]
  private let source: String
  private var place = 0
  private var line = 1

  private static let quote = UInt8(ascii: "\"")
  private static let comma = UInt8(ascii: ",")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let newline = UInt8(ascii: "\n")

  /// `source` is the name of the file in error messages.
  package init(_ bytes: some Sequence<UInt8>, source: String) {
    self.bytes = Array(bytes)
    self.source = source
  }

  /// The next record; nil at the end.
  package mutating func next() throws -> Record? {
    guard place < bytes.count else { return nil }
    let start = line
    var fields: [String] = []
    while true {
      fields.append(try field(start))
      guard place < bytes.count else { throw cut(start) }
      if bytes[place] == Self.comma {
        place += 1
        continue
      }
      if bytes[place] == Self.carriageReturn { place += 1 }
      guard place < bytes.count else { throw cut(start) }
      place += 1
      line += 1
      return Record(fields: fields, line: start)
    }
  }

  /// Reads a field up to a comma, a line end or the end of the file.
  private mutating func field(_ start: Int) throws -> String {
    guard place < bytes.count, bytes[place] == Self.quote else {
      let first = place
      while place < bytes.count, bytes[place] != Self.comma, bytes[place] != Self.newline,
        !(bytes[place] == Self.carriageReturn && (place + 1 == bytes.count || bytes[place + 1] == Self.newline))
      {
        guard bytes[place] != Self.quote else { throw complaint(line, "a quote stands inside an unquoted field") }
        place += 1
      }
      return String(decoding: bytes[first..<place], as: UTF8.self)
    }
    place += 1
    var content: [UInt8] = []
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == Self.quote {
        guard place < bytes.count, bytes[place] == Self.quote else { return try closed(content) }
        place += 1
      }
      if byte == Self.newline { line += 1 }
      content.append(byte)
    }
    throw cut(start)
  }

  private func closed(_ content: [UInt8]) throws -> String {
    guard place == bytes.count || [Self.comma, Self.carriageReturn, Self.newline].contains(bytes[place]) else {
      throw complaint(line, "text follows a closing quote")
    }
    return String(decoding: content, as: UTF8.self)
  }

  private func cut(_ line: Int) -> Complaint { complaint(line, "the file is cut off in the middle of this row") }

  private func complaint(_ line: Int, _ what: String) -> Complaint {
    Complaint(.badInput, "\(source), line \(line): \(what)")
  }
}

extension CSV {
  /// The rows of a file. The scenario of each row has all parameters of the row, also the parameters of the
  /// reading, because the file does not tell the two apart.
  package static func rows(_ bytes: some Sequence<UInt8>, source: String) throws -> [Row] {
    guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
      throw Complaint(
        .badInput, "\(source), line 1: a byte order mark stands before the header; save it as UTF-8 without one")
    }
    var reader = CSVReader(bytes, source: source)
    guard let first = try reader.next() else { throw Complaint(.badInput, "\(source) is empty") }
    for (separator, name) in [(";", "semicolons"), ("\t", "tabs")]
    where first.fields.count == 1 && first.fields[0].hasPrefix("\(header[0])\(separator)\(header[1])") {
      throw Complaint(
        .badInput,
        "\(source), line 1: \(name) stand between the columns, as some spreadsheets save them; a result has commas between "
          + "the columns and points in its numbers: save it so, or take the file that the run wrote")
    }
    guard first.fields == header else {
      let pairs = zip(header, first.fields).enumerated()
      let what =
        pairs.first { $1.0 != $1.1 }.map { "column \($0 + 1) is '\($1.1.prefix(40))', not '\($1.0)'" }
        ?? "it has \(first.fields.count) columns, not \(header.count)"
      throw Complaint(.badInput, "\(source), line 1: not a result of schema \(schema): \(what)")
    }
    var rows: [Row] = []
    var lines: [RowPlace: Int] = [:]
    while let record = try reader.next() {
      let row = try row(record, source: source)
      if let earlier = lines.updateValue(record.line, forKey: RowPlace(row)) {
        throw Complaint(.badInput, "\(source), line \(record.line): the same value as in line \(earlier), once more")
      }
      rows.append(row)
    }
    return rows
  }

  /// The identity of a value: no two rows have the same.
  private struct RowPlace: Hashable {
    let runID: String
    let block: Int
    let process: Int
    let valueIndex: Int
    let cell: CellKey
    let metric: Metric

    init(_ row: Row) {
      runID = row.runID
      block = row.block
      process = row.process
      valueIndex = row.valueIndex
      cell = row.cell
      metric = row.reading.metric
    }
  }

  /// Sums, ratios and logarithms of numbers in this range are finite.
  private static let measurable = 1e-30...1e30

  private static func row(_ record: CSVReader.Record, source: String) throws -> Row {
    let fields = record.fields
    func complaint(_ what: String) -> Complaint {
      Complaint(.badInput, "\(source), line \(record.line): \(what)")
    }
    guard fields.count == header.count else {
      throw complaint("\(fields.count) columns instead of \(header.count)")
    }
    guard fields[0] == "\(schema)" else {
      throw complaint("schema '\(fields[0])' below a header of schema \(schema)")
    }
    func count(_ column: Int) throws -> Int {
      guard let number = Int(fields[column]), number >= 0 else {
        throw complaint("\(header[column]) is '\(fields[column])', not a count")
      }
      return number
    }
    guard let value = Double(fields[12]), value.isFinite else {
      throw complaint("value is '\(fields[12])', not a number")
    }
    guard value == 0 || measurable.contains(abs(value)) else {
      throw complaint("value is '\(fields[12])', beyond anything that is measured")
    }
    let metric = Metric(fields[10], unit: fields[11])
    // A difference of times may be negative.
    guard value >= 0 || metric.unit != "ns" || metric.isDifference else {
      throw complaint("value is '\(fields[12])', and \(metric.name) is a time, which is never negative")
    }
    guard let parameters = Parameters(fields[7]) else { throw complaint("params is '\(fields[7])', not key=value;…") }
    let scenario = Scenario(BenchmarkName(fields[5], fields[6]), parameters)
    return Row(
      runID: fields[1], host: fields[14], block: try count(2), process: try count(3),
      valueIndex: try count(4),
      cell: CellKey(scenario, Arm(subject: fields[8], workers: try count(9))),
      reading: Reading(metric, value, count: try count(13)))
  }
}
