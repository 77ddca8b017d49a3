import FoundationEssentials
import Glibc
import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessStatistics
@testable import HarnessWords

/// Against values that `scripts/results/expected_statistics.py` computed with NumPy and SciPy.
struct StatisticsTests {
  struct Expected: Decodable {
    struct Ranks: Decodable { let lower: Int, upper: Int, coverage: Double }

    struct Sample: Decodable {
      let values: [Double]
      let median: Double
      let ranks: Ranks?
      let percentiles: [String: Double]
    }

    struct Pairs: Decodable {
      let numerators: [Double]
      let denominators: [Double]
      let ratio: Double
      let lower: Double?
      let upper: Double?
    }

    struct Widened: Decodable { let count: Int, comparisons: Int, lower: Int, upper: Int, together: Double }
    struct Student: Decodable { let freedom: Int, probability: Double, quantile: Double }

    struct Bootstrap: Decodable {
      let logarithms: [[Double]]
      let ratio: Double
      let tail: Double
      let lower: Double
      let upper: Double
      let deviation: Double
    }

    let samples: [Sample]
    let pairs: [Pairs]
    let widened: [Widened]
    let needed: [String: Int]
    let student: [Student]
    let bootstrap: [Bootstrap]
  }

  static func expected() throws -> Expected {
    let data = try #require(
      FileManager.default.contents(atPath: Checkout.path("Tests/HarnessTests/Fixtures/expected_statistics.json")))
    return try JSONDecoder().decode(Expected.self, from: data)
  }

  static func close(_ left: Double, _ right: Double) -> Bool { abs(left - right) <= 1e-9 * max(abs(left), abs(right)) }

  @Test func mediansAndIntervals() throws {
    for sample in try Self.expected().samples {
      let estimate = Statistics.estimate(sample.values.shuffled())
      #expect(Self.close(estimate.median, sample.median))
      #expect(estimate.count == sample.values.count)
      let sorted = sample.values.sorted()
      #expect(estimate.interval == sample.ranks.map { sorted[$0.lower - 1]...sorted[$0.upper - 1] })
    }
  }

  @Test func coverageIsExact() throws {
    for sample in try Self.expected().samples {
      let ranks = Statistics.medianRanks(sample.values.count)
      #expect(ranks?.lower == sample.ranks?.lower)
      #expect(ranks?.upper == sample.ranks?.upper)
      if let ranks, let expected = sample.ranks { #expect(Self.close(ranks.coverage, expected.coverage)) }
    }
  }

  @Test func percentilesByNearestRank() throws {
    for sample in try Self.expected().samples {
      let sorted = sample.values.sorted()
      for (percent, value) in sample.percentiles {
        let fraction = try #require(Double(percent)) / 100
        #expect(sorted[Statistics.nearestRank(fraction, of: sorted.count)] == value, "p\(percent) of \(sorted.count)")
      }
    }
  }

  @Test func pairedRatios() throws {
    for pairs in try Self.expected().pairs {
      let ratio = try #require(
        Pairing.ratio(zip(pairs.numerators, pairs.denominators).compactMap { Pairing.logarithm($0, over: $1) }))
      #expect(Self.close(ratio.median, pairs.ratio))
      #expect((ratio.interval == nil) == (pairs.lower == nil))
      if let interval = ratio.interval, let lower = pairs.lower, let upper = pairs.upper {
        #expect(Self.close(interval.lowerBound, lower) && Self.close(interval.upperBound, upper))
      }
    }
  }

  @Test func widenedRanks() throws {
    for expected in try Self.expected().widened {
      let widening = Widening(comparisons: expected.comparisons)
      let confidence = try #require(widening.confidence(of: expected.count))
      let ranks = try #require(Statistics.medianRanks(expected.count, confidence: confidence))
      #expect((ranks.lower, ranks.upper) == (expected.lower, expected.upper), "\(expected)")
      #expect(abs(try #require(widening.together(expected.count)) - expected.together) < 1e-9)
    }
    for (comparisons, count) in try Self.expected().needed {
      #expect(Widening(comparisons: try #require(Int(comparisons))).processesNeeded == count)
    }
    #expect(Widening(comparisons: 1).confidence(of: 5) == nil && Widening(comparisons: 1).together(5) == nil)
  }

  @Test func studentsQuantiles() throws {
    for expected in try Self.expected().student {
      #expect(
        abs(StudentT.quantile(central: expected.probability, freedom: expected.freedom) / expected.quantile - 1) < 1e-8)
    }
  }

  @Test func bootstrapOfTheGeometricMean() throws {
    for expected in try Self.expected().bootstrap {
      let series = expected.logarithms.enumerated().map { index, logs in
        RatioSeries(
          benchmark: "b\(index)", logarithms: Dictionary(uniqueKeysWithValues: zip(1..., logs)))
      }
      let blocks = expected.logarithms[0].count
      let mean = try #require(GeometricMean(series, seed: 1))
      #expect(Self.close(mean.ratio, expected.ratio))
      #expect((mean.benchmarks, mean.blocks) == (series.count, blocks))
      #expect(abs(GeometricMean.tail(blocks: blocks) / expected.tail - 1) < 1e-6)
      // Both are bootstraps: they differ by the noise of one.
      let interval = try #require(mean.interval)
      #expect(abs(Glibc.log(interval.lowerBound / expected.lower)) < 5 * expected.deviation + 1e-9)
      #expect(abs(Glibc.log(interval.upperBound / expected.upper)) < 5 * expected.deviation + 1e-9)
      #expect(GeometricMean(series, seed: 1) == mean)
    }
  }

  @Test func aBenchmarkHasOneVoteHoweverManyParameters() throws {
    let once = RatioSeries(benchmark: "a", logarithms: [1: 1])
    let often = (1...9).map { _ in RatioSeries(benchmark: "b", logarithms: [1: -1]) }
    #expect(abs(try #require(GeometricMean([once] + often, seed: 1)).ratio - 1) < 1e-12)
    #expect(GeometricMean([RatioSeries(benchmark: "a", logarithms: [:])], seed: 1) == nil)
  }

  /// Of 1 to 8 the numbers 3 to 6 remain. The squares of the winsorized 3, 3, 3, 4, 5, 6, 6, 6 have the sum 14 around
  /// their mean, and the square of the error is 14 / (4 * 3), with three degrees of freedom.
  @Test func aTrimmedMeanByHand() throws {
    func series(_ benchmark: String, _ values: [Double]) -> RatioSeries {
      RatioSeries(benchmark: benchmark, logarithms: Dictionary(uniqueKeysWithValues: zip(1..., values)))
    }
    let one = series("a", [8, 1, 7, 2, 6, 3, 5, 4])
    let mean = try #require(TrimmedMean([one]))
    #expect(Self.close(mean.logarithm, 4.5) && (mean.benchmarks, mean.blocks) == (1, 8))
    let half = try #require(mean.half(confidence: 0.95))
    #expect(abs(half - (14.0 / 12).squareRoot() * 3.182446305284263) < 1e-8)
    #expect(abs(mean.shares.reduce(0) { $0 + $1.share * $1.share } - 1) < 1e-12)
    // Twice as many independent errors of the same size: half the variance, twice the degrees of freedom.
    let both = try #require(TrimmedMean([one, series("b", [1, 2, 3, 4, 5, 6, 7, 8])]))
    #expect(abs(try #require(both.half(confidence: 0.95)) - (7.0 / 12).squareRoot() * 2.4469118511449692) < 1e-8)
    // A benchmark has one vote.
    let shared = try #require(TrimmedMean([one, series("b", [1, 1]), series("b", [3, 3])]))
    #expect(Self.close(shared.logarithm, 3.25) && shared.blocks == 2 && !shared.hasInterval)
    // Equal numbers have no error.
    let equal = try #require(TrimmedMean([series("a", [Double](repeating: 2, count: 6))]))
    #expect(equal.half(confidence: 0.999) == 0 && equal.shares.isEmpty)
    #expect(TrimmedMean([]) == nil && TrimmedMean([series("a", [])]) == nil)
  }

  @Test func theConfidenceOfTheLargestError() throws {
    var noise = CoverageTests.Noise("largest")
    func mean(line: Int, blocks: Int = 200, _ of: (Int) -> Double) throws -> TrimmedMean {
      let logarithms = Dictionary(uniqueKeysWithValues: (0..<blocks).map { ($0, of($0)) })
      return try #require(TrimmedMean([RatioSeries(benchmark: "a", logarithms: logarithms)], lines: [line]))
    }
    let plain = try (0..<20).map { line in try mean(line: line, blocks: 20) { _ in noise.next() } }
    #expect(Together.confidence(of: [[plain[0]]], seed: 1) == 0.95)
    // Independent errors: between those of Bonferroni and a little beyond those of Sidak.
    #expect((0.9973...0.9975).contains(Together.confidence(of: [plain], seed: 1)))
    #expect((0.9973...0.9975).contains(Together.confidence(of: plain.map { [$0] }, seed: 1)))
    // One error, however often it is asked for.
    let same = [[TrimmedMean](repeating: plain[0], count: 20)]
    #expect(abs(Together.confidence(of: same, seed: 1) - 0.95) < 1e-12)
    #expect(Together.confidence(of: [plain], seed: 1) == Together.confidence(of: [plain], seed: 1))
    #expect(Together.confidence(of: [], seed: 1) == 0.95)
    // Dunnett (1964): 2.51 for five treatments beside one control, of normal errors; Bonferroni: 2.58.
    let control = (0..<200).map { _ in noise.next() }
    let treated = try (0..<5).map { _ in try mean(line: 0) { noise.next() - control[$0] } }
    let confidence = Together.confidence(of: [treated], seed: 1)
    #expect((2.46...2.56).contains(StudentT.quantile(central: confidence, freedom: 1_000)))
  }

  @Test func discoveriesByHand() {
    func confidence(_ chances: [Double]) -> Double {
      Discoveries.confidence(of: chances.count) { confidence in chances.count { $0 <= 1 - confidence + 1e-12 } }
    }
    // The second of four is below 2 * 0.05 / 4, the third is not below 3 * 0.05 / 4.
    #expect(Self.close(confidence([0.001, 0.02, 0.04, 0.9]), 0.975))
    // The last decides for those before it.
    #expect(Self.close(confidence([0.04, 0.045, 0.05, 0.03]), 0.95))
    #expect(Self.close(confidence([0.5, 0.6, 0.7, 0.8]), 0.9875) && confidence([]) == 0.95)
  }

  @Test func aPairWithoutALogarithmLeavesNoRatio() {
    #expect(Pairing.logarithm(0, over: 1) == nil && Pairing.logarithm(1, over: 0) == nil)
    #expect(Pairing.ratio(Pairing.logarithms(of: [1: 0, 2: 3], over: [1: 1, 2: 1]).values) == nil)
  }

  @Test func noIntervalBelowSixProcesses() {
    for count in 0...5 { #expect(Statistics.medianRanks(count) == nil) }
    #expect(Statistics.medianRanks(6) != nil)
  }

  /// Of the logarithms: x0.5 is as far from x1 as x2.
  @Test func roughBeyondFivePercent() throws {
    func ratio(_ interval: ClosedRange<Double>?) -> Estimate { Estimate(median: 1, interval: interval, count: 10) }
    #expect(!ratio(0.96...1.05).isRough && ratio(0.94...1.05).isRough && !ratio(nil).isRough)
    #expect(abs(try #require(ratio(0.5...2).ratioHalfWidth) - Glibc.log(2)) < 1e-12)
    #expect(ratio(nil).ratioHalfWidth == nil && ratio(0...1).ratioHalfWidth == nil)
    // Far from 1 three times as much is as sharp: 20 [18.2, 22] is, 2 [1.82, 2.2] is not, nor is 0.5.
    func scaled(_ median: Double) -> Bool {
      Estimate(median: median, interval: median / 1.1...median * 1.1, count: 10).isRough
    }
    #expect(!scaled(20) && !scaled(0.05) && !scaled(3.01) && scaled(2.99) && scaled(2) && scaled(0.5))
  }
}

