/// A cell: what one process measures.
package struct CellKey: Hashable, Sendable, CustomStringConvertible {
  package let scenario: Scenario
  package let arm: Arm

  package init(_ scenario: Scenario, _ arm: Arm) {
    self.scenario = scenario
    self.arm = arm
  }

  package var description: String {
    scenario.parameters.isEmpty ? "\(scenario.name) on \(arm)" : "\(scenario.name) on \(arm) (\(scenario.parameters))"
  }
}
