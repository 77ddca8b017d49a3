import Glibc
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessStatistics
@testable import HarnessWords

/// How a ratio of times reads, and which ratios may stand beside one another.
struct RatioWordsTests {
  @Test func theWords() {
    let cases: [(ratio: Double, interval: ClosedRange<Double>?, compared: String, sentence: String)] = [
      (0.0258, nil, "38.8 times as fast as tbb", "stealing is 38.8 times as fast as tbb"),
      (
        0.025, 0.02...0.04, "40.0 times as fast as tbb [25.0, 50.0]",
        "stealing is 40.0 times as fast as tbb [25.0, 50.0]"
      ),
      (0.00249, nil, "402 times as fast as tbb", "stealing is 402 times as fast as tbb"),
      (
        3.75, 3.5...4.01, "3.75 times as long as tbb [3.50, 4.01]",
        "tbb is faster: stealing takes 3.75 times as long [3.50, 4.01]"
      ),
      (
        0.92, 0.88...0.97, "x0.920 [0.880, 0.970] of tbb's time", "stealing takes x0.920 [0.880, 0.970] of tbb's time"
      ),
      (1.49, nil, "x1.49 of tbb's time", "stealing takes x1.49 of tbb's time"),
      (1.5, nil, "1.50 times as long as tbb", "tbb is faster: stealing takes 1.50 times as long"),
      (1 / 1.49, nil, "x0.671 of tbb's time", "stealing takes x0.671 of tbb's time"),
      (1 / 1.5, nil, "1.50 times as fast as tbb", "stealing is 1.50 times as fast as tbb"),
    ]
    for (ratio, interval, compared, sentence) in cases {
      let words = RatioWords(ratio, interval)
      #expect(words.compared(with: "tbb") == compared)
      #expect(words.sentence("stealing", against: "tbb") == sentence)
      // The page has the sentence from the document of facts.
      let facts = RatioFacts(Estimate(median: ratio, interval: interval, count: 6))
      #expect(facts.words.sentence("stealing", against: "tbb") == sentence)
      #expect(facts.marked == facts.text + (facts.isRough ? "~" : ""))
    }
  }

  @Test func whatIsNoTimeIsMoreOrLess() {
    func said(_ ratio: Double) -> String { RatioWords(ratio, nil).sentence("a", against: "b", of: "CPU time") }
    #expect(said(0.1) == "b has 10.0 times a's CPU time" && said(3) == "b has less: a has 3.00 times b's CPU time")
    #expect(said(1.2) == "a has x1.20 of b's CPU time")
  }

  @Test func aShareInWords() {
    func said(_ ratio: Double, _ what: String = "time") -> String {
      let series = RatioSeries(benchmark: "b", logarithms: [1: log(ratio)])
      return WorthFacts(Worth(series, confidence: 0.95)!, of: what).share.text
    }
    #expect(said(0.88) == "12 % less time" && said(1.05) == "5.0 % more time")
    #expect(said(2) == "2.00 times as long" && said(0.5) == "2.00 times as fast")
    #expect(said(0.5, "CPU time") == "2.00 times less CPU time" && said(2, "CPU time") == "2.00 times the CPU time")
    let blocks = Dictionary(uniqueKeysWithValues: (1...6).map { ($0, log(0.87 + 0.006 * Double($0))) })
    let worth = Worth(RatioSeries(benchmark: "b", logarithms: blocks), confidence: 0.95)!
    #expect(WorthFacts(worth).share.range == "[9, 12]")
  }

