import HarnessComparing
import HarnessMeasuring

/// The report in the form for the terminal.
package struct GateText {
  private let report: GateReport

  package init(_ report: GateReport) { self.report = report }

  package var text: String {
    var lines = [report.base.map { "gate: \(report.head) against \($0)" } ?? "gate: \(report.head)"]
    for tier in GatedMetric.Tier.allCases {
      let all = report.findings.filter { $0.tier == tier.rawValue }
      guard !all.isEmpty else { continue }
      let hasRecord = all.contains(where: \.isAgainstRecord)
      // A command has no record; it only has to run.
      lines += [
        "",
        all.allSatisfy { $0.workers == nil } && tier == .deterministic
          ? "tier 0, checks" : Self.title(tier, hasRecord: hasRecord),
      ]
      // Deterministic findings are the same every time, so a reader need not see the findings that pass.
      let findings = tier == .deterministic ? all.filter { $0.verdict != .pass } : all
      if findings.count < all.count {
        let passed = "  \(all.count - findings.count) of \(all.count) checks"
        lines.append(
          hasRecord ? "\(passed) and counts as recorded" : "\(passed) passed; counts have no record to compare with")
      }
      guard !findings.isEmpty else { continue }
      let header = ["  benchmark", "metric", "base -> head", "change", "threshold", "verdict", "how sure"]
      let rows = findings.map { finding in
        [
          "  \(finding.label)", finding.metric, finding.numbers, finding.change,
          finding.thresholdText, finding.verdict == .pass ? "pass" : finding.verdict.rawValue.uppercased(),
          finding.certainty + (finding.reason.map { "; \($0)" } ?? ""),
        ]
      }
      lines += Table.aligned([header] + rows)
    }
    if !report.notes.isEmpty { lines += [""] + report.notes.map { "note: \($0)" } }
    lines += ["", "\(Progress.duration(report.seconds)); \(report.headline)"]
    return lines.joined(separator: "\n") + "\n"
  }

  static func title(_ tier: GatedMetric.Tier, hasRecord: Bool) -> String {
    switch tier {
    case .deterministic:
      "tier 0, deterministic, \(hasRecord ? "against the record" : "without a record") (at one worker)"
    case .steady: "tier 1, low noise, head against base"
    case .wallClock: "tier 2, wall clock, head against base"
    }
  }
}
