/// One side of a comparison: a program, and the additions to its environment.
package struct GateArm: Hashable, Sendable {
  package let name: String
  package let program: String
  package let environment: [String: String]

  package init(_ name: String, program: String, environment: [String: String] = [:]) {
    (self.name, self.program, self.environment) = (name, program, environment)
  }

  package func named(_ name: String) -> GateArm { GateArm(name, program: program, environment: environment) }
}
