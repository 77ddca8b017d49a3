import HarnessMeasuring
import HarnessWords

/// The report for a pull request.
package struct GateMarkdown {
  private let report: GateReport

  package init(_ report: GateReport) { self.report = report }

  /// The mark by which a later run finds the comment of an earlier run.
  package static let marker = "<!-- opbench gate -->"

  package var text: String {
    var lines = [
      Self.marker, "### \(Self.sign(report.verdict)) Gate: \(Markdown.escaped(report.headline))", "",
      "\(Markdown.code(report.head))\(report.base.map { " against \(Markdown.code($0))" } ?? ""), "
        + "\(Progress.duration(report.seconds)).", "",
    ]
    // What is surely worse within its threshold passes, and a reviewer still wants to see it.
    let moved = report.findings.filter { $0.verdict != .pass || $0.moved == .worse }
    if !moved.isEmpty { lines += table(moved) + [""] }
    let still = report.findings.filter { $0.verdict == .pass && $0.moved != .worse }
    if !still.isEmpty {
      lines += ["<details><summary>\(Count.of(still.count, "measure")) did not move</summary>", ""] + table(still)
      lines += ["", "</details>", ""]
    }
    lines += report.notes.map { "* \(Markdown.escaped($0))" }
    if !report.notes.isEmpty { lines.append("") }
    lines.append(
      "Measured on \(Count.of(report.provenance.cpus, "CPU")) of \(Markdown.escaped(report.provenance.cpu)); "
        + "\(GateFinding.percent(report.stealShare)) % of CPU time went to other guests.")
    return lines.joined(separator: "\n") + "\n"
  }

  private func table(_ findings: [GateFinding]) -> [String] {
    ["| | benchmark | metric | base -> head | change | threshold | how sure |", "|---|---|---|--:|--:|--:|---|"]
      + findings.map { finding in
        Markdown.row([
          Self.sign(finding.verdict), Markdown.code(finding.label), finding.metric,
          finding.numbers, finding.change, finding.thresholdText,
          finding.certainty + (finding.reason.map { "; \($0)" } ?? ""),
        ])
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
}
