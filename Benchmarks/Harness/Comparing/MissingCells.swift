import HarnessResults
import HarnessWords

/// The cells that a comparison does not show, a line each with the reason.
struct MissingCells {
  private(set) var lines: [String] = []
  /// The failures that a line has named, by result.
  private var named: Set<String> = []

  /// The failures of one result.
  init(_ set: ResultSet) { addFailures(of: [set]) }

  /// The cells of two results of which one lacks a number.
  /// - Parameters:
  ///   - onlyBefore: the numbers that the later result lacks: the cell, and the metrics in question.
  ///   - onlyAfter: the numbers that the earlier result lacks.
  ///   - unpaired: the cells of which both results have a number, and no pair of them.
  init(
    before: ResultSet, after: ResultSet, onlyBefore: [CellKey: Set<String>], onlyAfter: [CellKey: Set<String>],
    unpaired: [CellKey: Set<String>]
  ) {
    for (cells, set, other) in [(onlyBefore, before, after), (onlyAfter, after, before)] {
      for (cell, metrics) in cells.sorted(by: { "\($0.key)" < "\($1.key)" }) {
        lines.append(line(cell, metrics, of: set, missingIn: other))
      }
    }
    for (cell, metrics) in unpaired.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      let names = metrics.sorted().joined(separator: ", ")
      lines.append("\(cell): \(names) has no pair of numbers above 0 in the same block")
    }
    addFailures(of: [before, after])
  }

  private mutating func line(
    _ cell: CellKey, _ metrics: Set<String>, of set: ResultSet, missingIn other: ResultSet
  ) -> String {
    if let failure = other.failure(of: cell) {
      named.insert(Self.identity(failure, in: other))
      return Self.line(failure, in: other)
    }
    if other.uncountedCells.contains(cell) { return "\(cell): no block of it counts in \(other.name)" }
    guard other.rows.contains(where: { $0.cell == cell }) else { return "\(cell) is only in \(set.name)" }
    return "\(cell): \(metrics.sorted().joined(separator: ", ")) is only in \(set.name)"
  }

  private mutating func addFailures(of sets: [ResultSet]) {
    for set in sets {
      for failure in set.failures where named.insert(Self.identity(failure, in: set)).inserted {
        lines.append(Self.line(failure, in: set))
      }
    }
  }

  private static func identity(_ failure: RunOutcome.FailedCell, in set: ResultSet) -> String {
    "\(set.name)\n\(name(failure))"
  }

  private static func name(_ failure: RunOutcome.FailedCell) -> String {
    let parameters = failure.params.isEmpty ? "" : " (\(failure.params))"
    return "\(failure.benchmark) on \(failure.backend)@\(failure.workers)\(parameters)"
  }

  private static func line(_ failure: RunOutcome.FailedCell, in set: ResultSet) -> String {
    "\(name(failure)) failed in \(set.name): \(failure.reason)"
  }
}