  /// Beside several others the words go from the least end of their intervals to the greatest.
  @Test func roundWords() {
    func words(_ all: (Double, ClosedRange<Double>)...) -> String { RoundRatio.words(all.map { RoundRatio($0, $1) }) }
    #expect(words((0.05, 0.04...0.0625)) == "20 times as fast" && words((2, 1.9...2.1)) == "2 times as slow")
    #expect(words((1, 0.9...1.1)) == "level" && words((1, 0.5...1.6)) == "no difference shown")
    #expect(words((4.6, 4.26...4.85), (4.8, 4.49...5.35)) == "4 to 5 times as slow")
    #expect(words((0.05, 1 / 20.4...1 / 19.6), (0.05, 1 / 20.2...1 / 19.8)) == "20 times as fast")
    #expect(words((0.5, 1 / 2.2...1 / 1.8), (2, 1.9...2.1)) == "2 times as fast; 2 times as slow")
    #expect(words((1, 0.95...1.05), (1, 0.9...1.1)) == "level")
  }

  @Test func countsHaveTheirNouns() {
    #expect(Count.of(1, "block") == "1 block" && Count.of(0, "block") == "0 blocks")
    #expect(Count.of(1, "process") == "1 process" && Count.of(12, "process") == "12 processes")
  }
}

struct CommonMeansTests {
  static let tbb = Arm(subject: "tbb", workers: 2)
  static let rayon = Arm(subject: "rayon", workers: 2)
  static let go = Arm(subject: "go", workers: 2)
  static let dispatch = Arm(subject: "dispatch", workers: 2)

  /// Six blocks in which each arm takes the reference's time, times the arm's factor. One arm may have a block of 0.
  static func line(_ benchmark: String, _ factors: [Arm: Double], zero: Arm? = nil) -> CommonMeans.Line {
    var numbers = factors.merging([Sample.reference: 1]) { $1 }.mapValues { factor in
      Dictionary(uniqueKeysWithValues: (1...6).map { ($0, 100 * factor * Double($0)) })
    }
    if let zero { numbers[zero]![3] = 0 }
    return CommonMeans.Line(benchmark: benchmark, numbers: numbers)
  }

  /// `tbb` has the benchmark on which everybody is fast. Its own mean would be a hundredth of the reference's time,
  /// beside a tenth of ours over both.
  static let lines = [
    line("a", [Sample.ours: 0.02, dispatch: 0.1, tbb: 0.01]), line("b", [Sample.ours: 0.5, dispatch: 0.4]),
  ]

