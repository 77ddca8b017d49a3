/// The report for a pull request.
package struct GateMarkdown {
  private let report: GateReport

  package init(_ report: GateReport) { self.report = report }

  /// The mark by which a later run finds the comment of an earlier run.
  package static let marker = "<!-- opbench gate -->"

  package var text: String {
    var lines = [
      Self.marker, "### \(Self.sign(report.verdict)) Gate: \(Self.escaped(report.headline))", "",
      report.base.map { "`\(report.head)` against `\($0)`, \(Progress.duration(report.seconds))." }
        ?? "`\(report.head)`, \(Progress.duration(report.seconds)).", "",
    ]
    let moved = report.findings.filter { $0.verdict != .pass }
    if !moved.isEmpty { lines += table(moved) + [""] }
    let still = report.findings.filter { $0.verdict == .pass }
    if !still.isEmpty {
      lines += ["<details><summary>\(still.count) measures did not move</summary>", ""] + table(still)
      lines += ["", "</details>", ""]
    }
    lines += report.notes.map { "* \(Self.escaped($0))" }
    if !report.notes.isEmpty { lines.append("") }
    lines.append(
      "Measured on \(report.provenance.cpus) CPUs of \(Self.escaped(report.provenance.cpu)); "
        + "\(GateFinding.percent(report.stealShare)) % of CPU time went to other guests.")
    return lines.joined(separator: "\n") + "\n"
  }

  private func table(_ findings: [GateFinding]) -> [String] {
    ["| | benchmark | metric | base -> head | change | threshold | how sure |", "|---|---|---|--:|--:|--:|---|"]
      + findings.map { finding in
        let cells = [
          Self.sign(finding.verdict), "`\(finding.name)@\(finding.workers)`", finding.metric, finding.numbers,
          finding.change, finding.thresholdText, finding.certainty + (finding.reason.map { "; \($0)" } ?? ""),
        ]
        return "| " + cells.map(Self.escaped).joined(separator: " | ") + " |"
      }
  }

  static func sign(_ verdict: GateVerdict) -> String {
    switch verdict {
    case .pass: "✅"
    case .regression: "❌"
    case .inconclusive: "❔"
    case .improvement: "🎉"
    }
  }

  /// Escapes the characters that would end a cell or begin a tag.
  static func escaped(_ text: String) -> String {
    text.map { character in
      switch character {
      case "|": "\\|"
      case "<": "&lt;"
      case "\n", "\r\n": " "
      default: String(character)
      }
    }.joined()
  }
}
