/// The result of a benchmark for one value: numbers, and samples. The samples are merged over the whole process before
/// percentiles are taken.
package struct Value: Sendable {
  package var readings: [Reading]
  package var samples: [SampleSeries]

  package init(_ readings: [Reading] = [], samples: [SampleSeries] = []) {
    self.readings = readings
    self.samples = samples
  }
}
