/// A scenario in one block: what is excluded as a whole, all arms, when the machine was disturbed meanwhile.
package struct ScenarioBlock: Hashable, Sendable {
  package let scenario: Scenario
  package let block: Int

  package init(_ scenario: Scenario, block: Int) {
    self.scenario = scenario
    self.block = block
  }
}

/// What a run found.
package struct RunResult: Sendable {
  package var rows: [Row] = []
  /// Cells that have no number, and why.
  package var failures: [CellKey: String] = [:]
  /// Repeats for one value; for an open loop the operations that the slowest arm completes while it is calibrated, the same
  /// for every arm.
  package var repeats: [CellKey: Int] = [:]
  /// More than 1 % of CPU time was stolen.
  package var disturbed: Set<ScenarioBlock> = []
  package var blocksRun: Set<ScenarioBlock> = []
  package var wasInterrupted = false
  /// Where the time went: calibrating, timing and counting of each benchmark.
  package var spent: [String: Spent] = [:]

  /// What processes of one kind took.
  package struct Spent: Codable, Hashable, Sendable {
    package var processes = 0
    package var seconds = 0.0
    package var cpuSeconds = 0.0
    /// What the plan took them for.
    package var estimatedSeconds = 0.0
  }

  package init() {}

  /// The blocks whose rows do not count: the disturbed ones, unless nothing else was measured.
  package var excluded: Set<ScenarioBlock> { disturbed.count < blocksRun.count ? disturbed : [] }
}

extension RunResult {
  mutating func note(_ step: Plan.Step, _ outcome: ProcessOutcome, estimate: Double) {
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
