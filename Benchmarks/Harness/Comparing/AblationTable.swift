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
    let mean: TrimmedMean
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
        }.deciding
        return TrimmedMean(own.map(\.series), lines: own.map(\.line)).map {
          OfFamily(change: change, family: family, mean: $0)
        }
      }
    }
  }

  /// - Parameter arms: the default first.
  package init(_ results: ResultTable, _ arms: [Arm]) {
    self.init(results, base: arms[0], changes: Array(arms.dropFirst()))
  }

  /// The number of means that have an interval.
  package var comparisonsOfFamilies: Int { ofFamilies.count(where: \.mean.hasInterval) }
}

extension RatioSeries {
  /// Whether there are the six blocks that an interval needs.
  var hasInterval: Bool { SignedRank.coverage(logarithms.count) != nil }
}

extension [AblationRatios.OfLine] {
  /// Without the series that have no interval, where others have one: fewer blocks decide nothing.
  fileprivate var deciding: [AblationRatios.OfLine] {
    let enough = filter(\.series.hasInterval)
    return enough.isEmpty ? self : enough
  }
}

extension [AblationRatios] {
  /// The confidence of each mean over a family, so that all of these tables hold together at 95 % (`Together`).
  func confidenceOfFamilies(seed: UInt64) -> Double {
    Together.confidence(of: map { $0.ofFamilies.map(\.mean) }, seed: seed)
  }

  /// What each change is worth on each line, with the confidence of each: at most 5 % of the verdicts that are not
  /// open are expected to be wrong (`Discoveries`).
  func ofLines() -> (worths: [[(of: AblationRatios.OfLine, worth: Worth)]], comparisons: Int, confidence: Double) {
    func worths(_ confidence: Double) -> [[(of: AblationRatios.OfLine, worth: Worth)]] {
      map { $0.ofLines.compactMap { own in Worth(own.series, confidence: confidence).map { (own, $0) } } }
    }
    let comparisons = reduce(0) { $0 + $1.ofLines.count(where: \.series.hasInterval) }
    let confidence = Discoveries.confidence(of: comparisons) { confidence in
      worths(confidence).reduce(0) { $0 + $1.count { $0.worth.verdict != .open } }
    }
    return (worths(confidence), comparisons, confidence)
  }
}

/// What each change is worth: its times over those of the default, for each family of benchmarks and for all together.
/// The intervals hold together at 95 % (`Together`).
package struct AblationTable: Sendable {
  package let ratios: AblationRatios
  /// The number of intervals.
  package let comparisons: Int
  let cells: [(of: AblationRatios.OfFamily, worth: Worth)]

  package var base: Arm { ratios.base }
  package var changes: [Arm] { ratios.changes }
  package var families: [String] { ratios.families }

  /// - Parameter confidence: of each interval; nil: so that those of this table hold together.
  package init(_ ratios: AblationRatios, confidence: Double? = nil, seed: UInt64) {
    let confidence = confidence ?? [ratios].confidenceOfFamilies(seed: seed)
    (self.ratios, comparisons) = (ratios, ratios.comparisonsOfFamilies)
    cells = ratios.ofFamilies.map { ($0, Worth($0.mean, confidence: confidence)) }
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

  /// All families together; the family where there is one.
  package func whole(_ change: Arm) -> Worth? { cell(change, family: ratios.columns.first ?? nil) }

  private func ratio(_ change: Arm) -> Double { whole(change)?.ratio ?? .infinity }
}
