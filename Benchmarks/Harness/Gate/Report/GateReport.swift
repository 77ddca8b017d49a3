import HarnessResults

/// The report of a whole gate: what was compared, what was found, and what the findings mean.
package struct GateReport: Codable, Sendable {
  /// From 2 on, intervals are those of signed ranks, and findings have no stage.
  package var schema = 2
  package var verdict: GateVerdict
  package var base: String?
  package var head: String
  package var provenance: Provenance
  package var seconds: Double
  package var stealShare: Double
  package var findings: [GateFinding]
  /// What the gate did not measure and why, and what a reader should know of the machine.
  package var notes: [String]

  package init(
    base: String?, head: String, provenance: Provenance, seconds: Double, stealShare: Double, findings: [GateFinding],
    notes: [String]
  ) {
    verdict = GateVerdict.combined(findings.map(\.verdict))
    (self.base, self.head, self.provenance, self.seconds) = (base, head, provenance, seconds)
    (self.stealShare, self.findings, self.notes) = (stealShare, findings, notes)
  }

  package func json() throws -> String { try JSONFile.text(self) }
}
