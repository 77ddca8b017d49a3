import FoundationEssentials

/// A result file as later commands read it: its rows, without the rows that do not count by its environment.
package struct ResultSet: Sendable {
  package let name: String
  /// The rows without excluded blocks and failed cells.
  package let rows: [Row]
  package let record: RunRecord?
  package let excludedRows: Int
  /// The machines that the rows name; nil for a result of schema 1, which names none.
  package let machines: Machines?

  package init(name: String, rows: [Row], record: RunRecord?) {
    self.name = name
    self.record = record
    let outcome = record?.outcome ?? RunOutcome()
    let blocks = Dictionary(grouping: outcome.excludedBlocks) { "\($0.benchmark) \($0.block)" }
    let failures = Dictionary(grouping: outcome.failures) { "\($0.benchmark) \($0.backend)@\($0.workers)" }
    self.rows = rows.filter { row in
      let name = row.cell.scenario.name
      // The row's parameters are the scenario's, and perhaps the reading's as well.
      let isExcluded = blocks["\(name) \(row.block)"]?.contains { row.parameters.contains($0.params) } ?? false
      let hasFailed = failures["\(name) \(row.cell.arm)"]?.contains { row.parameters.contains($0.params) } ?? false
      return !isExcluded && !hasFailed
    }
    excludedRows = rows.count - self.rows.count
    let hosts = Set(self.rows.map(\.host)).subtracting([""])
    machines = hosts.isEmpty ? nil : Machines(hosts: hosts, sittings: record?.machines ?? [])
  }

  /// All arms: in the order of the record's cells, which is the order in which the user named the subjects. Rows come in
  /// another order in each block. Arms that the record does not name come last.
  package var arms: [Arm] {
    let named = record?.cells ?? []
    var places: [Arm: Int] = [:]
    for arm in rows.map(\.cell.arm) where places[arm] == nil {
      // A cell is recorded as "benchmark on arm (parameters)".
      let place = named.firstIndex { $0.hasSuffix(" on \(arm)") || $0.contains(" on \(arm) (") }
      places[arm] = place ?? named.count + places.count
    }
    return places.sorted { $0.value < $1.value }.map(\.key)
  }

  /// Reads `X.csv` or `X.csv.gz`, and `X.env.json` when that file is there.
  package static func read(path: String) throws -> ResultSet {
    let content = try bytes(path)
    let rows = try CSV.rows(Gunzip.isPacked(path) ? try Gunzip.bytes(path) : content, source: path)
    guard !rows.isEmpty else { throw Complaint(.badInput, "\(path) has a header and no rows") }
    let record = try RunRecord.read(path: RunRecord.path(csv: path))
    try record?.checkOwns(rows, of: path)
    return ResultSet(name: path, rows: rows, record: record)
  }

  static func bytes(_ path: String) throws -> Data {
    guard FileManager.default.fileExists(atPath: path) else {
      throw Complaint(.noInput, "\(path): there is no such file")
    }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Complaint(.noInput, "\(path): cannot be read as a file")
    }
    return data
  }
}
