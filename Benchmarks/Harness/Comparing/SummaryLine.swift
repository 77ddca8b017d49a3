/// One line of the table: a metric of a scenario, over all arms.
package struct SummaryLine: Sendable {
  package let scenario: Scenario
  /// The scenario's parameters and the metric's own, such as a level.
  package let parameters: Parameters
  package let metric: Metric
  package let cells: [Arm: SummaryCell]
}
