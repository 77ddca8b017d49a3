import FoundationEssentials
import HarnessPlanning
import HarnessWords

/// How the rows of one kind of result read. A suite names the forms of its results, and `merge` needs no more of a row
/// than its place in the plan.
package protocol RowForm: SendableMetatype {
  static var header: [String] { get }

  /// The rows of a shard, each at its place in the plan. Throws one line when a row is not of the shard.
  /// - Parameters:
  ///   - plan: the plan of the shard.
  ///   - source: the name of the file.
  static func rows(_ bytes: Data, of record: RunRecord, plan: Plan, source: String) throws -> [ShardRow]
}

/// A row of a shard, for a merged file.
package struct ShardRow: Hashable, Sendable {
  /// The process that gave the row, or the simulated run: what may be there only once in a campaign.
  package struct Place: Hashable, Sendable {
    package let cell: CellKey
    package let block: Int
  }

  package let place: Place
  /// The machine; empty for a row that depends on none.
  package let host: String
  /// The line of the file.
  package let line: String

  package init(_ cell: CellKey, block: Int, host: String = "", line: String) {
    (place, self.host, self.line) = (Place(cell: cell, block: block), host, line)
  }
}

/// The rows that measuring processes give.
package enum MeasuredRows: RowForm {
  package static var header: [String] { CSV.header }

  package static func rows(_ bytes: Data, of record: RunRecord, plan: Plan, source: String) throws -> [ShardRow] {
    let rows = try CSV.rows(bytes, source: source)
    try record.checkOwns(rows, of: source)
    // As a run that goes on reads them: with the cells of the plan, and only blocks of the shard.
    return try EarlierRun(rows, record, plan, source: source).rows.map {
      ShardRow($0.cell, block: $0.block, host: $0.host, line: CSV.line($0))
    }
  }
}
