import FoundationEssentials
import HarnessPlanning
import HarnessWords

/// The files of one shard as `merge` reads them.
package struct ShardFile: Sendable {
  package let path: String
  package let shard: Shard
  package let record: RunRecord
  /// The environment as it is in the file.
  let environment: JSONValue
  /// The rows. Their scenarios are those of the plan.
  package let rows: [Row]

  /// A row's cell and block: what may be there only once.
  struct Place: Hashable {
    let cell: CellKey
    let block: Int
  }

  /// Throws one line when the files are not those of a shard, or are not whole.
  package init(path: String) throws {
    let found = try CSV.rows(try ResultSet.bytes(path), source: path)
    let beside = RunRecord.path(csv: path)
    guard let data = FileManager.default.contents(atPath: beside) else {
      throw Complaint(.noInput, "\(path) has no \(beside) beside it, which says what shard it is")
    }
    let record = try RunRecord.parse(data, path: beside)
    guard let shard = record.shard, let plan = record.plan, record.machines?.isEmpty == false else {
      throw Complaint(
        .badInput, "\(path) is no shard: only a run with --shard K/N can be merged; report takes several whole results")
    }
    try record.checkOwns(found, of: path)
    if let count = record.outcome.rowCount, found.count < count {
      throw Complaint(
        .badInput,
        "\(path) has \(Count.of(found.count, "row")), and \(beside) says \(count): the file was cut off, or the run was killed "
          + "while it put the two in place; its command with --resume makes it whole")
    }
    let environment = try JSONDecoder().decode(JSONValue.self, from: data)
    var own = plan.plan(effort: record.effort, seed: record.seed)
    own.shard = shard
    // As a run that goes on reads them: with the cells of the plan, and only blocks of the shard.
    let rows = try EarlierRun(found, record, own, source: path).rows
    (self.path, self.shard, self.record, self.environment, self.rows) = (path, shard, record, environment, rows)
  }

  var facts: CampaignPlan { CampaignPlan(record)! }
  var plan: PlanRecord { record.plan! }
  var sittings: [MachineSitting] { record.machines! }

  /// The processes of the shard whose rows are there.
  var places: Set<Place> { Set(rows.map { Place(cell: $0.cell, block: $0.block) }) }

  /// The cells that failed, and so do not run in later blocks.
  var failed: Set<CellKey> {
    Set(
      record.outcome.failures.compactMap { failure in
        guard let slash = failure.benchmark.firstIndex(of: "/") else { return nil }
        let name = BenchmarkName(
          String(failure.benchmark[..<slash]), String(failure.benchmark[failure.benchmark.index(after: slash)...]))
        return CellKey(
          Scenario(name, Parameters(failure.params) ?? [:]), Arm(subject: failure.backend, workers: failure.workers))
      })
  }
}
