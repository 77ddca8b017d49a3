import HarnessWords

/// A whole gate: what the tiers find, from the first process to the last. Only the runner and the count of
/// instructions start processes, so tests run a gate without any process.
package struct GateTiers {
  /// What the gate compares head and base against, and with what tools.
  package struct Resources: Sendable {
    package var tiers: Set<GatedMetric.Tier> = Set(GatedMetric.Tier.allCases)
    package var thresholds = GateThresholds()
    package var record: AllocationRecord?
    /// The record of the base; nil when the gate has none. A change may bring a record that allows more.
    package var baseRecord: AllocationRecord?
    /// How the head was built. The record has entries for each kind of build.
    package var build = "release"
    /// The subject whose record and thresholds hold for the subject that is measured; nil: the measured subject's own.
    package var recordedSubject: String?
    /// The additions to the environment of the counting processes; nil when allocations cannot be counted.
    package var countingEnvironment: [String: String]?

    package init() {}

    /// The cell's name in the committed files.
    func recorded(_ cell: CellKey) -> CellKey {
      CellKey(cell.scenario, Arm(subject: recordedSubject ?? cell.arm.subject, workers: cell.arm.workers))
    }

    /// The calibrated threshold of a measure; nil when there is none.
    func threshold(_ cell: CellKey, _ metric: GatedMetric) -> Double? {
      thresholds.entry(recorded(cell), metric.metric)?.threshold
    }
  }

  private let cells: [GatedCell]
  private let resources: Resources
  private let hasBase: Bool
  private var runner: GateRunner
  /// The instructions of one measuring process; nil when instructions cannot be counted.
  private let instructions: InstructionTier.Counter?
  private var found = GateFindings()

  package init(
    _ cells: [GatedCell], _ resources: Resources, runner: GateRunner, hasBase: Bool,
    instructions: InstructionTier.Counter? = nil
  ) {
    (self.cells, self.resources, self.runner) = (cells, resources, runner)
    (self.hasBase, self.instructions) = (hasBase, instructions)
  }

  package var notes: [String] { found.notes }

  /// Throws one line when the base is not a program that the gate can compare with.
  package mutating func run() throws -> [GateFinding] {
    if resources.tiers.contains(.deterministic) { CountingTier(cells, resources).run(&runner, &found) }
    if hasBase {
      if resources.tiers.contains(.steady) {
        InstructionTier(cells, resources, instructions).run(runner, &found)
      }
      try BlockTiers(cells, resources).run(&runner, &found)
    }
    return found.findings
  }
}
