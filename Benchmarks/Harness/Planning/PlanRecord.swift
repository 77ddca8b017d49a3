import HarnessWords

/// A plan as `X.env.json` of a shard has it: enough to say of each process of the campaign whether its rows are there.
package struct PlanRecord: Codable, Hashable, Sendable {
  package struct Cells: Codable, Hashable, Sendable {
    let family: String
    let benchmark: String
    let params: String
    /// The arms, in the order of the plan.
    let arms: [Arm]
    /// Whether allocations are counted, and the arms whose allocations cannot be counted.
    let countsAllocations: Bool
    let uncounted: [Arm]

    var scenario: Scenario { Scenario(BenchmarkName(family, benchmark), Parameters(params) ?? [:]) }
  }

  package let scenarios: [Cells]
  package let blocks: Int
  package let isAblation: Bool
  /// Whether a shard has cells, and not blocks; nil for blocks.
  package let sharesCells: Bool?

  package init(_ plan: Plan) {
    scenarios = plan.scenarios.map {
      Cells(
        family: $0.scenario.name.family, benchmark: $0.scenario.name.benchmark, params: "\($0.scenario.parameters)",
        arms: $0.arms, countsAllocations: $0.countsAllocations, uncounted: $0.uncounted)
    }
    blocks = plan.effort.blocks
    (isAblation, sharesCells) = (plan.isAblation, plan.sharesCells ? true : nil)
  }

  /// The plan again, as far as its blocks and cells go. Nothing can be measured by it.
  package func plan(effort: Effort, seed: UInt64) -> Plan {
    let planned = scenarios.map { cells in
      PlannedScenario(
        scenario: cells.scenario, arms: cells.arms, incapable: [], repeats: .samples(1, seconds: 0), headlines: [],
        countsAllocations: cells.countsAllocations, uncounted: cells.uncounted, notes: [])
    }
    var plan = Plan(scenarios: planned, effort: effort, seed: seed)
    (plan.isAblation, plan.sharesCells) = (isAblation, sharesCells ?? false)
    return plan
  }

  /// The flag with which the command of a shard makes its files whole. A simulation writes its files at its end, and
  /// cannot go on.
  package var flagToComplete: String { sharesCells == true ? "--overwrite" : "--resume" }
  /// A process that measures, or a run of a simulation.
  package var stepNoun: String { sharesCells == true ? "run" : "process" }

  /// Whether the numbers are those of a plan.
  package var isPossible: Bool {
    1...1_000_000 ~= blocks && !scenarios.isEmpty
      && scenarios.allSatisfy { !$0.arms.isEmpty && Parameters($0.params) != nil }
  }

  /// In what two plans differ, in words; nil when they are equal.
  package func difference(from other: PlanRecord) -> String? {
    if blocks != other.blocks { return "\(Count.of(blocks, "block")), not \(other.blocks)" }
    if isAblation != other.isAblation { return isAblation ? "an ablation" : "a run, no ablation" }
    if sharesCells != other.sharesCells { return "shards of another kind" }
    let (own, others) = (cells, other.cells)
    if let more = own.first(where: { !Set(others).contains($0) }) { return "also \(more)" }
    if let less = others.first(where: { !Set(own).contains($0) }) { return "no \(less)" }
    return self == other ? nil : "the cells in another order, or with other countings"
  }

  private var cells: [CellKey] {
    scenarios.flatMap { cells in cells.arms.map { CellKey(cells.scenario, $0) } }
  }
}
