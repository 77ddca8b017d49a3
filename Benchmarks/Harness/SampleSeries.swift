/// Durations of one kind, kept in full: the percentiles are exact.
public struct SampleSeries: Sendable {
  public let prefix: String
  public let detail: Parameters
  public var nanoseconds: [UInt64]

  public init(_ prefix: String, detail: Parameters = [:], nanoseconds: [UInt64]) {
    self.prefix = prefix
    self.detail = detail
    self.nanoseconds = nanoseconds
  }

  /// The percentiles that are reported, each with the number of samples below which it would rest on a handful of
  /// them.
  static let percentiles: [(name: String, fraction: Double, samples: Int)] = [
    ("p50", 0.5, 1), ("p90", 0.9, 100), ("p99", 0.99, 10_000), ("p999", 0.999, 100_000),
  ]

  /// The most samples that `p99` asks for; benchmarks collect this many in each process.
  public static let samplesForP99 = 10_000

  public static func metrics(_ prefix: String) -> [Metric] {
    (percentiles.map(\.name) + ["max"]).map { Metric("\(prefix)_\($0)_ns", unit: "ns") }
  }

  /// Percentiles by nearest rank, leaving out those for which there are too few samples.
  public func readings() -> [Reading] {
    guard !nanoseconds.isEmpty else { return [] }
    let sorted = nanoseconds.sorted()
    var readings: [Reading] = []
    for percentile in Self.percentiles where sorted.count >= percentile.samples {
      let value = sorted[Statistics.nearestRank(percentile.fraction, of: sorted.count)]
      let metric = Metric("\(prefix)_\(percentile.name)_ns", unit: "ns")
      readings.append(Reading(metric, Double(value), count: sorted.count, detail: detail))
    }
    let largest = Metric("\(prefix)_max_ns", unit: "ns")
    readings.append(Reading(largest, Double(sorted[sorted.count - 1]), count: sorted.count, detail: detail))
    return readings
  }

  /// The series of several values as one per prefix and detail, in order of first appearance.
  static func merged(_ series: [SampleSeries]) -> [SampleSeries] {
    var merged: [SampleSeries] = []
    for one in series {
      if let index = merged.firstIndex(where: { $0.prefix == one.prefix && $0.detail == one.detail }) {
        merged[index].nanoseconds += one.nanoseconds
      } else {
        merged.append(one)
      }
    }
    return merged
  }
}
