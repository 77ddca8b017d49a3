import Testing

@testable import HarnessMeasuring
@testable import HarnessStatistics

struct LatencyTests {
  @Test func histogramsAreAsExactAsTheySay() {
    let values = (1...100_000).map { UInt64($0) * 37 }
    let histogram = LatencyHistogram(values)
    #expect(histogram.count == 100_000 && histogram.max == 3_700_000)
    for fraction in [0.5, 0.9, 0.99, 0.999] {
      let exact = Double(values[Statistics.nearestRank(fraction, of: values.count)])
      #expect(abs(Double(histogram.value(fraction)) / exact - 1) <= 0.001)
    }
    #expect(histogram.value(1) == histogram.max)
  }

  @Test func histogramsMergeAsIfRecordedInOne() {
    var generator = SeededGenerator(seed: 3)
    let values = (0..<5_000).map { _ in UInt64.random(in: 0..<10_000_000, using: &generator) }
    var merged = LatencyHistogram(values[..<1_000])
    merged.add(LatencyHistogram(values[1_000...]))
    let whole = LatencyHistogram(values)
    #expect(merged.count == whole.count && merged.max == whole.max)
    for fraction in [0.01, 0.5, 0.9, 0.999] { #expect(merged.value(fraction) == whole.value(fraction)) }
  }

  @Test func veryLongOnesCountAsAnHour() {
    let histogram = LatencyHistogram([UInt64.max])
    #expect(histogram.count == 1 && histogram.max == LatencyHistogram.longest)
  }

  @Test func seriesOfHistogramsMergeAndLeaveOutRarePercentiles() {
    func series(_ count: Int) -> SampleSeries {
      SampleSeries("latency", histogram: LatencyHistogram((0..<UInt64(count)).map { $0 + 1 }))
    }
    let few = SampleSeries.merged([series(800), series(1_199)])
    #expect(few.count == 1)
    #expect(few[0].readings().map(\.metric.name) == ["latency_p50_ns", "latency_p90_ns", "latency_max_ns"])
    #expect(few[0].readings().allSatisfy { $0.count == 1_999 } && few[0].readings().last?.value == 1_199)
    let enough = SampleSeries.merged([series(1_000), series(1_000)])[0].readings().map(\.metric.name)
    #expect(enough == ["latency_p50_ns", "latency_p90_ns", "latency_p99_ns", "latency_max_ns"])
    #expect(series(20_000).readings().map(\.metric) == SampleSeries.metrics("latency"))
    #expect(SampleSeries("latency", histogram: LatencyHistogram()).readings().isEmpty)
    // One kept in full joins one that is counted.
    let mixed = SampleSeries.merged([SampleSeries("latency", nanoseconds: [7, 9]), series(3)])[0]
    #expect(mixed.readings().last?.value == 9 && mixed.readings().last?.count == 5)
  }

  @Test func intendedStartsAreDecidedBeforehand() {
    let fixed = ArrivalSchedule(count: 4, interval: 250, spacing: .fixed, seed: 1)
    #expect(fixed.offsets == [250, 500, 750, 1_000])
    let random = ArrivalSchedule(count: 50_000, interval: 250, spacing: .exponential, seed: 1)
    #expect(random.offsets == ArrivalSchedule(count: 50_000, interval: 250, spacing: .exponential, seed: 1).offsets)
    #expect(random.offsets != ArrivalSchedule(count: 50_000, interval: 250, spacing: .exponential, seed: 2).offsets)
    #expect(random.offsets == random.offsets.sorted())
    #expect(abs(Double(random.offsets.last!) / 50_000 / 250 - 1) < 0.02)
    // Of a Poisson process the distances exceed their mean with probability 1/e.
    let long = zip(random.offsets, random.offsets.dropFirst()).count { $1 - $0 > 250 }
    let share = Double(long) / 50_000
    #expect(abs(share - 0.3679) < 0.02)
  }

  @Test func thePacerIsNeverEarly() {
    for ahead in [0, 5_000, 400_000] as [UInt64] {
      let time = Clock.now() + ahead
      Pacer.wait(until: time)
      #expect(Clock.now() >= time)
    }
    let passed = Clock.now() - 1
    Pacer.wait(until: passed)
    Pacer.sleep(until: passed)
  }
}
