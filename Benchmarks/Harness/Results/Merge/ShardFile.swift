import FoundationEssentials
import HarnessPlanning
import HarnessWords

/// The files of one shard as `merge` reads them.
package struct ShardFile: Sendable {
  package let path: String
  package let shard: Shard
  package let record: RunRecord
  let form: any RowForm.Type
  /// The rows. Their scenarios are those of the plan.
  package let rows: [ShardRow]

  /// Throws one line when the files are not those of a shard, or are not whole.
  /// - Parameter forms: the forms of which the rows may be.
  package init(path: String, forms: [any RowForm.Type] = [MeasuredRows.self]) throws {
    let bytes = try ResultSet.bytes(path)
    let beside = RunRecord.path(csv: path)
    guard let record = try RunRecord.read(path: beside) else {
      throw Complaint(.noInput, "\(path) has no \(beside) beside it, which says what shard it is")
    }
    guard let shard = record.shard, let facts = CampaignPlan(record) else {
      throw Complaint(
        .badInput, "\(path) is no shard: only a run with --shard K/N can be merged; report takes several whole results")
    }
    let form = forms.first { bytes.starts(with: "\($0.header[0]),".utf8) } ?? forms[0]
    let rows = try form.rows(bytes, of: record, plan: facts.plan(of: shard), source: path)
    if let count = record.outcome.rowCount, rows.count != count {
      throw Complaint(
        .badInput,
        "\(path) has \(Count.of(rows.count, "row")), and \(beside) says \(count): the file was cut off, or the run was killed "
          + "while it put the two in place; its command with \(facts.plan.flagToComplete) makes it whole")
    }
    (self.path, self.shard, self.record, self.form, self.rows) = (path, shard, record, form, rows)
  }

  var facts: CampaignPlan { CampaignPlan(record)! }

  /// The processes of the shard whose rows are there.
  var places: Set<ShardRow.Place> { Set(rows.map(\.place)) }

  /// The cells that failed, and so do not run in later blocks.
  var failed: Set<CellKey> { Set(record.outcome.failures.compactMap(\.cell)) }
}
