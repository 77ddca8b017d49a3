import HarnessWords

/// What `opbench list` prints: names, in few lines.
package struct ListingOverview {
  private let listing: Listing

  package init(_ listing: Listing) { self.listing = listing }

  package func text(width: Int) -> String {
    var lines = ["subjects, for --backend"]
    lines += Self.rows(listing.subjects.map { ($0.name, $0.facts.line) }, width: width)
    lines += ["", "benchmarks by family, for --benchmark"]
    lines += Self.rows(
      listing.families.map { family in
        (family.name, family.benchmarks.map(\.workload.name.benchmark).joined(separator: ", "))
      }, width: width)
    let more = [
      ("opbench list overhead", "parameters, metrics and empty cells of a family, a benchmark or an expression"),
      ("opbench list stealing", "what a subject can do"),
      ("opbench list --json", "all of it, for programs"),
    ]
    return (lines + ["", "to see more:"] + Self.rows(more, width: width)).joined(separator: "\n") + "\n"
  }

  static func rows(_ rows: [(name: String, text: String)], width: Int) -> [String] {
    let longest = rows.map { TextWidth.of($0.name) }.max() ?? 0
    return rows.flatMap { name, text in
      WrappedText.lines(
        "\(TextWidth.padded(name, to: longest))  \(text)", width: width, indent: 2, hanging: longest + 4)
    }
  }
}
