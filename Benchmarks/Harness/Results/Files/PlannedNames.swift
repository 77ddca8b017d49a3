import HarnessWords

/// The scenarios of a plan, by the names in its record. The parameters of a row are those of its scenario, and perhaps its
/// reading's as well. So a row may have all parameters of two scenarios of one benchmark: `words=10` and `words=10;kind=a`.
struct PlannedNames {
  private var parameters: [String: Set<Parameters>] = [:]

  /// - Parameter cells: cells as a record has them, such as `family/benchmark on subject@2 (words=10)`.
  init(_ cells: [String]) {
    for cell in cells {
      guard let end = cell.firstRange(of: " on ") else { continue }
      let rest = cell[end.upperBound...]
      // The name of a subject has no space.
      let text = rest.firstRange(of: " (").map { rest[$0.upperBound...].dropLast() } ?? ""
      if let found = Parameters(String(text)) { parameters[String(cell[..<end.lowerBound]), default: []].insert(found) }
    }
  }

  /// Whether a row is of the scenario with those parameters: no planned scenario with more parameters fits the row.
  /// - Parameter row: the benchmark of the row, with all parameters of the row.
  func owns(_ scenario: String, _ row: Scenario) -> Bool {
    guard let own = Parameters(scenario), row.parameters.contains(scenario) else { return false }
    let others = parameters["\(row.name)"] ?? []
    return !others.contains { $0 != own && $0.contains(scenario) && row.parameters.contains("\($0)") }
  }
}
