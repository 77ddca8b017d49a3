/// What the gate says, of one measure or of a whole run.
package enum GateVerdict: String, Codable, CaseIterable, Sendable {
  case pass, regression, inconclusive, improvement

  /// What `opbench gate` ends with.
  package var exitCode: Int32 {
    switch self {
    case .pass: 0
    case .regression: 2
    case .inconclusive: 3
    case .improvement: 4
    }
  }

  /// One regression is a regression whatever else was found; as long as something could not be told, nothing better than
  /// that is announced. Nothing measured is nothing told.
  package static func combined(_ verdicts: some Collection<GateVerdict>) -> GateVerdict {
    guard !verdicts.isEmpty else { return .inconclusive }
    for worst in [GateVerdict.regression, .inconclusive, .improvement] where verdicts.contains(worst) { return worst }
    return .pass
  }
}
