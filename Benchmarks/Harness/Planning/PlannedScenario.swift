import HarnessMeasuring
import HarnessWords

/// A scenario with the arms that can run it.
package struct PlannedScenario: Sendable {
  package let scenario: Scenario
  package let arms: [Arm]
  /// The arms of the run that cannot run the scenario. Their cells stay empty.
  package let incapable: [Arm]
  package let repeats: RepeatPolicy
  /// The metrics that the table shows. The CSV has all metrics.
  package let headlines: [Metric]
  package let countsAllocations: Bool
  /// The arms whose allocations cannot be counted.
  package let uncounted: [Arm]
  package let notes: [String]
  /// After how many seconds a process counts as hung, when a better limit is known than the estimate's.
  package let timeLimit: Double?
  /// The least time, in nanoseconds, that a process of the scenario works before its first value. A quick run ignores
  /// this minimum.
  package let leadIn: UInt64

  package init(
    scenario: Scenario, arms: [Arm], incapable: [Arm], repeats: RepeatPolicy, headlines: [Metric],
    countsAllocations: Bool, uncounted: [Arm] = [], notes: [String], timeLimit: Double? = nil,
    leadIn: UInt64 = 0
  ) {
    (self.scenario, self.arms, self.incapable) = (scenario, arms, incapable)
    (self.repeats, self.headlines, self.countsAllocations) = (repeats, headlines, countsAllocations)
    (self.uncounted, self.notes, self.timeLimit) = (uncounted, notes, timeLimit)
    self.leadIn = leadIn
  }

  /// A copy of the scenario whose allocations are not counted.
  package var withoutCounting: PlannedScenario {
    PlannedScenario(
      scenario: scenario, arms: arms, incapable: incapable, repeats: repeats, headlines: headlines,
      countsAllocations: false, notes: notes, timeLimit: timeLimit, leadIn: leadIn)
  }

  package var cells: [CellKey] { arms.map { CellKey(scenario, $0) } }
}
