/// A scenario in one block. When the machine was disturbed during the block, the scenario is excluded with all its
/// arms.
package struct ScenarioBlock: Hashable, Sendable {
  package let scenario: Scenario
  package let block: Int

  package init(_ scenario: Scenario, block: Int) {
    self.scenario = scenario
    self.block = block
  }
}
