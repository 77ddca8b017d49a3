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

extension CellKey: Codable {
  private enum CodingKeys: CodingKey { case benchmark, params, backend, workers }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    guard let name = BenchmarkName(try fields.decode(String.self, forKey: .benchmark)) else {
      throw DecodingError.dataCorruptedError(
        forKey: .benchmark, in: fields, debugDescription: "a benchmark is called family/benchmark")
    }
    guard let parameters = Parameters(try fields.decode(String.self, forKey: .params)) else {
      throw DecodingError.dataCorruptedError(
        forKey: .params, in: fields, debugDescription: "parameters are key=value;key=value")
    }
    self.init(
      Scenario(name, parameters),
      Arm(
        subject: try fields.decode(String.self, forKey: .backend),
        workers: try fields.decode(Int.self, forKey: .workers)))
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode("\(scenario.name)", forKey: .benchmark)
    try fields.encode("\(scenario.parameters)", forKey: .params)
    try fields.encode(arm.subject, forKey: .backend)
    try fields.encode(arm.workers, forKey: .workers)
  }
}
