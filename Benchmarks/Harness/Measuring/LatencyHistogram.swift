#if Laboratory || All
  import Histogram
#else
  #error("Laboratory needs its package trait: in Package.swift, .package(url: …, branch: …, traits: [\"Laboratory\"])")
#endif

/// Durations counted in an HdrHistogram of three significant digits. A percentile is off by at most 0.1 %, and the size
/// of the histogram does not grow with the number of samples.
package struct LatencyHistogram: Sendable {
  private var histogram: Histogram<UInt64>

  /// An hour. A longer duration is counted as an hour.
  static let longest: UInt64 = 3_600_000_000_000

  package init() { histogram = Histogram(highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .three) }

  package init(_ nanoseconds: some Sequence<UInt64>) {
    self.init()
    for value in nanoseconds { record(value) }
  }

  package mutating func record(_ nanoseconds: UInt64) { histogram.record(min(nanoseconds, Self.longest)) }

  package mutating func add(_ other: LatencyHistogram) { histogram.add(other.histogram) }

  package var count: Int { Int(histogram.totalCount) }

  /// The largest sample, exactly.
  package var max: UInt64 { histogram.maxRecorded }

  /// The smallest value that at least this fraction of the samples do not exceed. The value is never above the largest
  /// sample.
  package func value(_ fraction: Double) -> UInt64 { min(histogram.valueAtPercentile(fraction * 100), max) }
}
