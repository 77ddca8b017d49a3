/// One number of one metric, with how many operations (or samples) stand behind it.
public struct Reading: Hashable, Sendable {
  public let metric: Metric
  public let value: Double
  public let count: Int
  /// What the number is about beyond the cell's own parameters, such as a priority level.
  public let detail: Parameters

  public init(_ metric: Metric, _ value: Double, count: Int, detail: Parameters = [:]) {
    self.metric = metric
    self.value = value
    self.count = count
    self.detail = detail
  }
}

/// What a benchmark yields for one value: numbers, and samples that are merged over the whole process before
/// percentiles are taken from them.
public struct Value: Sendable {
  public var readings: [Reading]
  public var samples: [SampleSeries]

  public init(_ readings: [Reading] = [], samples: [SampleSeries] = []) {
    self.readings = readings
    self.samples = samples
  }
}
