import LaboratorySupport
import Testing

@testable import Harness

/// How a ratio of times reads, and which ratios may stand beside one another.
struct RatioWordsTests {
  @Test func farRatiosAreNumbersOfTimes() {
    func words(_ ratio: Double, _ interval: ClosedRange<Double>? = nil) -> String {
      RatioWords(ratio, interval).compared(with: "foundation")
    }
    #expect(words(0.0258) == "38.8 times as fast as foundation")
    #expect(words(0.025, 0.02...0.04) == "40.0 times as fast as foundation [25.0, 50.0]")
    #expect(words(3.75, 3.5...4.01) == "3.75 times as long as foundation [3.50, 4.01]")
    #expect(words(0.92, 0.88...0.97) == "x0.920 [0.880, 0.970] of foundation's time")
    #expect(words(1.49) == "x1.49 of foundation's time" && words(1.5) == "1.50 times as long as foundation")
    #expect(words(1 / 1.49) == "x0.671 of foundation's time" && words(1 / 1.5) == "1.50 times as fast as foundation")
    #expect(words(0.00249) == "402 times as fast as foundation")
  }

  @Test func theFasterOneIsNamed() {
    func sentence(_ ratio: Double) -> String { RatioWords(ratio, nil).sentence("stealing", against: "tbb") }
    #expect(sentence(3.75) == "tbb is faster: stealing takes 3.75 times as long")
    #expect(sentence(0.25) == "stealing is 4.00 times as fast as tbb")
    #expect(sentence(1.1) == "stealing takes x1.10 of tbb's time")
  }

  @Test func countsHaveTheirNouns() {
    #expect(Count.of(1, "block") == "1 block" && Count.of(0, "block") == "0 blocks")
    #expect(Count.of(1, "process") == "1 process" && Count.of(12, "process") == "12 processes")
  }
}

struct CommonMeansTests {
  static let tbb = Arm(subject: "tbb", workers: 2)
  static let go = Arm(subject: "go", workers: 2)
  static let dispatch = Arm(subject: "dispatch", workers: 2)

  /// Six blocks in which an arm takes so many times as long as the reference.
  static func line(_ benchmark: String, _ factors: [Arm: Double]) -> CommonMeans.Line {
    let all = factors.merging([Sample.reference: 1]) { $1 }
    return CommonMeans.Line(
      benchmark: benchmark,
      numbers: all.mapValues { factor in
        Dictionary(uniqueKeysWithValues: (1...6).map { ($0, 100 * factor * Double($0)) })
      })
  }

  /// `tbb` has the benchmark on which everybody is fast. Its own mean would be a hundredth of the reference's time, beside
  /// a tenth of ours over both.
  static let lines = [
    line("a", [Sample.ours: 0.02, dispatch: 0.1, tbb: 0.01]), line("b", [Sample.ours: 0.5, dispatch: 0.4]),
  ]

  @Test func whatStandsTogetherIsOverTheSameBenchmarks() throws {
    let means = CommonMeans(
      Self.lines, arms: [Sample.ours, Self.dispatch, Self.tbb, Self.go, Sample.reference], reference: "foundation",
      seed: 1)
    #expect(
      means.against.map(\.arm) == [Sample.ours, Self.dispatch] && means.against.allSatisfy { $0.benchmarks == 2 })
    #expect(abs(means.against[0].ratio - 0.1) < 1e-12 && abs(means.against[1].ratio - 0.2) < 1e-12)
    let duel = try #require(means.duels.first)
    let mean = try #require(duel.mean)
    #expect(means.duels.count == 1 && duel.arm == Self.tbb && mean.arm == Sample.ours)
    #expect(abs(mean.ratio - 2) < 1e-12 && mean.benchmarks == 1 && mean.lines == 1)
    let text = means.text(reference: "foundation", width: 120).joined(separator: "\n")
    #expect(
      text.contains("stealing@2  10.0 times as fast as foundation [10.0, 10.0]  2 benchmarks, 6 blocks"), "\(text)")
    #expect(text.contains("tbb@2 is faster: stealing@2 takes 2.00 times as long [2.00, 2.00]  1 benchmark, 6 blocks"))
    #expect(!text.contains("100 times"))
  }

  /// The interval of a single line is that of its own comparison, not of a bootstrap over its blocks.
  @Test func aMeanOfOneLineHasItsInterval() throws {
    let values = [1: 1.0, 2: 2, 3: 4, 4: 8, 5: 16, 6: 32]
    let line = CommonMeans.Line(
      benchmark: "a", numbers: [Sample.ours: values, Sample.reference: values.mapValues { _ in 1 }])
    let mean = try #require(
      CommonMeans([line], arms: [Sample.ours], reference: "foundation", seed: 1).against.first)
    let interval = try #require(mean.interval)
    #expect(abs(interval.lowerBound - 1) < 1e-9 && abs(interval.upperBound - 32) < 1e-9)
  }

  @Test func withoutACommonBenchmarkNothingIsCompared() {
    let lines = [Self.line("a", [Sample.ours: 0.5]), Self.line("b", [Self.tbb: 0.1])]
    let means = CommonMeans(lines, arms: [Sample.ours, Self.tbb], reference: "foundation", seed: 1)
    #expect(means.duels.map(\.arm) == [Self.tbb] && means.duels.allSatisfy { $0.mean == nil })
    #expect(means.text(reference: "foundation", width: 80).contains { $0.contains("no benchmark in common") })
    // A number that is not positive has no ratio.
    let zero = CommonMeans.Line(benchmark: "a", numbers: [Sample.ours: [1: 0, 2: 1], Sample.reference: [1: 1, 2: 1]])
    #expect(CommonMeans([zero], arms: [Sample.ours], reference: "foundation", seed: 1).against.isEmpty)
  }
}
