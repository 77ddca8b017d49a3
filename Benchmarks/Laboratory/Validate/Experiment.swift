import HarnessPlanning
import HarnessWords

/// What `validate` measures in a suite: one subject under several names, with known delays in front of its operations.
package struct Experiment: Sendable {
  /// Benchmarks in which a delay of every operation delays the whole by the same time.
  package let scenarios: [Scenario]
  /// The subject that is measured under every name.
  package let control: Arm
  /// What the control is, for the report.
  package let controlSummary: String
  /// The environment in which every operation of the control takes `rounds` rounds of `Delay` longer.
  package let delay: @Sendable (_ rounds: Int) -> [String: String]
  /// Benchmarks that do nothing but count. Such benchmarks show the cost of the measuring loop itself.
  package let bare: [CellKey]
  /// The scenarios of a run in whose cells the time must not depend on the number of repeats.
  package let repeated: @Sendable () throws -> [PlannedScenario]

  package init(
    scenarios: [Scenario], control: Arm, controlSummary: String, bare: [CellKey],
    repeated: @escaping @Sendable () throws -> [PlannedScenario],
    delay: @escaping @Sendable (_ rounds: Int) -> [String: String]
  ) {
    (self.scenarios, self.control, self.controlSummary) = (scenarios, control, controlSummary)
    (self.bare, self.repeated, self.delay) = (bare, repeated, delay)
  }
}
