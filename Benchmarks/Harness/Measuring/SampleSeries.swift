import HarnessStatistics
import HarnessWords

/// Durations of one kind. The durations are kept in full, with exact percentiles, or counted in a histogram.
package struct SampleSeries: Sendable {
  package let prefix: String
  package let detail: Parameters
  /// The samples that are kept in full.
  package var nanoseconds: [UInt64]
  /// The histogram of the samples, for a series that is not kept in full.
  package private(set) var histogram: LatencyHistogram?

  package init(_ prefix: String, detail: Parameters = [:], nanoseconds: [UInt64]) {
    (self.prefix, self.detail, self.nanoseconds) = (prefix, detail, nanoseconds)
  }

  package init(_ prefix: String, detail: Parameters = [:], histogram: LatencyHistogram) {
    self.init(prefix, detail: detail, nanoseconds: [])
    self.histogram = histogram
  }

  /// The percentiles that are reported, each with the number of samples that a process needs for the percentile. With
  /// fewer samples, the percentile would rest on a handful of them. p99 and p99.9 have at least twenty samples beyond
  /// them.
  package static let percentiles: [(name: String, fraction: Double, samples: Int)] = [
    ("p50", 0.5, 1), ("p90", 0.9, 100), ("p99", 0.99, 2_000), ("p999", 0.999, 20_000),
  ]

  /// The number of samples that benchmarks collect in each of ten processes: enough for p99 in each of fifty processes.
  package static let samplesForP99 = 10_000

  package static func metrics(_ prefix: String) -> [Metric] {
    (percentiles.map(\.name) + ["max"]).map { Metric("\(prefix)_\($0)_ns", unit: "ns") }
  }

  /// The percentiles by nearest rank, without the percentiles for which there are too few samples.
  package func readings() -> [Reading] {
    let sorted = nanoseconds.sorted()
    let count = histogram?.count ?? sorted.count
    guard count > 0 else { return [] }
    func reading(_ name: String, _ value: UInt64) -> Reading {
      Reading(Metric("\(prefix)_\(name)_ns", unit: "ns"), Double(value), count: count, detail: detail)
    }
    var readings: [Reading] = []
    for percentile in Self.percentiles where count >= percentile.samples {
      let value =
        histogram?.value(percentile.fraction) ?? Statistics.percentile(percentile.fraction, ofSorted: sorted)
      readings.append(reading(percentile.name, value))
    }
    readings.append(reading("max", histogram?.max ?? sorted[count - 1]))
    return readings
  }

  /// Adds the samples of another series. When the other series is counted in a histogram, this series is counted in a
  /// histogram too.
  mutating func merge(_ other: SampleSeries) {
    guard histogram != nil || other.histogram != nil else {
      nanoseconds += other.nanoseconds
      return
    }
    var merged = histogram ?? LatencyHistogram(nanoseconds)
    if let theirs = other.histogram { merged.add(theirs) } else { merged.add(LatencyHistogram(other.nanoseconds)) }
    histogram = merged
    nanoseconds = []
  }

  /// Merges the series of several values into one series per prefix and detail, in order of first appearance.
  static func merged(_ series: [SampleSeries]) -> [SampleSeries] {
    var merged: [SampleSeries] = []
    for one in series {
      if let index = merged.firstIndex(where: { $0.prefix == one.prefix && $0.detail == one.detail }) {
        merged[index].merge(one)
      } else {
        merged.append(one)
      }
    }
    return merged
  }
}
