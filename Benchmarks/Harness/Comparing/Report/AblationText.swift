import HarnessPlanning
import HarnessStatistics
import HarnessWords

/// The text at the end of an ablation: a line for each change, a column for each family, and the differences that are
/// sure.
package struct AblationText {
  private let table: AblationTable

  package init(_ table: AblationTable) { self.table = table }

  private static func mark(_ worth: Worth) -> String {
    switch worth.verdict {
    case .less, .more: "*"
    case .same: "="
    case .open: worth.isNoBetter ? "-" : " "
    }
  }

  /// The part of an arm's name that differs from the default's: `own=lifo` of `stealing(own=lifo)`.
  private func words(_ change: Arm) -> String {
    guard let opening = change.subject.firstIndex(of: "("), change.subject.hasSuffix(")") else { return change.subject }
    return String(change.subject[change.subject.index(after: opening)...].dropLast())
  }

  package func text(width: Int) -> String {
    guard !table.changes.isEmpty else { return "no change has a number beside \(table.base)\n" }
    let columns = (table.families.count > 1 ? [nil] : []) + table.families.map(Optional.some)
    let head = ["\(table.base) against"] + columns.map { $0 ?? "all" }
    let rows = table.changes.map { change in
      [words(change)]
        + columns.map { family in
          table.cell(change, family: family).map {
            "\(NumberFormat.ratio($0.ratio, nil))\(Self.mark($0))"
          } ?? "-"
        }
    }
    var lines = Table.aligned([head] + rows)
    let sure = table.changes.compactMap(sureWords)
    lines += [""] + (sure.isEmpty ? ["no difference is sure"] : ["what is sure:"])
    lines += sure.flatMap { WrappedText.lines($0, width: width, indent: 2, hanging: 6) }
    let blocks = table.changes.flatMap { change in columns.compactMap { table.cell(change, family: $0)?.blocks } }
    let legend =
      "x: time over that of \(table.base), paired by block, the geometric mean over the benchmarks of a family. * surely "
      + "better or worse, = the same within \(Goal.percent(Worth.margin)), - surely no better by more than that: all "
      + "\(table.comparisons) intervals together hold at 95 %. From \(blocks.min() ?? 0) to "
      + "\(Count.of(blocks.max() ?? 0, "block"))."
    return (lines + [""] + WrappedText.lines(legend, width: width)).joined(separator: "\n") + "\n"
  }

  private func sureWords(_ change: Arm) -> String? {
    let parts = table.families.compactMap { family -> String? in
      guard let cell = table.cell(change, family: family), [.less, .more].contains(cell.verdict) else { return nil }
      return "\(family) \(NumberFormat.ratio(cell.ratio, cell.interval))"
    }
    return parts.isEmpty ? nil : "\(words(change)): \(parts.joined(separator: ", "))"
  }
}
