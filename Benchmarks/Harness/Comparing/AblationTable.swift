import HarnessStatistics
import HarnessWords

/// What each change is worth: its times over those of the default, for each family of benchmarks and for all together. The
/// intervals are widened so that all of the table hold together at 95 % (`Widening`).
package struct AblationTable: Sendable {
  package let base: Arm
  /// In the order of the plan.
  package let changes: [Arm]
  package let families: [String]
  /// The number of comparisons for which the intervals are widened.
  package let comparisons: Int
  private let cells: [Key: Worth]

  private struct Key: Hashable {
    let change: Arm
    /// Nil for all families together.
    let family: String?
  }

  /// - Parameter arms: the default first.
  package init(_ results: ResultTable, arms: [Arm], seed: UInt64) {
    let base = arms[0]
    self.base = base
    let lines = results.primaryLines
    let families = lines.map(\.family).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    self.families = families
    var series: [(key: Key, series: [RatioSeries])] = []
    for change in arms.dropFirst() {
      for family in (families.count > 1 ? [nil] : []) + families.map(Optional.some) {
        let own = lines.filter { family == nil || $0.family == family }.compactMap { $0.series(change, base) }
        if !own.isEmpty { series.append((Key(change: change, family: family), own.deciding)) }
      }
    }
    let widening = Widening(comparisons: series.count { $0.series.allSatisfy(\.hasInterval) })
    comparisons = widening.comparisons
    cells = Dictionary(
      uniqueKeysWithValues: series.compactMap { own in
        Worth(own.series, widening, seed: seed).map { (own.key, $0) }
      })
    changes = arms.dropFirst().filter { change in series.contains { $0.key.change == change } }
  }

  /// Nil where the change was not measured.
  package func cell(_ change: Arm, family: String?) -> Worth? { cells[Key(change: change, family: family)] }

  /// The changes that are surely better in some family and surely worse in none, the best on the whole first.
  package var helpful: [Arm] {
    changes.filter { change in
      let verdicts = families.compactMap { cell(change, family: $0)?.verdict }
      return verdicts.contains(.less) && !verdicts.contains(.more)
    }.sorted { ratio($0) < ratio($1) }
  }

  private func ratio(_ change: Arm) -> Double {
    cell(change, family: families.count > 1 ? nil : families.first)?.ratio ?? .infinity
  }
}
