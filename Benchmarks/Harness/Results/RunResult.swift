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
  package var spent: [String: Spent] = [:]

  /// The time that the processes of one kind took.
  package struct Spent: Codable, Hashable, Sendable {
    package var processes = 0
    package var seconds = 0.0
    package var cpuSeconds = 0.0
    /// The seconds that the plan had estimated.
    package var estimatedSeconds = 0.0
  }

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
    var spent = spent["\(kind) \(step.cell.scenario.name)"] ?? Spent()
    spent.processes += 1
    spent.seconds += Double(outcome.nanoseconds) / 1e9
    spent.cpuSeconds += outcome.cpuSeconds
    spent.estimatedSeconds += estimate
    self.spent["\(kind) \(step.cell.scenario.name)"] = spent
  }
}
