/// What a benchmark yields for one value: numbers, and samples that are merged over the whole process before
/// percentiles are taken from them.
package struct Value: Sendable {
  package var readings: [Reading]
  package var samples: [SampleSeries]

  package init(_ readings: [Reading] = [], samples: [SampleSeries] = []) {
    self.readings = readings
    self.samples = samples
  }
}
