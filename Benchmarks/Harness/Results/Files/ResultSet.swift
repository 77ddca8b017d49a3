import FoundationEssentials
import HarnessWords

/// A result file as later commands read it: its rows, without the rows that do not count by its environment.
package struct ResultSet: Sendable {
  package let name: String
  private let planned: PlannedNames
  /// The rows without excluded blocks, tails of crowded blocks, and failed cells.
  package private(set) var rows: [Row]
  package let record: RunRecord?
  package let excludedRows: Int
  /// The cells with rows of which none counts.
  package private(set) var uncountedCells: Set<CellKey>
  /// The machines that the rows name; nil for a result that names none.
  package private(set) var machines: Machines?
  /// The cells that failed.
  package private(set) var failures: [RunOutcome.FailedCell]

  package init(name: String, rows: [Row], record: RunRecord?) {
    self.name = name
    self.record = record
    let outcome = record?.outcome ?? RunOutcome()
    let blocks = Dictionary(grouping: outcome.excludedBlocks) { "\($0.benchmark) \($0.block)" }
    let crowded = Dictionary(grouping: outcome.crowdedBlocks ?? []) { "\($0.benchmark) \($0.block)" }
    let failures = Dictionary(grouping: outcome.failures) { "\($0.benchmark) \($0.backend)@\($0.workers)" }
    let planned = PlannedNames(record?.cells ?? [])
    self.planned = planned
    self.failures = outcome.failures
    self.rows = rows.filter { row in
      let name = row.cell.scenario.name
      let scenario = Scenario(name, row.parameters)
      let isExcluded = blocks["\(name) \(row.block)"]?.contains { planned.owns($0.params, scenario) } ?? false
      let isCrowded =
        row.reading.metric.isTail
        && crowded["\(name) \(row.block)"]?.contains { planned.owns($0.params, scenario) } ?? false
      let hasFailed = failures["\(name) \(row.cell.arm)"]?.contains { planned.owns($0.params, scenario) } ?? false
      return !isExcluded && !isCrowded && !hasFailed
    }
    let counted = Set(self.rows.map(\.cell))
    uncountedCells = Set(rows.map(\.cell)).subtracting(counted)
    excludedRows = rows.count - self.rows.count
    machines = Self.machines(self.rows, record)
  }

  private static func machines(_ rows: [Row], _ record: RunRecord?) -> Machines? {
    let hosts = Set(rows.map(\.host)).subtracting([""])
    return hosts.isEmpty ? nil : Machines(hosts: hosts, sittings: record?.machines ?? [])
  }

  /// The result of the benchmarks whose names are wanted.
  package func restricted(to isWanted: (String) -> Bool) -> ResultSet {
    var copy = self
    copy.rows = rows.filter { isWanted("\($0.cell.scenario.name)") }
    copy.failures = failures.filter { isWanted($0.benchmark) }
    copy.uncountedCells = uncountedCells.filter { isWanted("\($0.scenario.name)") }
    copy.machines = Self.machines(copy.rows, record)
    return copy
  }

  /// The failure of a cell as rows name it; nil when it has not failed.
  package func failure(of cell: CellKey) -> RunOutcome.FailedCell? {
    failures.first {
      $0.benchmark == "\(cell.scenario.name)" && Arm(subject: $0.backend, workers: $0.workers) == cell.arm
        && planned.owns($0.params, cell.scenario)
    }
  }

  /// All arms: in the order of the record's cells, which is the order in which the user named the subjects. Rows come
  /// in another order in each block. Arms that the record does not name come last.
  package var arms: [Arm] {
    let measured = Set(rows.map(\.cell.arm))
    let named = (record?.cells ?? []).map(\.arm).filter(measured.contains)
    var seen: Set<Arm> = []
    return (named + rows.map(\.cell.arm)).filter { seen.insert($0).inserted }
  }

  /// The subjects that the result is about; nil when its record does not say it.
  package var ours: Set<String>? {
    guard let subjects = record?.subjects, !subjects.isEmpty else { return nil }
    return Set(subjects.filter { $0.role == .ours }.map(\.name))
  }

  /// The time that stands for each benchmark: what the record says, and what the metrics of the rows say where it says
  /// nothing.
  package var primaryTimes: [String: String] { recordedTimes ?? rows.primaryTimes }

  /// What the record says of them; nil where it says nothing.
  package var recordedTimes: [String: String]? {
    record.flatMap { $0.primaryTimes.isEmpty ? nil : $0.primaryTimes }
  }

  /// Reads `X.csv` or `X.csv.gz`, and `X.env.json` when that file is there.
  package static func read(path: String) throws -> ResultSet {
    let rows = try CSV.rows(try content(path), source: path)
    guard !rows.isEmpty else { throw Complaint(.badInput, "\(path) has a header and no rows") }
    let record = try RunRecord.read(path: RunRecord.path(csv: path))
    try record?.checkOwns(rows, of: path)
    return ResultSet(name: path, rows: rows, record: record)
  }

  /// What is in a file, unpacked where its name says that it is packed.
  package static func content(_ path: String) throws -> Data {
    let bytes = try bytes(path)
    return Gunzip.isPacked(path) ? try Gunzip.bytes(path) : bytes
  }

  package static func bytes(_ path: String) throws -> Data {
    guard FileManager.default.fileExists(atPath: path) else {
      throw Complaint(.noInput, "\(path): there is no such file")
    }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Complaint(.noInput, "\(path): cannot be read as a file")
    }
    return data
  }
}
