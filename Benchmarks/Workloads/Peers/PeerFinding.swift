/// One line of the transcript of `peer-check`.
package struct PeerFinding: Hashable, Sendable {
  package enum Verdict: String, CaseIterable, Sendable {
    case ok, failed
    case notApplicable = "not applicable"
  }

  package let check: String
  package let verdict: Verdict
  /// Why the check failed or is not applicable.
  package let reason: String

  package var line: String {
    let word = verdict.rawValue
    let width = Verdict.allCases.map(\.rawValue.count).max()! + 2
    return word + String(repeating: " ", count: width - word.count) + check + (reason.isEmpty ? "" : ": \(reason)")
  }
}