  @Test func whatStandsTogetherIsOverTheSameBenchmarks() throws {
    let means = CommonMeans(
      Self.lines, arms: [Sample.ours, Self.dispatch, Self.tbb, Self.go, Sample.reference],
      ours: ["stealing", "dispatch"], reference: "foundation", seed: 1)
    #expect(
      means.together.map(\.arm) == [Sample.ours, Self.dispatch] && means.together.allSatisfy { $0.benchmarks == 2 })
    #expect(abs(means.together[0].ratio - 0.1) < 1e-12 && abs(means.together[1].ratio - 0.2) < 1e-12)
    let other = try #require(means.apart.first)
    let mean = try #require(other.mean)
    #expect(means.apart.count == 1 && other.arm == Self.tbb && mean.arm == Self.tbb && means.leader == Sample.ours)
    #expect(abs(mean.ratio - 0.5) < 1e-12 && mean.benchmarks == 1 && mean.lines == 1)
    let text = means.text(reference: "foundation", width: 120).joined(separator: "\n")
    #expect(
      text.contains("stealing@2  10.0 times as fast as foundation [10.0, 10.0]  2 benchmarks, 6 blocks"), "\(text)")
    #expect(text.contains("tbb@2 is faster: stealing@2 takes 2.00 times as long [2.00, 2.00]  1 benchmark, 6 blocks"))
    #expect(!text.contains("100 times"))
  }

  /// Means stand together over the lines that all of ours have; what lacks some of these lines stands apart.
  @Test func whatMayStandTogether() {
    func expect(
      _ what: Comment, ours: [Arm], _ lines: [CommonMeans.Line], together: [Arm: Double], apart: [Arm: Double] = [:],
      leader: Arm, benchmarks: Int = 1
    ) {
      let means = CommonMeans(
        lines, arms: ours + [Self.rayon, Self.tbb].filter { arm in lines.contains { $0.numbers[arm] != nil } },
        ours: Set(ours.map(\.subject)), reference: "foundation", seed: 1)
      func ratios(_ all: [CommonMeans.Mean]) -> [Arm: Double] {
        Dictionary(uniqueKeysWithValues: all.map { ($0.arm, ($0.ratio * 1e9).rounded() / 1e9) })
      }
      #expect(ratios(means.together) == together && ratios(means.apart.compactMap(\.mean)) == apart, what)
      #expect(means.leader == leader && means.together.allSatisfy { $0.benchmarks == benchmarks }, what)
    }
    let (ours, dispatch, tbb, rayon) = (Sample.ours, Self.dispatch, Self.tbb, Self.rayon)
    expect(
      "one of ours that lacks a line takes the line from the others of ours", ours: [ours, dispatch],
      [Self.line("a", [ours: 0.2, dispatch: 0.4, tbb: 0.1]), Self.line("b", [ours: 0.5])],
      together: [ours: 0.2, dispatch: 0.4, tbb: 0.1], leader: ours)
    expect(
      "whoever has more lines stands together over the lines of ours", ours: [ours],
      [Self.line("a", [ours: 0.2, tbb: 0.1]), Self.line("b", [tbb: 0.9])], together: [ours: 0.2, tbb: 0.1], leader: ours
    )
    expect(
      "ours without a line in common: the first of ours says over what", ours: [ours, dispatch],
      [Self.line("a", [ours: 0.2, tbb: 0.1]), Self.line("b", [dispatch: 0.5])], together: [ours: 0.2, tbb: 0.1],
      leader: ours)
    expect(
      "none is ours: what is measured in most places says over what", ours: [],
      [Self.line("a", [rayon: 0.2, tbb: 0.1]), Self.line("b", [tbb: 0.4])], together: [tbb: 0.2], apart: [rayon: 2],
      leader: tbb, benchmarks: 2)
    expect(
      "a number that is not positive takes the line", ours: [ours],
      [Self.line("a", [ours: 0.2, tbb: 0.1]), Self.line("b", [ours: 0.3, tbb: 0.9], zero: ours)],
      together: [ours: 0.2, tbb: 0.1], leader: ours)
  }

  /// The interval of a single line is that of its own comparison, not of a bootstrap over its blocks.
  @Test func aMeanOfOneLineHasItsInterval() throws {
    let values = [1: 1.0, 2: 2, 3: 4, 4: 8, 5: 16, 6: 32]
    let line = CommonMeans.Line(
      benchmark: "a", numbers: [Sample.ours: values, Sample.reference: values.mapValues { _ in 1 }])
    let mean = try #require(
      CommonMeans([line], arms: [Sample.ours], reference: "foundation", seed: 1).together.first)
    let interval = try #require(mean.interval)
    #expect(abs(interval.lowerBound - 1) < 1e-9 && abs(interval.upperBound - 32) < 1e-9)
  }

  @Test func withoutACommonBenchmarkNothingIsCompared() {
    let lines = [Self.line("a", [Sample.ours: 0.5]), Self.line("b", [Self.tbb: 0.1])]
    let means = CommonMeans(
      lines, arms: [Sample.ours, Self.tbb], ours: [Sample.ours.subject], reference: "foundation", seed: 1)
    #expect(means.apart.map(\.arm) == [Self.tbb] && means.apart.allSatisfy { $0.mean == nil })
    #expect(means.text(reference: "foundation", width: 80).contains { $0.contains("no benchmark in common") })
    // A number that is not positive has no ratio.
    let zero = Self.line("a", [Sample.ours: 1], zero: Sample.ours)
    #expect(CommonMeans([zero], arms: [Sample.ours], reference: "foundation", seed: 1).together.isEmpty)
  }
}
