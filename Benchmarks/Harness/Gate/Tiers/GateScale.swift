import Glibc
import HarnessMeasuring
import HarnessStatistics

/// How two numbers of a metric are compared.
package enum GateScale: String, Codable, Sendable {
  /// By the logarithm of their ratio.
  case ratio
  /// By their difference, because ratios of counts near zero mean nothing.
  case difference

  package init(_ metric: Metric) {
    self = metric.unit == Metric.voluntarySwitchesPerOp.unit ? .difference : .ratio
  }

  /// Positive when `number` is larger, and larger is worse for every gated metric; nil when there is no ratio.
  package func effect(_ number: Double, _ base: Double) -> Double? {
    switch self {
    case .ratio: Pairing.logarithm(number, over: base)
    case .difference: number - base
    }
  }

  /// The effect as a reader sees it: the ratio itself, or the difference.
  package func shown(_ effect: Double) -> Double { self == .ratio ? exp(effect) : effect }

  /// The effect of a threshold as a reader sees the threshold.
  package func tolerance(_ threshold: Double) -> Double { self == .ratio ? log(threshold) : threshold }
}
