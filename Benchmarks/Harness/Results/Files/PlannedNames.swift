import HarnessWords

/// The scenarios of a plan, by their benchmarks. The parameters of a row are those of its scenario, and perhaps its
/// reading's as well. So a row may have all parameters of two scenarios of one benchmark: `words=10` and
/// `words=10;kind=a`.
struct PlannedNames {
  private var parameters: [BenchmarkName: Set<Parameters>] = [:]

  init(_ cells: [CellKey]) {
    for cell in cells { parameters[cell.scenario.name, default: []].insert(cell.scenario.parameters) }
  }

  /// Whether a row is of the scenario with those parameters: no planned scenario with more parameters fits the row.
  /// - Parameter row: the benchmark of the row, with all parameters of the row.
  func owns(_ scenario: String, _ row: Scenario) -> Bool {
    guard let own = Parameters(scenario), row.parameters.contains(scenario) else { return false }
    let others = parameters[row.name] ?? []
    return !others.contains { $0 != own && $0.contains(scenario) && row.parameters.contains("\($0)") }
  }
}
