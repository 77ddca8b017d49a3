/// A benchmark with its parameters: what the subjects are compared on, and what is calibrated once for all of them.
package struct Scenario: Hashable, Sendable, CustomStringConvertible {
  package let name: BenchmarkName
  package let parameters: Parameters

  package init(_ name: BenchmarkName, _ parameters: Parameters) {
    self.name = name
    self.parameters = parameters
  }

  package var description: String { parameters.isEmpty ? "\(name)" : "\(name) \(parameters)" }
}
