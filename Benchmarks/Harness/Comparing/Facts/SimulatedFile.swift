import FoundationEssentials
import HarnessResults
import HarnessWords

/// The rows of `opbench simulate` in one file, read as strictly as other results.
package struct SimulatedFile: Sendable {
  /// One run: a strategy on a graph, with one seed.
  struct Row: Sendable {
    let graph: String
    let sizes: String
    let work: Double
    let backend: String
    let workers: Int
    let seed: Double
    let model: String
    let tasks: Double
    let makespan: Double
    let efficiency: Double
    let utilisation: Double
    /// What the makespan is made of: every worker busy, the longest path, and the scheduler.
    let limits: [Double]
  }

  let path: String
  let rows: [Row]
  let record: RunRecord?

  /// Whether the file says of itself that its rows are simulated, whole or not.
  package static func isSimulated(_ path: String) throws -> Bool {
    let first = try ResultSet.content(path).prefix(4_096).split(separator: UInt8(ascii: "\n")).prefix(2)
    return first.contains { $0.starts(with: "kind,".utf8) || $0.starts(with: "simulated,".utf8) }
  }

  /// Reads `X.csv` or `X.csv.gz`, and `X.env.json` when that file is there.
  package init(path: String) throws {
    try self.init(
      try ResultSet.content(path), path: path, record: try RunRecord.read(path: RunRecord.path(csv: path)))
  }

  package init(_ content: Data, path: String, record: RunRecord?) throws {
    (self.path, self.record) = (path, record)
    var reader = CSVReader(content, source: path)
    let header = try reader.next()?.fields ?? []
    guard header == SimulationHeader.columns else {
      let lacking = SimulationHeader.columns.first { !header.contains($0) }
      let reason = header.first == SimulationHeader.columns[0] ? lacking.map { ": there is no column \($0)" } ?? "" : ""
      throw Complaint(
        .badInput, "\(path): these are no rows of opbench simulate of schema \(SimulationHeader.schema)\(reason)")
    }
    var rows: [Row] = []
    while let record = try reader.next() { rows.append(try Self.row(record, path)) }
    guard !rows.isEmpty else { throw Complaint(.badInput, "\(path) has a header and no simulated rows") }
    self.rows = rows
  }

  /// What nothing is divided by, and no logarithm is taken of, when it is 0.
  private static let positive = ["workers", "tasks", "makespan_ns"]
  /// Ratios, logarithms and axes do not overflow in this range.
  private static let most = 1e30
  private static let least = 1e-30

  private static func row(_ record: CSVReader.Record, _ path: String) throws -> Row {
    func complaint(_ what: String) -> Complaint { Complaint(.badInput, "\(path), line \(record.line): \(what)") }
    let fields = record.fields
    guard fields.count == SimulationHeader.columns.count, fields[0] == "simulated",
      fields[1] == "\(SimulationHeader.schema)"
    else { throw complaint("this is no simulated row of schema \(SimulationHeader.schema)") }
    var numbers: [String: Double] = [:]
    for (name, text) in zip(SimulationHeader.columns, fields) where !SimulationHeader.texts.contains(name) {
      guard let number = Double(text) else { throw complaint("a number is none") }
      guard number.isFinite, abs(number) <= most, !positive.contains(name) || number >= least,
        name != "workers" || Int(exactly: number) != nil
      else { throw complaint("\(name) is \(text.prefix(40)), which no simulation gives") }
      numbers[name] = number
    }
    func text(_ name: String) -> String { fields[SimulationHeader.columns.firstIndex(of: name)!] }
    return Row(
      graph: text("graph"), sizes: text("sizes"), work: numbers["work_ns"]!, backend: text("backend"),
      workers: Int(numbers["workers"]!), seed: numbers["seed"]!, model: text("model"), tasks: numbers["tasks"]!,
      makespan: numbers["makespan_ns"]!, efficiency: numbers["efficiency"]!, utilisation: numbers["utilisation"]!,
      limits: SimulationHeader.limits.map { numbers[$0]! })
  }
}
