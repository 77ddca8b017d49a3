import Glibc

/// How two numbers of a metric are compared.
package enum GateScale: String, Codable, Sendable {
  /// By the logarithm of their ratio.
  case ratio
  /// By their difference: counts near zero have ratios that mean nothing.
  case difference

  package init(_ metric: Metric) {
    self = metric.unit == Metric.voluntarySwitchesPerOp.unit ? .difference : .ratio
  }

  /// Positive where `number` is larger, which in everything that is gated is worse; nil without a ratio.
  package func effect(_ number: Double, _ base: Double) -> Double? {
    switch self {
    case .ratio: Statistics.logRatio(number, base)
    case .difference: number - base
    }
  }

  /// What a reader is shown: the ratio itself, or the difference.
  package func shown(_ effect: Double) -> Double { self == .ratio ? exp(effect) : effect }

  /// The effect that a threshold as shown stands for.
  package func tolerance(_ threshold: Double) -> Double { self == .ratio ? log(threshold) : threshold }
}
