import HarnessWords

/// What the tiers have found so far, in their order, and what a reader should know of it.
struct GateFindings {
  private(set) var findings: [GateFinding] = []
  private(set) var notes: [String] = []

  mutating func add(_ finding: GateFinding) { findings.append(finding) }
  mutating func add(_ more: [GateFinding]) { findings += more }
  mutating func note(_ line: String) { notes.append(line) }

  /// Records a head that fails its own checks, crashes or hangs: the worst finding.
  mutating func noteSelfCheck(_ cell: CellKey, _ failure: GateRunner.Failure) {
    let verdict = failure.isBase ? GateVerdict.inconclusive : .regression
    findings.append(
      GateFinding(tier: .deterministic, cell, GateFinding.selfCheck, verdict, reason: failure.reason))
  }
}
