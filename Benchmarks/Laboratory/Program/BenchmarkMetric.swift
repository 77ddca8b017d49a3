import HarnessMeasuring
import HarnessWords

/// A metric of a benchmark's own: a number that the benchmark knows and the laboratory does not, such as the hits of a
/// cache or the size of what was compressed.
///
/// The metric stands in the table, the CSV and the report beside the laboratory's own. The gate does not hold it.
public struct BenchmarkMetric<State>: Sendable {
  /// The better side of a metric.
  public enum Better: Sendable {
    /// Less is better, as of a time.
    case less
    /// More is better, as of a throughput.
    case more
  }

  let metric: Metric
  let facts: MetricFacts
  let value: @Sendable (State, Int) throws -> Double

  /// - Parameters:
  ///   - name: small letters, digits and `_`, such as `cache_hits`. The name of a metric that the laboratory gives is
  ///     refused.
  ///   - unit: what is counted, without spaces. `ns` is shown as a time, `bytes` as bytes.
  ///   - better: the better side. The report says it beside the number.
  ///   - value: gives the number after each value, outside the timed stretch. Its second argument is the number of
  ///     operations that ran since the last call. A number that is not finite fails the benchmark.
  public init(
    _ name: String, unit: String, better: Better,
    value: @escaping @Sendable (_ state: State, _ operations: Int) throws -> Double
  ) {
    metric = Metric(name, unit: unit)
    let plain = String(name.map { $0 == "_" ? " " : $0 })
    let saysUnit = ["ns", "bytes", "ratio", "percent"].contains(unit) || name.contains(unit)
    facts = MetricFacts(words: saysUnit ? plain : "\(plain), in \(unit)", better: better == .less ? .less : .more)
    self.value = value
  }

  func reading(_ state: State, operations: Int) throws -> Reading {
    let number = try value(state, operations)
    guard number.isFinite else { throw CheckFailed("the metric \(metric.name) is \(number), which is no number") }
    return Reading(metric, number, count: operations)
  }
}
