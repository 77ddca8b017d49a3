import FoundationEssentials
import HarnessPlanning
import HarnessWords

// The file of a record, and the rows beside it.

extension RunRecord {
  /// The name of the record's file, by the name of its CSV.
  package static func path(csv: String) -> String {
    let name = csv.hasSuffix(".gz") ? csv.dropLast(".gz".count) : csv[...]
    return (name.hasSuffix(".csv") ? name.dropLast(".csv".count) : name) + ".env.json"
  }

  /// The text of the file.
  package func json() throws -> String { try JSONFile.text(self) }

  /// Nil when there is no such file.
  package static func read(path: String) throws -> RunRecord? {
    try FileManager.default.contents(atPath: path).map { try parse($0, path: path) }
  }

  package static func parse(_ data: Data, path: String) throws -> RunRecord {
    struct Form: Decodable { let schema: Int }
    let what = "the environment that this opbench writes beside a result"
    let form = try JSONFile.content(data, path, as: Form.self, what: what)
    guard form.schema == currentSchema else {
      throw Complaint(.badInput, "\(path) has schema \(form.schema), and this opbench reads schema \(currentSchema)")
    }
    let record = try JSONFile.content(data, path, as: RunRecord.self, what: what)
    guard record.isPossible else {
      throw Complaint(.badInput, "\(path) is not \(what): it has numbers that no run has")
    }
    return record
  }

  /// Whether a run can have these numbers. A spin rate that no CPU has, or zero repeats, would crash the processes of a
  /// run that goes on. A negative count or a share above 1 would stand in a report as if it had been measured.
  private var isPossible: Bool {
    (allocator != nil || simulation != nil)
      && machines.allSatisfy {
        (1e-3...1e9).contains($0.spin.roundsPerMicrosecond) && $0.cpusOnline >= 0 && $0.cpusAllowed >= 0
      }
      && (0...1).contains(outcome.stealShare) && (outcome.swappedPages ?? 0) >= 0
      && outcome.failures.allSatisfy { $0.workers >= 0 }
      && outcome.repeats.allSatisfy { $0.count > 0 } && (shard?.isPossible ?? true)
      && (plan.map { $0.isPossible && $0.blocks == effort.blocks } ?? true)
  }

  /// The runs whose rows the result has: one, or those of the shards.
  private var runIDs: Set<String> { Set(shards?.map(\.runID) ?? [runID]) }

  /// Whether all of the rows are of this run.
  func owns(_ rows: [Row]) -> Bool {
    let runIDs = runIDs
    return rows.allSatisfy { runIDs.contains($0.runID) }
  }

  /// Throws one line when rows are not of this run. The files of two runs lie beside one another when a run was killed
  /// while it put its files in place, or when somebody has copied one of the files alone.
  package func checkOwns(_ rows: [Row], of csv: String) throws {
    let runIDs = runIDs
    guard let other = rows.first(where: { !runIDs.contains($0.runID) }) else { return }
    throw Complaint(
      .badInput,
      "\(csv) has rows of run \(other.runID), and \(Self.path(csv: csv)) is of run \(runID): the two do not belong "
        + "together; if a run into \(csv) was killed, its command with --resume finishes it")
  }

  /// Throws one line that says in what a plan differs from the run of this record.
  package func check(_ plan: Plan, context: String, file: String) throws {
    func refuse(_ what: String, _ then: String, _ now: String) -> Complaint {
      Complaint(
        .badInput,
        "\(file) cannot be resumed: it was begun with \(what) \(then), this command has \(now); "
          + "repeat the command it was begun with, plus --resume")
    }
    if shards != nil {
      throw Complaint(
        .badInput, "\(file) cannot be resumed: it was merged from shards, and each shard is resumed by itself")
    }
    if shard != plan.shard {
      let whole = "no shard, the whole plan,"
      throw refuse(
        "shard", shard.map(String.init(describing:)) ?? whole, plan.shard.map(String.init(describing:)) ?? whole)
    }
    if seed != plan.seed { throw refuse("seed", "\(seed)", "\(plan.seed)") }
    if effort != plan.effort { throw refuse("effort", effort.description, plan.effort.description) }
    let allocator = allocatorName ?? "none"
    if allocator != plan.allocator.rawValue { throw refuse("allocator", allocator, "\(plan.allocator)") }
    if let then = self.context, then != context {
      func shown(_ context: String) -> String {
        context.isEmpty ? "nothing" : context.split(whereSeparator: \.isNewline).joined(separator: " ")
      }
      throw refuse("the input", shown(then), shown(context))
    }
    let planned = Set(plan.scenarios.flatMap(\.cells))
    guard Set(cells) != planned else { return }
    if let missing = cells.first(where: { !planned.contains($0) }) {
      throw refuse("the cell", "\(missing)", "no such cell")
    }
    throw refuse("\(cells.count) cells", "", "\(planned.count)")
  }
}
