import HarnessWords

/// The result of a benchmark for one value: numbers, and samples. The samples are merged over the whole process before
/// percentiles are taken.
package struct Value: Sendable {
  package var readings: [Reading]
  package var samples: [SampleSeries]

  package init(_ readings: [Reading] = [], samples: [SampleSeries] = []) {
    self.readings = readings
    self.samples = samples
  }

  /// How long the timed work of the value took, in nanoseconds; nil for a value without a time.
  package var timed: Double? {
    Self.means.lazy.compactMap { metric in readings.first { $0.metric == metric } }.first
      .map { $0.value * Double($0.count) }
  }

  /// Times that are means over all timed work of a value.
  private static let means = [Metric.nsPerOp, .nsPerCancel, .makespan]
}

/// One number of one metric, with the number of operations (or samples) that the number rests on.
package struct Reading: Hashable, Sendable {
  package let metric: Metric
  package let value: Double
  package let count: Int
  /// The parameters of the number beyond the cell's own, such as a priority level.
  package let detail: Parameters

  package init(_ metric: Metric, _ value: Double, count: Int, detail: Parameters = [:]) {
    (self.metric, self.value, self.count, self.detail) = (metric, value, count, detail)
  }
}
