import Glibc
import HarnessMeasuring
import HarnessStatistics

/// How two numbers of a metric are compared.
package enum GateScale: String, Codable, Sendable {
  /// By the logarithm of their ratio.
  case ratio
  /// By their difference, because ratios of counts near zero mean nothing.
  case difference
  /// As `ratio`, of a number of which more is better, such as items in a second.
  case rate

  package init(_ metric: Metric) {
    switch metric.unit {
    case Metric.voluntarySwitchesPerOp.unit, "allocs/op": self = .difference
    case let unit where unit.hasSuffix("/s"): self = .rate
    default: self = .ratio
    }
  }

  /// Positive when `number` is worse; nil when there is no ratio. Two numbers of zero are equal.
  package func effect(_ number: Double, _ base: Double) -> Double? {
    if number == 0, base == 0 { return 0 }
    return switch self {
    case .ratio: Pairing.logarithm(number, over: base)
    case .rate: Pairing.logarithm(base, over: number)
    case .difference: number - base
    }
  }

  /// The effect as a reader sees it: the ratio of the numbers, or their difference.
  package func shown(_ effect: Double) -> Double {
    switch self {
    case .ratio: exp(effect)
    case .rate: exp(-effect)
    case .difference: effect
    }
  }

  /// The interval of an effect as a reader sees it.
  package func shown(_ interval: ClosedRange<Double>) -> ClosedRange<Double> {
    let ends = [shown(interval.lowerBound), shown(interval.upperBound)].sorted()
    return ends[0]...ends[1]
  }

  /// The effect of a threshold as a reader sees the threshold.
  package func tolerance(_ threshold: Double) -> Double { self == .difference ? threshold : log(threshold) }
}
