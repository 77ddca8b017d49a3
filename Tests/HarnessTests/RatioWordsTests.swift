import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessWords

/// How a ratio of times reads, and which ratios may stand beside one another.
struct RatioWordsTests {
  private struct Case: Decodable {
    let ratio: Double
    let low: Double?
    let high: Double?
    let compared: String
    let sentence: String
  }

  /// Terminal, page and README say the same words: a page puts them together from the parts in the document of facts.
  @Test func theWordsAndTheirParts() throws {
    let data = try #require(
      FileManager.default.contents(atPath: Checkout.path("Tests/HarnessTests/Fixtures/ratio-words.json")))
    let cases = try JSONDecoder().decode([Case].self, from: data)
    #expect(cases.count >= 9)
    for one in cases {
      let words = RatioWords(one.ratio, one.low.flatMap { low in one.high.map { low...$0 } })
      #expect(words.compared(with: "tbb") == one.compared)
      #expect(words.sentence("stealing", against: "tbb") == one.sentence)
      let parts = RatioWordsFacts(one.ratio, one.low.flatMap { low in one.high.map { low...$0 } })
      let range = parts.range.map { " \($0)" } ?? ""
      switch parts.kind {
      case .fewer: #expect("\(parts.times) times as fast as tbb\(range)" == one.compared)
      case .more: #expect("\(parts.times) times as long as tbb\(range)" == one.compared)
      case .near: #expect("x\(parts.times)\(range) of tbb's time" == one.compared)
      }
    }
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

  /// Six blocks in which each arm takes the reference's time, times the arm's factor.
  static func line(_ benchmark: String, _ factors: [Arm: Double]) -> CommonMeans.Line {
    let all = factors.merging([Sample.reference: 1]) { $1 }
    return CommonMeans.Line(
      benchmark: benchmark,
      numbers: all.mapValues { factor in
        Dictionary(uniqueKeysWithValues: (1...6).map { ($0, 100 * factor * Double($0)) })
      })
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
    let zero = CommonMeans.Line(benchmark: "a", numbers: [Sample.ours: [1: 0, 2: 1], Sample.reference: [1: 1, 2: 1]])
    #expect(CommonMeans([zero], arms: [Sample.ours], reference: "foundation", seed: 1).together.isEmpty)
  }
}
