import HarnessWords

/// The outcome of a run: the part of `X.env.json` that is known only at the end of the run.
package struct RunOutcome: Codable, Hashable, Sendable {
  /// A scenario in one block. Its rows in the CSV have these parameters among theirs.
  package struct Block: Codable, Hashable, Sendable {
    package let benchmark: String
    package let params: String
    package let block: Int
  }

  /// A cell without a number. Rows of the cell that were written before the cell failed do not count.
  package struct FailedCell: Codable, Hashable, Sendable {
    package let benchmark: String
    package let params: String
    package let backend: String
    package let workers: Int
    package let reason: String
  }

  package var seconds = 0.0
  package var stealShare = 0.0
  package var cpuPressureSeconds: Double?
  package var swappedPages: Int?
  package var repeats: [String: Int] = [:]
  /// Blocks that lost more than 1 % of CPU time to other guests.
  package var disturbedBlocks: [Block] = []
  /// The disturbed blocks whose rows the table and `compare` leave out: all disturbed blocks, unless no other block is
  /// left.
  package var excludedBlocks: [Block] = []
  /// The blocks whose percentiles above the median, and maxima, the table and `compare` leave out, because a process saw
  /// that something else had its CPUs; nil in a record from before that was looked at.
  package var crowdedBlocks: [Block]?
  package var failures: [FailedCell] = []
  package var wasInterrupted = false
  /// The number of blocks that were run, over all scenarios; nil in a record from before runs had goals.
  package var blockCount: Int?
  /// The number of rows; nil in a record of schema 1. A file with fewer rows was cut off.
  package var rowCount: Int?
  /// The cells that were measured in a third of the blocks; nil when that was not decided.
  package var seldom: [String]?
  /// Where the time went, and what was expected. A resumed run has only the figures of its last part.
  package var spent: [String: RunResult.Spent] = [:]

  package init() {}

  /// The outcome of a run so far.
  package init(_ result: RunResult) {
    for (cell, count) in result.repeats { repeats["\(cell)"] = count }
    disturbedBlocks = Self.blocks(result.disturbed)
    excludedBlocks = Self.blocks(result.excluded)
    crowdedBlocks = Self.blocks(result.crowded)
    failures = result.failures.map { cell, reason in
      FailedCell(
        benchmark: "\(cell.scenario.name)", params: "\(cell.scenario.parameters)", backend: cell.arm.subject,
        workers: cell.arm.workers, reason: reason)
    }.sorted { ($0.benchmark, $0.params, $0.backend) < ($1.benchmark, $1.params, $1.backend) }
    wasInterrupted = result.wasInterrupted
    spent = result.spent
    blockCount = result.blocksRun.count
    rowCount = result.rows.count
    seldom = result.seldom.map { $0.map(\.description).sorted() }
  }

  private static func blocks(_ places: Set<ScenarioBlock>) -> [Block] {
    places.map {
      Block(benchmark: "\($0.scenario.name)", params: "\($0.scenario.parameters)", block: $0.block)
    }.sorted { ($0.benchmark, $0.params, $0.block) < ($1.benchmark, $1.params, $1.block) }
  }
}
