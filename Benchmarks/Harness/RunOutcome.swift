/// What a run came to: the part of `X.env.json` that only its end knows.
public struct RunOutcome: Codable, Hashable, Sendable {
  /// A scenario in one block, for readers of the CSV: its rows have these parameters among theirs.
  public struct Block: Codable, Hashable, Sendable {
    public let benchmark: String
    public let params: String
    public let block: Int
  }

  /// A cell without a number. Rows of it that were written before it failed do not count.
  public struct FailedCell: Codable, Hashable, Sendable {
    public let benchmark: String
    public let params: String
    public let backend: String
    public let workers: Int
    public let reason: String
  }

  public var seconds = 0.0
  public var stealShare = 0.0
  public var cpuPressureSeconds: Double?
  public var swappedPages: Int?
  public var repeats: [String: Int] = [:]
  /// Blocks that lost more than 1 % of CPU time to other guests.
  public var disturbedBlocks: [Block] = []
  /// Those of them whose rows the table and `compare` leave out: all, unless no other was left.
  public var excludedBlocks: [Block] = []
  public var failures: [FailedCell] = []
  public var wasInterrupted = false
  /// Where the time went, and what was expected; of a resumed run, the last part.
  public var spent: [String: RunResult.Spent] = [:]

  public init() {}

  /// What is known of a run so far.
  public init(_ result: RunResult) {
    for (scenario, count) in result.repeats { repeats["\(scenario)"] = count }
    disturbedBlocks = Self.blocks(result.disturbed)
    excludedBlocks = Self.blocks(result.excluded)
    failures = result.failures.map { cell, reason in
      FailedCell(
        benchmark: "\(cell.scenario.name)", params: "\(cell.scenario.parameters)", backend: cell.arm.subject,
        workers: cell.arm.workers, reason: reason)
    }.sorted { ($0.benchmark, $0.params, $0.backend) < ($1.benchmark, $1.params, $1.backend) }
    wasInterrupted = result.wasInterrupted
    spent = result.spent
  }

  private static func blocks(_ places: Set<ScenarioBlock>) -> [Block] {
    places.map {
      Block(benchmark: "\($0.scenario.name)", params: "\($0.scenario.parameters)", block: $0.block)
    }.sorted { ($0.benchmark, $0.params, $0.block) < ($1.benchmark, $1.params, $1.block) }
  }
}