struct SampleSeriesTests {
  @Test func percentilesNeedEnoughSamples() {
    func names(_ count: Int) -> [String] {
      SampleSeries("wait", nanoseconds: (0..<UInt64(count)).map { $0 }).readings().map(\.metric.name)
    }
    #expect(names(0).isEmpty)
    #expect(names(99) == ["wait_p50_ns", "wait_max_ns"])
    #expect(names(1_999) == ["wait_p50_ns", "wait_p90_ns", "wait_max_ns"])
    #expect(names(2_000) == ["wait_p50_ns", "wait_p90_ns", "wait_p99_ns", "wait_max_ns"])
    #expect(names(20_000).contains("wait_p999_ns"))
  }

  @Test func valuesAndMerging() {
    let high: Parameters = ["level": "high"]
    let merged = SampleSeries.merged([
      SampleSeries("wait", detail: high, nanoseconds: [5, 1]), SampleSeries("wait", nanoseconds: [9]),
      SampleSeries("wait", detail: high, nanoseconds: [3]),
    ])
    #expect(merged.map(\.nanoseconds) == [[5, 1, 3], [9]])
    let readings = merged[0].readings()
    #expect(readings.map(\.value) == [3, 5])
    #expect(readings.allSatisfy { $0.count == 3 && $0.detail == high })
  }
}
