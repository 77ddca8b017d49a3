/// The variants of benchmarks, larger sizes and other shapes, that a run does without: which, what they would take, and
/// how to have them.
package struct LeftOut: Sendable {
  package let scenarios: [Scenario]
  /// What the run would take with them, by the estimate.
  package let seconds: Double

  /// Nil when nothing is left out.
  package init?(_ scenarios: [Scenario], seconds: Double) {
    guard !scenarios.isEmpty else { return nil }
    self.scenarios = scenarios
    self.seconds = seconds
  }

  package static let option = "--variants"

  /// Such as "3 variants left out (dependencies/fan-out 3); --variants runs them too, about 12m 3s in all".
  package var text: String {
    let count = scenarios.count
    return "\(count) \(count == 1 ? "variant" : "variants") left out (\(benchmarks)); "
      + "\(Self.option) runs them too, about \(Progress.duration(seconds)) in all"
  }

  /// By benchmark where these are few, else by family.
  private var benchmarks: String {
    let names = counted(scenarios.map { "\($0.name)" })
    return (names.count <= 4 ? names : counted(scenarios.map(\.name.family))).map { "\($0.name) \($0.count)" }
      .joined(separator: ", ")
  }

  private func counted(_ names: [String]) -> [(name: String, count: Int)] {
    names.reduce(into: []) { counts, name in
      if let index = counts.firstIndex(where: { $0.name == name }) {
        counts[index].count += 1
      } else {
        counts.append((name, 1))
      }
    }
  }
}
