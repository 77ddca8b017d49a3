import Harness

/// What `validate` measures of a suite: one subject under several names, with known delays in front of its operations.
package struct Experiment: Sendable {
  /// Benchmarks in which a delay of every operation is a delay of the whole.
  package let scenarios: [Scenario]
  /// The subject that stands behind every name.
  package let control: Arm
  /// What it is, for the report.
  package let controlSummary: String
  /// The environment in which every operation of the control spins `rounds` rounds longer.
  package let delay: @Sendable (_ rounds: Int) -> [String: String]
  /// Benchmarks that do nothing but count: they show what the measuring loop itself costs.
  package let bare: [CellKey]

  package init(
    scenarios: [Scenario], control: Arm, controlSummary: String, bare: [CellKey],
    delay: @escaping @Sendable (_ rounds: Int) -> [String: String]
  ) {
    self.scenarios = scenarios
    self.control = control
    self.controlSummary = controlSummary
    self.bare = bare
    self.delay = delay
  }
}
