/// A scenario with the arms that can run it.
package struct PlannedScenario: Sendable {
  package let scenario: Scenario
  package let arms: [Arm]
  /// Arms of the run that have no such thing: their cells stay empty.
  package let incapable: [Arm]
  package let repeats: RepeatPolicy
  /// The metrics the table shows; the CSV has all.
  package let headlines: [Metric]
  package let countsAllocations: Bool
  /// Arms whose allocations nobody can count.
  package let uncounted: [Arm]
  package let notes: [String]
  /// After how many seconds a process counts as hung, where that is known better than from the estimate.
  package let timeLimit: Double?
  /// What a process of it works at least before its first value, in nanoseconds; a quick run does not wait for that.
  package let leadIn: UInt64

  package init(
    scenario: Scenario, arms: [Arm], incapable: [Arm], repeats: RepeatPolicy, headlines: [Metric],
    countsAllocations: Bool, uncounted: [Arm] = [], notes: [String], timeLimit: Double? = nil,
    leadIn: UInt64 = 0
  ) {
    self.scenario = scenario
    self.arms = arms
    self.incapable = incapable
    self.repeats = repeats
    self.headlines = headlines
    self.countsAllocations = countsAllocations
    self.uncounted = uncounted
    self.notes = notes
    self.timeLimit = timeLimit
    self.leadIn = leadIn
  }

  package var cells: [CellKey] { arms.map { CellKey(scenario, $0) } }
}
