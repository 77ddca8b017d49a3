import HarnessMeasuring
import HarnessWords

/// The variants of benchmarks (larger sizes and other shapes) that a run leaves out, how long the run would take with
/// them, and the flag that runs them too.
package struct LeftOut: Sendable {
  package let scenarios: [Scenario]
  /// How long the run would take with the variants, by the estimate.
  package let seconds: Double

  /// Nil when nothing is left out.
  package init?(_ scenarios: [Scenario], seconds: Double) {
    guard !scenarios.isEmpty else { return nil }
    self.scenarios = scenarios
    self.seconds = seconds
  }

  package static let option = "--variants"

  /// A sentence such as "3 variants left out (dependencies/fan-out 3); --variants runs them too, about 12m 3s in all".
  package var text: String {
    let count = scenarios.count
    return "\(count) \(count == 1 ? "variant" : "variants") left out (\(benchmarks)); "
      + "\(Self.option) runs them too, about \(Progress.duration(seconds)) in all"
  }

  /// The number of variants by benchmark when there are few benchmarks, else by family.
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
