import HarnessWords

/// A table of a check: what was expected, what came out, and whether the two agree.
package struct CheckTable {
  package let title: String
  /// What is compared, under which conditions.
  package let words: String
  let columns: [String]
  var rows: [[String]] = []
  /// The rows that do not hold.
  package var failures: [String] = []

  init(_ title: String, words: String, columns: [String]) {
    (self.title, self.words, self.columns) = (title, words, columns)
  }

  mutating func add(_ row: [String], holds: Bool) {
    rows.append(row + [holds ? "yes" : "NO"])
    if !holds { failures.append("\(title): \(row.joined(separator: " "))") }
  }

  package func text(width: Int = 100) -> String {
    let all = [columns + ["holds"]] + rows
    let widths = all[0].indices.map { column in all.map { TextWidth.of($0[column]) }.max() ?? 0 }
    let lines = all.map { row in
      "  "
        + zip(row, widths).enumerated().map { index, cell in
          let space = String(repeating: " ", count: cell.1 - TextWidth.of(cell.0))
          return index == 0 ? cell.0 + space : space + cell.0
        }.joined(separator: "  ")
    }
    return ([title] + WrappedText.lines(words, width: width, indent: 2, hanging: 2) + lines).joined(separator: "\n")
      + "\n"
  }
}
