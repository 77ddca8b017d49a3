import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessWords

/// A file that was read: what made it, and what of it does not count.
struct SourceFacts: Encodable {
  enum Kind: String, Encodable { case measured, simulated, explained }

  struct Machine: Encodable {
    let host: String
    let rows: Int
    let cpuModel: String?
    let cpusAllowed: Int?
    let kernel: String?
    /// Rounds of spinning work in a microsecond.
    let spin: Double?
    let spinText: String?
  }

  struct Disturbed: Encodable {
    let count: Int
    /// Their share of all blocks, where the number of these is known.
    let shareText: String?
  }

  struct Block: Encodable {
    let benchmark: String
    let params: String
    let block: Int
  }

  let path: String
  let name: String
  let kind: Kind
  let rows: Int
  let countedRows: Int
  let excludedRows: Int
  let runs: [String]
  let environment: EnvironmentFacts?
  let environmentPath: String
  /// How many blocks the run had, over all scenarios; nil where the record does not say it.
  let blocks: Int?
  /// How many blocks each scenario had, in words.
  let blocksWords: String?
  /// Blocks that lost CPU time to other guests of the host.
  let disturbed: Disturbed
  /// Whether these are more than a quarter.
  let isUnstable: Bool
  let excluded: [Block]
  let crowded: Int
  let stealShareText: String?
  let swappedPages: Int?
  let wasInterrupted: Bool
  /// The machines that the rows name, with their rows.
  let hosts: [Machine]
  let machinesSentence: String?
  /// The versions of the schedulers in other languages.
  let peersSentence: String?

  init(_ set: ResultSet) {
    let outcome = set.record?.outcome
    (path, name, kind) = (set.name, Self.lastName(set.name), .measured)
    (countedRows, excludedRows) = (set.rows.count, set.excludedRows)
    rows = countedRows + excludedRows
    var runs: [String] = []
    for run in set.rows.map(\.runID) where runs.last != run && !runs.contains(run) { runs.append(run) }
    self.runs = runs
    environment = set.record.map(EnvironmentFacts.init)
    environmentPath = RunRecord.path(csv: set.name)
    blocks = set.record.flatMap(Self.blocks)
    blocksWords = set.record.map { EnvironmentFacts.blocksWords($0.effort) }
    let count = outcome?.disturbedBlocks.count ?? 0
    let share = blocks.map { Double(count) / Double($0) }
    disturbed = Disturbed(count: count, shareText: share.map(NumberFormat.percent))
    isUnstable = share.map { $0 > 0.25 } ?? false
    excluded = (outcome?.excludedBlocks ?? []).map {
      Block(benchmark: $0.benchmark, params: $0.params, block: $0.block)
    }
    crowded = outcome?.crowdedBlocks?.count ?? 0
    stealShareText = outcome.map { NumberFormat.percent($0.stealShare) }
    swappedPages = outcome?.swappedPages
    wasInterrupted = outcome?.wasInterrupted ?? false
    let counts = set.rows.reduce(into: [String: Int]()) { $0[$1.host, default: 0] += 1 }
    hosts = counts.filter { !$0.key.isEmpty }.sorted { $0.key < $1.key }.map { host, rows in
      let sitting = set.record?.machines.last { $0.host == host }
      let spin = sitting?.spin.roundsPerMicrosecond
      return Machine(
        host: host, rows: rows, cpuModel: sitting?.cpuModel, cpusAllowed: sitting?.cpusAllowed, kernel: sitting?.kernel,
        spin: spin, spinText: spin.map { NumberFormat.general($0, digits: 4) })
    }
    machinesSentence = set.machines?.text
    peersSentence = set.record?.peersSentence
  }

  init(_ result: SimulatedFile) {
    self.init(.simulated, path: result.path, rows: result.rows.count, record: result.record)
  }

  init(_ result: ExplainedFile) { self.init(.explained, path: result.path, rows: result.rows.count, record: nil) }

  /// A file without blocks.
  private init(_ kind: Kind, path: String, rows: Int, record: RunRecord?) {
    (self.path, name, self.kind) = (path, Self.lastName(path), kind)
    (self.rows, countedRows, excludedRows, runs) = (rows, rows, 0, [])
    environment = record.map(EnvironmentFacts.init)
    environmentPath = RunRecord.path(csv: path)
    (blocks, blocksWords, disturbed) = (nil, nil, Disturbed(count: 0, shareText: nil))
    (isUnstable, excluded, crowded) = (false, [], 0)
    (stealShareText, swappedPages, wasInterrupted, hosts) = (nil, nil, false, [])
    (machinesSentence, peersSentence) = (nil, nil)
  }

  private static func lastName(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

  /// An earlier record does not say how many blocks were run: then all scenarios had the same number.
  private static func blocks(_ record: RunRecord) -> Int? {
    let count = record.outcome.blockCount ?? Set(record.cells.map(\.scenario)).count * record.effort.blocks
    return count > 0 ? count : nil
  }
}

/// What the numbers of a file depend on beside the code: the part of its record that a page shows.
struct EnvironmentFacts: Encodable {
  let runId: String
  let startedAt: String?
  let commit: String?
  let dirty: Bool?
  let toolchain: String?
  let optimisation: String?
  let allocator: String?
  let countingAllocator: String?
  let cpuModel: String?
  let cpusOnline: Int?
  let cpusAllowed: Int?
  let cpuQuota: Double?
  let kernel: String?
  let governor: String?
  let aslr: String?
  let loadAverageAtStart: Double?
  let seed: UInt64
  let host: String?
  let arguments: [String]
  let peers: [String: String]
  /// How many blocks each scenario had, and what a process measured.
  let effortWords: String
  /// The costs of a simulation.
  let model: Model?

  struct Model: Encodable {
    let name: String
    let date: String
    let machine: CostModel.Machine
  }

  init(_ record: RunRecord) {
    (runId, startedAt, commit, dirty) = (record.runID, record.startedAt, record.commit, record.dirty)
    (toolchain, optimisation) = (record.toolchain, record.optimisation)
    (allocator, countingAllocator) = (record.allocator, record.countingAllocator)
    (cpuModel, cpusOnline, cpusAllowed) = (record.cpuModel, record.cpusOnline, record.cpusAllowed)
    (cpuQuota, kernel, governor, aslr) = (record.cpuQuota, record.kernel, record.governor, record.aslr)
    (loadAverageAtStart, seed, host) = (record.loadAverageAtStart, record.seed, record.host)
    (arguments, peers) = (record.arguments ?? [], record.peers)
    let effort = record.effort
    func milliseconds(_ time: UInt64) -> String { NumberFormat.general(Double(time) / 1e6, digits: 6) }
    effortWords =
      "\(Self.blocksWords(effort)); in each a process per cell with \(effort.values) values of at least "
      + "\(milliseconds(effort.target)) ms after \(milliseconds(effort.leadIn)) ms of lead-in"
    model = (record.simulation?.model).map { Model(name: $0.name, date: $0.date, machine: $0.machine) }
  }

  static func blocksWords(_ effort: Effort) -> String {
    guard let goal = effort.goal else { return "\(effort.blocks) blocks" }
    let percent = NumberFormat.general(goal.halfWidth * 100, digits: 3)
    return "\(effort.blocks) blocks or more, until \(percent) % or \(NumberFormat.fixed(goal.seconds, digits: 0)) s"
  }
}
