import HarnessResults
import HarnessStatistics
import HarnessWords

/// The ratios of the changes of a default to that default, by family of benchmarks and by line: what is judged
/// together.
package struct AblationRatios: Sendable {
  struct OfFamily: Sendable {
    let change: Arm
    /// Nil for all families together.
    let family: String?
    let series: [RatioSeries]
  }

  struct OfLine: Sendable {
    let change: Arm
    /// The place among the lines of the results.
    let line: Int
    let series: RatioSeries
  }

  package let base: Arm
  /// Those with a ratio, in the order in which they were given.
  package let changes: [Arm]
  /// The places of the lines that have a ratio, and their families.
  let lines: [Int]
  package let families: [String]
  /// The families, with the whole in front where there are several: nil.
  let columns: [String?]
  let ofFamilies: [OfFamily]
  let ofLines: [OfLine]

  package init(_ results: ResultTable, base: Arm, changes: [Arm]) {
    let primary = results.lines.indices.filter { results.isPrimary(results.lines[$0]) }
    let ofLines = changes.flatMap { change in
      primary.compactMap { line in
        results.lines[line].series(change, base).map { OfLine(change: change, line: line, series: $0) }
      }
    }
    let measured = Set(ofLines.map(\.line))
    let lines = primary.filter(measured.contains)
    let families = lines.map { results.lines[$0].family }.reduce(into: [String]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    let columns = (families.count > 1 ? [nil] : []) + families.map(Optional.some)
    (self.base, self.lines, self.families, self.columns, self.ofLines) = (base, lines, families, columns, ofLines)
    self.changes = changes.filter { change in ofLines.contains { $0.change == change } }
    ofFamilies = self.changes.flatMap { change in
      columns.compactMap { family in
        let own = ofLines.filter {
          $0.change == change && (family == nil || results.lines[$0.line].family == family)
        }
        return own.isEmpty ? nil : OfFamily(change: change, family: family, series: own.map(\.series).deciding)
      }
    }
  }

  /// - Parameter arms: the default first.
  package init(_ results: ResultTable, _ arms: [Arm]) {
    self.init(results, base: arms[0], changes: Array(arms.dropFirst()))
  }

  /// The numbers of ratios that have an interval.
  package var comparisonsOfFamilies: Int { ofFamilies.count { $0.series.allSatisfy(\.hasInterval) } }
  var comparisonsOfLines: Int { ofLines.count { $0.series.hasInterval } }
}

/// What each change is worth: its times over those of the default, for each family of benchmarks and for all together.
/// The intervals are widened so that all that are read together hold together at 95 % (`Widening`).
package struct AblationTable: Sendable {
  package let ratios: AblationRatios
  /// The number of comparisons for which the intervals are widened.
  package let comparisons: Int
  let cells: [(of: AblationRatios.OfFamily, worth: Worth)]

  package var base: Arm { ratios.base }
  package var changes: [Arm] { ratios.changes }
  package var families: [String] { ratios.families }

  /// - Parameter widening: for the comparisons of several tables; nil: for those of this one.
  package init(_ ratios: AblationRatios, _ widening: Widening? = nil, seed: UInt64) {
    let widening = widening ?? Widening(comparisons: ratios.comparisonsOfFamilies)
    (self.ratios, comparisons) = (ratios, widening.comparisons)
    cells = ratios.ofFamilies.compactMap { own in Worth(own.series, widening, seed: seed).map { (own, $0) } }
  }

  /// Nil where the change was not measured.
  package func cell(_ change: Arm, family: String?) -> Worth? {
    cells.first { $0.of.change == change && $0.of.family == family }?.worth
  }

  /// The changes that are surely better in some family and surely worse in none, the best on the whole first.
  package var helpful: [Arm] {
    changes.filter { change in
      let verdicts = families.compactMap { cell(change, family: $0)?.verdict }
      return verdicts.contains(.less) && !verdicts.contains(.more)
    }.sorted { ratio($0) < ratio($1) }
  }

  private func ratio(_ change: Arm) -> Double { cell(change, family: ratios.columns.first ?? nil)?.ratio ?? .infinity }
}
