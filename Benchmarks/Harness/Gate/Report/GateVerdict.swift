/// The verdict of the gate, on one measure or on a whole run.
package enum GateVerdict: String, Codable, CaseIterable, Sendable {
  case pass, regression, inconclusive, improvement

  /// The exit code of `opbench gate`.
  package var exitCode: Int32 {
    switch self {
    case .pass: 0
    case .regression: 2
    case .inconclusive: 3
    case .improvement: 4
    }
  }

  /// One regression makes the whole run a regression. When a measure is inconclusive, the run is inconclusive, and no
  /// improvement is announced. A run that measured nothing is inconclusive.
  package static func combined(_ verdicts: some Collection<GateVerdict>) -> GateVerdict {
    guard !verdicts.isEmpty else { return .inconclusive }
    for worst in [GateVerdict.regression, .inconclusive, .improvement] where verdicts.contains(worst) { return worst }
    return .pass
  }
}
