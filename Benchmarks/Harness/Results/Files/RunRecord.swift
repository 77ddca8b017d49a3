import FoundationEssentials
import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// The part of `X.env.json` that a later command needs. `--resume` needs the record to go on with the same work;
/// `compare` needs the record to leave out what does not count.
package struct RunRecord: Decodable, Sendable {
  package let schema: Int
  package let runID: String
  package let commit: String?
  package let allocator: String
  package let seed: UInt64
  package let effort: Effort
  package let spin: Spin
  /// The context of the run; nil in a record from before there was a context.
  package let context: String?
  package let cells: [String]
  package let outcome: RunOutcome
  package let dirty: Bool?
  package let optimisation: String?
  package let countingAllocator: String?
  package let arguments: [String]?
  package let toolchain: String?
  package let cpuModel: String?
  package let cpusOnline: Int?
  package let cpusAllowed: Int?
  package let cpuQuota: Double?
  package let kernel: String?
  package let governor: String?
  package let aslr: String?
  /// The machine on which the run ran last; nil in a record of schema 1.
  package let host: String?
  /// The machines on which the run has run, in order; nil in a record of schema 1.
  package let machines: [MachineSitting]?
  /// The part of the plan that the run is, and the plan; nil in a run of a whole plan.
  package let shard: Shard?
  package let plan: PlanRecord?
  /// The shards that `merge` has put together; nil in a record of a single run.
  package let shards: [MergedShard]?

  /// What is needed of a shard in a merged result.
  package struct MergedShard: Decodable, Sendable {
    package let runID: String

    private enum CodingKeys: String, CodingKey { case runID = "runId" }
  }

  private enum CodingKeys: String, CodingKey {
    // The snake-case strategy turns run_id into this name.
    case runID = "runId"
    case schema, commit, allocator, seed, effort, spin, context, cells, outcome
    case dirty, optimisation, countingAllocator, arguments, host, machines, shard, plan, shards
    case toolchain, cpuModel, cpusOnline, cpusAllowed, cpuQuota, kernel, governor, aslr
  }

  /// The name of the allocator, without its version.
  package var allocatorName: String { String(allocator.prefix { $0 != " " }) }

  package static func cells(of plan: Plan) -> [String] { plan.scenarios.flatMap(\.cells).map(\.description) }

  /// Nil when there is no such file.
  package static func read(path: String) throws -> RunRecord? {
    try FileManager.default.contents(atPath: path).map { try parse($0, path: path) }
  }

  package static func parse(_ data: Data, path: String) throws -> RunRecord {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard let record = try? decoder.decode(RunRecord.self, from: data), record.isMeasurable else {
      throw Complaint(.badInput, "\(path): not the environment that this opbench writes beside a result")
    }
    return record
  }

  /// Whether a run can go on with these numbers. A spin rate that no CPU has, or zero repeats, would crash the run's
  /// processes.
  private var isMeasurable: Bool {
    (1e-3...1e9).contains(spin.roundsPerMicrosecond) && outcome.repeats.values.allSatisfy { $0 > 0 }
      && (shard?.isPossible ?? true) && (plan.map { $0.isPossible && $0.blocks == effort.blocks } ?? true)
  }

  /// The name of the environment file of a CSV.
  package static func path(csv: String) -> String {
    let name = csv.hasSuffix(".gz") ? csv.dropLast(".gz".count) : csv[...]
    return (name.hasSuffix(".csv") ? name.dropLast(".csv".count) : name) + ".env.json"
  }

  /// The runs whose rows the result has: one, or those of the shards.
  private var runIDs: Set<String> { Set(shards?.map(\.runID) ?? [runID]) }

  /// Whether all of the rows are of this run.
  func owns(_ rows: [Row]) -> Bool {
    let own = runIDs
    return rows.allSatisfy { own.contains($0.runID) }
  }

  /// Throws one line when rows are not of this run. The files of two runs lie beside one another when a run was killed
  /// while it put its files in place, or when somebody has copied one of the files alone.
  package func checkOwns(_ rows: [Row], of csv: String) throws {
    let own = runIDs
    guard let other = rows.first(where: { !own.contains($0.runID) }) else { return }
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
    if allocatorName != plan.allocator.rawValue { throw refuse("allocator", allocatorName, "\(plan.allocator)") }
    if let then = self.context, then != context {
      func shown(_ context: String) -> String {
        context.isEmpty ? "nothing" : context.split(whereSeparator: \.isNewline).joined(separator: " ")
      }
      throw refuse("the input", shown(then), shown(context))
    }
    let now = Self.cells(of: plan)
    guard Set(cells) != Set(now) else { return }
    if let missing = cells.first(where: { !now.contains($0) }) { throw refuse("the cell", missing, "no such cell") }
    throw refuse("\(cells.count) cells", "", "\(now.count)")
  }
}
