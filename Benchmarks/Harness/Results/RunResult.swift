import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// What a run found.
package struct RunResult: Sendable {
  package var rows: [Row] = []
  /// The cells that have no number, and why.
  package var failures: [CellKey: String] = [:]
  /// The number of repeats for one value. For an open loop, the number of operations that the slowest arm completes
  /// during its calibration, the same for every arm.
  package var repeats: [CellKey: Int] = [:]
  /// The blocks in which more than 1 % of CPU time was stolen.
  package var disturbed: Set<ScenarioBlock> = []
  package var blocksRun: Set<ScenarioBlock> = []
  /// What the processes saw of others that had their CPUs.
  package var crowding = Crowding()
  package var wasInterrupted = false
  /// The cells that a run with a goal measures in a third of the blocks, because their times are far above the others'.
  /// Nil until six blocks have shown which cells these are.
  package var seldom: Set<CellKey>?
  /// The half-widths of the scenarios of a run with a goal, as they count. A scenario without a ratio has none.
  package var halfWidths: [Scenario: Double] = [:]
  /// Where the time went: calibrating, timing and counting of each benchmark.
  package var spent: [RunOutcome.Spent] = []

  package init() {}

  /// The result of a run that goes on, before its first process.
  package init(_ earlier: EarlierRun) {
    rows = earlier.rows
    repeats = earlier.repeats
    failures = earlier.failures
    disturbed = earlier.disturbed
    seldom = earlier.seldom
    for rows in Dictionary(grouping: earlier.rows, by: \.process).values { crowding.add(rows) }
    blocksRun = Set(earlier.rows.filter { $0.block > 0 }.map { ScenarioBlock($0.cell.scenario, block: $0.block) })
  }

  /// The blocks whose rows do not count: the disturbed blocks, unless every block was disturbed.
  package var excluded: Set<ScenarioBlock> { disturbed.count < blocksRun.count ? disturbed : [] }

  /// The blocks whose tails do not count: percentiles above the median, and maxima.
  package var crowded: Set<ScenarioBlock> { crowding.blocks }
}

extension RunResult {
  package mutating func note(_ step: Plan.Step, _ outcome: ProcessOutcome, estimate: Double) {
    let kind =
      switch step {
      case .calibrate: "calibrate"
      case .time: "time"
      case .count: "count"
      case .trace: "trace"
      }
    spent.add(
      RunOutcome.Spent(
        step: kind, benchmark: "\(step.cell.scenario.name)", processes: 1,
        seconds: Double(outcome.nanoseconds) / 1e9, cpuSeconds: outcome.usage.cpuSeconds, estimatedSeconds: estimate))
  }
}

extension RunOutcome {
  /// The outcome of a run so far.
  package init(_ result: RunResult) {
    self.init()
    repeats = result.repeats.map { Repeats(cell: $0, count: $1) }.sorted { "\($0.cell)" < "\($1.cell)" }
    disturbedBlocks = Self.blocks(result.disturbed)
    excludedBlocks = Self.blocks(result.excluded)
    crowdedBlocks = Self.blocks(result.crowded)
    failures = result.failures.map { cell, reason in
      FailedCell(
        benchmark: "\(cell.scenario.name)", params: "\(cell.scenario.parameters)", backend: cell.arm.subject,
        workers: cell.arm.workers, reason: reason)
    }.sorted { ($0.benchmark, $0.params, $0.backend) < ($1.benchmark, $1.params, $1.backend) }
    wasInterrupted = result.wasInterrupted
    spent = result.spent.sorted { ($0.step, $0.benchmark) < ($1.step, $1.benchmark) }
    blockCount = result.blocksRun.count
    rowCount = result.rows.count
    seldom = result.seldom.map { $0.sorted { "\($0)" < "\($1)" } }
  }

  private static func blocks(_ places: Set<ScenarioBlock>) -> [Block] {
    places.map {
      Block(benchmark: "\($0.scenario.name)", params: "\($0.scenario.parameters)", block: $0.block)
    }.sorted { ($0.benchmark, $0.params, $0.block) < ($1.benchmark, $1.params, $1.block) }
  }
}
