import FoundationEssentials
import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// What an interrupted run has left, as far as a plan still needs the rows.
///
/// A run that was killed leaves `X.csv.partial` and `X.env.json.partial`. A run that was interrupted has renamed both
/// files to their final names. When both kinds are there, the unfinished file is the newer one. A run that was killed
/// while it began or while it renamed the files leaves one of each kind: the environment says which rows are its own.
package struct EarlierRun: Sendable {
  package var rows: [Row] = []
  package var repeats: [CellKey: Int] = [:]
  package var failures: [CellKey: String] = [:]
  package var disturbed: Set<ScenarioBlock> = []
  /// The run's identifier; nil when there was no earlier run.
  package var runID: String?
  package var spin: Spin?
  /// The cells that the run measures in every third block; nil when that was not decided yet.
  package var seldom: Set<CellKey>?
  /// How long the run has taken so far, in seconds.
  package var seconds = 0.0
  /// The machines on which the run has run.
  package var machines: [MachineSitting] = []
  /// The blocks of which another machine has left a part: they run again.
  package var begunElsewhere: [(block: ScenarioBlock, host: String)] = []

  /// No earlier run: nothing to resume.
  package init() {}

  /// Reads the files at and beside `csv`. There is no earlier run when a run was killed before anything was measured.
  /// Throws one line when there are no files, or when the files are not of this plan.
  ///
  /// The rows say on which machine each was measured. A block of which another machine than `host` has measured a part
  /// runs again, because all arms of a block run on one machine. What another machine has calibrated does not hold
  /// here.
  package init(csv: String, plan: Plan, context: String, host: String = Host.name) throws {
    guard let (record, rows) = try Self.left(csv) else {
      self.init()
      return
    }
    try record.check(plan, context: context, file: csv)
    try self.init(rows, record, plan, source: csv, host: host)
    // Finished blocks are on the disk, and the unfinished rows may not be when a machine lost its power.
    let published = try Self.published(csv, of: record)
    if !published.isEmpty {
      let finished = try EarlierRun(published, record, plan, source: csv, host: host)
      let known = Set(self.rows.map { ScenarioBlock($0.cell.scenario, block: $0.block) })
      self.rows += finished.rows.filter { !known.contains(ScenarioBlock($0.cell.scenario, block: $0.block)) }
    }
    leaveOutWhatWasBegunElsewhere(plan, host: host)
  }

  /// The rows that a shard of this run has published. Only a shard publishes before its end.
  private static func published(_ csv: String, of record: RunRecord) throws -> [Row] {
    guard record.shard != nil, FileManager.default.fileExists(atPath: csv),
      let own = try RunRecord.read(path: RunRecord.path(csv: csv)), own.runID == record.runID
    else { return [] }
    return try finishedRows(csv, own)
  }

  private mutating func leaveOutWhatWasBegunElsewhere(_ plan: Plan, host: String) {
    var planned: [ScenarioBlock: Set<Arm>] = [:]
    for block in plan.blockNumbers {
      for turn in plan.turns(block: block) {
        planned[ScenarioBlock(turn.planned.scenario, block: block)] = Set(turn.arms)
      }
    }
    for step in plan.countings {
      planned[ScenarioBlock(step.cell.scenario, block: 0), default: []].insert(step.cell.arm)
    }
    var left: Set<ScenarioBlock> = []
    let lastProcess = rows.map(\.process).max()
    for (place, own) in Dictionary(grouping: rows, by: { ScenarioBlock($0.cell.scenario, block: $0.block) }) {
      guard let other = own.map(\.host).first(where: { $0 != host }) else { continue }
      let hosts = Set(own.map(\.host))
      let arms = (planned[place] ?? []).filter { failures[CellKey(place.scenario, $0)] == nil }
      // Which arms a block behind the first has was decided during the run. The run can have stopped only in its last
      // block.
      let isLast = planned[place] == nil && own.contains { $0.process == lastProcess }
      if hosts.count > 1 || isLast || !arms.isSubset(of: Set(own.map(\.cell.arm))) {
        left.insert(place)
        begunElsewhere.append((place, other))
      }
    }
    guard !left.isEmpty else { return }
    rows.removeAll { left.contains(ScenarioBlock($0.cell.scenario, block: $0.block)) }
    disturbed.subtract(left)
  }

  /// The newest run that has left something, and its rows; nil when a run was killed before its environment was known.
  private static func left(_ csv: String) throws -> (RunRecord, [Row])? {
    let finished = RunRecord.path(csv: csv)
    let unfinished = try ResultFiles.unfinished(environmentOf: csv)
    let hasResult = FileManager.default.fileExists(atPath: csv)
    let partial = try UnfinishedRows(csv)
    let rows = partial?.rows ?? []
    if let begun = try RunRecord.read(path: unfinished) {
      if !rows.isEmpty, begun.owns(rows) { return (begun, rows) }
      // A run that goes on with a finished result was perhaps killed just before it copied the rows.
      let isCopied = partial.map { !$0.isEmpty } ?? false
      let isOwn = try !isCopied && hasResult && RunRecord.read(path: finished)?.runID == begun.runID
      return (begun, isOwn ? try finishedRows(csv, begun) : [])
    }
    if !rows.isEmpty {
      // The run was killed when the environment had its final name already, or else the environment is lost.
      guard let published = try RunRecord.read(path: finished), published.owns(rows) else {
        throw Complaint(.noInput, "\(csv) cannot be resumed without \(unfinished), which is missing")
      }
      return (published, rows)
    }
    if hasResult, partial?.isEmpty ?? true {
      guard let published = try RunRecord.read(path: finished) else {
        throw Complaint(.noInput, "\(csv) cannot be resumed without \(finished), which is missing")
      }
      return (published, try finishedRows(csv, published))
    }
    guard partial != nil else {
      throw Complaint(.noInput, "nothing to resume: there is neither \(csv) nor \(csv)\(ResultFiles.unfinished)")
    }
    return nil
  }

  private static func finishedRows(_ csv: String, _ record: RunRecord) throws -> [Row] {
    var rows = try CSV.rows(try ResultSet.bytes(csv), source: csv)
    try record.checkOwns(rows, of: csv)
    // A file that was cut off between two rows may have a part of a process.
    if let count = record.outcome.rowCount, rows.count < count, let last = rows.last {
      rows.removeAll { $0.process == last.process }
    }
    return rows
  }

  /// The rows in `X.csv.partial`.
  private struct UnfinishedRows {
    let rows: [Row]
    /// Whether not even the header is there.
    let isEmpty: Bool

    /// Nil when there is no such file.
    init?(_ csv: String) throws {
      let source = try ResultFiles.unfinished(csv: csv)
      guard FileManager.default.fileExists(atPath: source) else { return nil }
      // The rows behind a zero byte were not all written.
      var bytes = Array(try ResultSet.bytes(source).prefix { $0 != 0 })
      // A machine that lost its power may have left half a row. The process of the row before is then taken as
      // incomplete too.
      let isTorn = !bytes.isEmpty && bytes.last != UInt8(ascii: "\n")
      if isTorn { bytes.removeSubrange((bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)...) }
      isEmpty = bytes.isEmpty
      var found = bytes.isEmpty ? [] : try CSV.rows(bytes, source: source)
      if isTorn, let last = found.last { found.removeAll { $0.process == last.process } }
      rows = found
    }
  }

  init(_ found: [Row], _ record: RunRecord, _ plan: Plan, source: String, host: String = Host.name) throws {
    runID = record.runID
    machines = record.machines.filter { !$0.host.isEmpty }
    // A result that does not name its machine is taken for one of this machine.
    let last = machines.last?.host
    let isOfThisMachine = last == nil || last == host
    spin = isOfThisMachine ? record.spin : nil
    let planned = Planned(plan)
    let place = plan.shard.map { "shard \($0) of the plan" } ?? "the plan of this command"
    let shardBlocks = plan.shard.map { _ in Set(plan.blockNumbers + [0]) }
    rows = try found.map { row in
      guard let cell = planned.cell(row), shardBlocks?.contains(row.block) ?? plan.holds(block: row.block) else {
        throw Complaint(.badInput, "\(source): block \(row.block) of \(row.cell) is not in \(place)")
      }
      return Row(
        runID: row.runID, host: row.host.isEmpty ? host : row.host, block: row.block, process: row.process,
        valueIndex: row.valueIndex, cell: cell,
        reading: Reading(
          row.reading.metric, row.reading.value, count: row.reading.count,
          detail: row.parameters.without(cell.scenario.parameters)))
    }
    let scenarios = Set(plan.scenarios.map(\.scenario))
    let cells = Set(plan.scenarios.flatMap(\.cells))
    if isOfThisMachine {
      for repeats in record.outcome.repeats where cells.contains(repeats.cell) {
        self.repeats[repeats.cell] = repeats.count
      }
    }
    seldom = record.outcome.seldom.map { cells.intersection($0) }
    seconds = record.outcome.seconds
    for block in record.outcome.disturbedBlocks {
      if let scenario = block.scenario, scenarios.contains(scenario) {
        disturbed.insert(ScenarioBlock(scenario, block: block.block))
      }
    }
    for failure in record.outcome.failures {
      if let cell = failure.cell, scenarios.contains(cell.scenario) { failures[cell] = failure.reason }
    }
  }

  /// Finds the planned cell of a row. The parameters of a row include those of its readings.
  private struct Planned {
    private let byName: [BenchmarkName: [PlannedScenario]]

    init(_ plan: Plan) { byName = Dictionary(grouping: plan.scenarios) { $0.scenario.name } }

    /// The planned cell of the row. When the parameters of one scenario are part of another's, the scenario with the
    /// longest parameters is taken.
    func cell(_ row: Row) -> CellKey? {
      let fitting = (byName[row.cell.scenario.name] ?? []).filter {
        $0.arms.contains(row.cell.arm) && row.parameters.contains("\($0.scenario.parameters)")
      }
      return fitting.max { "\($0.scenario.parameters)".count < "\($1.scenario.parameters)".count }.map {
        CellKey($0.scenario, row.cell.arm)
      }
    }
  }
}
