import FoundationEssentials
import HarnessResults
import HarnessWords

/// What `opbench explain` writes, in one file, read as strictly as other results.
package struct ExplainedFile: Sendable {
  /// What a row is about.
  package enum Kind: String, Sendable {
    /// The share of the workers' time that an activity takes.
    case activity
    /// By how many per cent the time changes when a part of the scheduler takes 100 ns more.
    case part
  }

  package struct Row: Sendable {
    let kind: Kind
    let name: String
    /// What the activity or the part is.
    let words: String
    /// A share, or per cent. Nil for a part that came too seldom to be measured.
    let value: Double?
    let interval: ClosedRange<Double>?
    /// Per cent if the part never overlapped with anything, and by the simulator's model.
    let even: Double?
    let simulated: Double?

    package init(
      _ kind: Kind, _ name: String, words: String, value: Double?, interval: ClosedRange<Double>? = nil,
      even: Double? = nil, simulated: Double? = nil
    ) {
      (self.kind, self.name, self.words, self.value) = (kind, name, words, value)
      (self.interval, self.even, self.simulated) = (interval, even, simulated)
    }
  }

  let path: String
  let benchmark: String
  let parameters: String
  let subject: String
  let workers: Int
  let rows: [Row]

  package init(cell: CellKey, rows: [Row]) {
    (path, benchmark, parameters) = ("", "\(cell.scenario.name)", "\(cell.scenario.parameters)")
    (subject, workers, self.rows) = (cell.arm.subject, cell.arm.workers, rows)
  }

  private static let columns = [
    "explained", "benchmark", "parameters", "subject", "workers", "name", "words", "value", "low", "high", "even",
    "simulated",
  ]

  /// The rows as a file.
  package var csv: String {
    let lines = rows.map { row in
      [row.kind.rawValue, benchmark, parameters, subject, "\(workers)", row.name, row.words]
        + [row.value, row.interval?.lowerBound, row.interval?.upperBound, row.even, row.simulated].map {
          $0.map(CSV.number) ?? ""
        }
    }
    return ([Self.columns] + lines).map(CSV.line).joined()
  }

  /// Whether the file says of itself that `explain` wrote it.
  package static func isExplained(_ path: String) throws -> Bool {
    try ResultSet.content(path).starts(with: "explained,".utf8)
  }

  /// Reads a file of `explain`. Throws one line where it is none.
  package init(path: String) throws {
    var reader = CSVReader(try ResultSet.content(path), source: path)
    guard try reader.next()?.fields == Self.columns else {
      throw Complaint(.badInput, "\(path): these are no rows of this version's opbench explain")
    }
    var rows: [Row] = []
    var cell: [String] = []
    while let record = try reader.next() {
      let fields = record.fields
      func complaint(_ what: String) -> Complaint { Complaint(.badInput, "\(path), line \(record.line): \(what)") }
      guard fields.count == Self.columns.count, let kind = Kind(rawValue: fields[0]), Int(fields[4]) ?? 0 > 0 else {
        throw complaint("this is no row of opbench explain")
      }
      let numbers = fields[7...].map(Double.init)
      guard zip(fields[7...], numbers).allSatisfy({ $0.isEmpty || $1?.isFinite == true }) else {
        throw complaint("a number is none")
      }
      let ends = (numbers[1], numbers[2])
      guard (ends.0 == nil) == (ends.1 == nil), ends.0 ?? 0 <= ends.1 ?? 0 else {
        throw complaint("an interval has two ends, the lower one first")
      }
      let own = Array(fields[1...4])
      guard cell.isEmpty || cell == own else { throw complaint("a file explains one benchmark on one subject") }
      cell = own
      rows.append(
        Row(
          kind, fields[5], words: fields[6], value: numbers[0],
          interval: ends.0.flatMap { low in ends.1.map { low...$0 } }, even: numbers[3], simulated: numbers[4]))
    }
    guard !rows.isEmpty else { throw Complaint(.badInput, "\(path) has a header and no rows") }
    (self.path, self.rows, benchmark, parameters) = (path, rows, cell[0], cell[1])
    (subject, workers) = (cell[2], Int(cell[3])!)
  }
}
