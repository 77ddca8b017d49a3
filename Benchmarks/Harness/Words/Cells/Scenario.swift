/// A benchmark with its parameters. The subjects are compared on a scenario, and an open loop has one pace per
/// scenario.
package struct Scenario: Hashable, Sendable, CustomStringConvertible {
  package let name: BenchmarkName
  package let parameters: Parameters

  package init(_ name: BenchmarkName, _ parameters: Parameters) {
    self.name = name
    self.parameters = parameters
  }

  package var description: String { parameters.isEmpty ? "\(name)" : "\(name) \(parameters)" }
}
