import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessResults
@testable import HarnessWords

/// Limits of numbers and ratios, judged by results whose numbers are known.
struct LimitTests {
  static func limits(_ entries: String...) throws -> [Limit] {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode([Limit].self, from: Data("[\(entries.joined(separator: ","))]".utf8))
  }

  static func set(_ made: [FactsTests.Made], name: String = "a.csv") -> ResultSet {
    ResultSet(name: name, rows: FactsTests.rows(made), record: FactsTests.record())
  }

  static func entry(_ more: String, label: String = "x", params: String = "n=10", most: Double) -> String {
    "{\"label\": \"\(label)\", \"benchmark\": \"overhead/add\", \"params\": \"\(params)\", \"metric\": \"ns_per_op\", "
      + "\"subject\": \"stealing\", \"most\": \(most)\(more)}"
  }

  static let made = [("stealing", 2, 200.0), ("stealing", 4, 100.0), ("foundation", 4, 400.0)].map {
    FactsTests.Made(benchmark: "overhead/add", params: "n=10", subject: $0, workers: $1, value: $2)
  }

  @Test func aLimitIsMetMissedOrOpen() throws {
    let over = ", \"over\": {\"subject\": \"foundation\"}"
    let table = try LimitTable(
      try Self.limits(
        // The most workers count: 100 ns.
        Self.entry("", most: 110), Self.entry("", most: 90), Self.entry("", most: 100.3), Self.entry(over, most: 0.25),
        Self.entry(over, most: 0.24), Self.entry("", params: "n=11", most: 1)), [Self.set(Self.made)])
    #expect(
      table.lines.map(\.verdict) == [.less, .more, .same, .less, .more, nil])
    let text = table.text()
    #expect(text.hasPrefix("a.csv: commit unknown, a CPU; 0 of 0 blocks lost CPU time"))
    #expect(text.contains("x0.250 [0.250, 0.250]   6       x0.25     met\n"), "\(text)")
    #expect(text.contains("100 [100, 101] ns       6       110 ns    met\n"), "\(text)")
    #expect(text.hasSuffix("met: 2, missed: 2, within the interval: 1, not measured: 1\n"), "\(text)")
  }

  @Test func aLimitMayNameItsWorkers() throws {
    let two = ", \"workers\": 2"
    let table = try LimitTable(
      try Self.limits(
        Self.entry(two, most: 210), Self.entry(two, most: 190), Self.entry(", \"workers\": 3", most: 1),
        // What the ratio is over has four workers.
        Self.entry(two + ", \"over\": {\"subject\": \"foundation\"}", most: 0.5),
        Self.entry(two + ", \"over\": {\"subject\": \"stealing\"}", most: 1.9)), [Self.set(Self.made)])
    #expect(table.lines.map(\.verdict) == [.less, .more, nil, .less, .more])
  }

  /// 100 ns over 400 ns, both inverted.
  @Test func aRatioOfInversesIsTheOtherWayRound() throws {
    let over = ", \"is_inverse\": true, \"over\": {\"subject\": \"foundation\"}"
    let table = try LimitTable(
      try Self.limits(Self.entry(over, most: 4.1), Self.entry(over, most: 3.9)), [Self.set(Self.made)])
    #expect(table.lines.map(\.verdict) == [.less, .more])
  }

  /// A block in which threads waited for a CPU for more than the share does not count.
  @Test func aLimitMayLeaveOutBlocksInWhichThreadsWaited() throws {
    func table(waited: Double) throws -> LimitTable {
      let made =
        Self.made
        + [
          FactsTests.Made(
            benchmark: "overhead/add", params: "n=10", subject: "stealing", workers: 4, metric: .runDelayNsPerOp,
            value: waited)
        ]
      return try LimitTable(try Self.limits(Self.entry(", \"most_waiting\": 0.1", most: 110)), [Self.set(made)])
    }
    #expect(try table(waited: 9).lines.map(\.verdict) == [.less])
    #expect(try table(waited: 12).lines.map(\.verdict) == [nil])
  }

  /// 200 ns, and one over that.
  @Test func aNumberThatShouldBeLargeHasALimitForItsInverse() throws {
    let words = ", \"workers\": 2, \"is_inverse\": true"
    let table = try LimitTable(
      try Self.limits(Self.entry(words, most: 0.0051), Self.entry(words, most: 0.0049)), [Self.set(Self.made)])
    #expect(table.lines.map(\.verdict) == [.less, .more])
    #expect(abs((table.lines[0].estimate?.median ?? 0) - 0.005) < 0.0001)
  }

  @Test func fewBlocksDecideNothingUnlessCounted() throws {
    let few = Self.made.map { made in
      FactsTests.Made(
        benchmark: made.benchmark, params: made.params, subject: made.subject, workers: made.workers, value: made.value,
        blocks: 1)
    }
    let limits = try Self.limits(Self.entry("", most: 110), Self.entry(", \"is_exact\": true", most: 90))
    #expect(try LimitTable(limits, [Self.set(few)]).lines.map(\.verdict) == [.open, .more])
    // What the first result does not hold is looked for in the next.
    let none = Self.set([FactsTests.Made(benchmark: "overhead/other", subject: "stealing", value: 1)], name: "b.csv")
    #expect(try LimitTable(limits, [none, Self.set(Self.made)]).lines.map(\.verdict) == [.less, .more])
  }

  /// From 4 to 64 dependencies 60 more cost 3,000 ns.
  @Test func aSlopeIsWhatAStepMoreCosts() throws {
    let made = [(4.0, 1_000.0), (64, 4_000)].flatMap { radix, time in
      [(Metric.nsPerOp, time), (.nsPerEdge, time / radix)].map { metric, value in
        FactsTests.Made(
          benchmark: "overhead/add", params: "radix=\(Int(radix))", subject: "stealing", metric: metric, value: value)
      }
    }
    let slope = ", \"slope\": {\"from\": \"radix=4\", \"each\": \"ns_per_edge\"}"
    let table = try LimitTable(
      try Self.limits(
        Self.entry(slope, params: "radix=64", most: 51), Self.entry(slope, params: "radix=64", most: 49)),
      [Self.set(made)])
    #expect(table.lines.map(\.verdict) == [.less, .more])
    #expect(abs((table.lines[0].estimate?.median ?? 0) - 50.2) < 0.1)
  }

  /// The cell that a ratio is over has the detail of the limit, also where it has other parameters.
  @Test func aDetailTellsNumbersOfOneMeasurementApart() throws {
    let made = [("n=10", "stealing", "low", 3.0), ("n=10", "stealing", "high", 9), ("n=20", "foundation", "low", 1)].map
    {
      FactsTests.Made(benchmark: "overhead/add", params: "\($0);level=\($2)", subject: $1, value: $3)
    }
    let entry = Self.entry(
      ", \"detail\": \"level=low\", \"over\": {\"params\": \"n=20\", \"subject\": \"foundation\"}", most: 3.1)
    let table = try LimitTable(try Self.limits(entry), [Self.set(made)])
    #expect(table.lines[0].verdict == .less && abs((table.lines[0].estimate?.median ?? 0) - 3) < 1e-9)
  }

  @Test func whatARunMustMeasure() throws {
    let limits = try Self.limits(
      Self.entry(", \"over\": {\"benchmark\": \"overhead/other\", \"params\": \"p=0.5\"}", most: 1),
      Self.entry(", \"detail\": \"level=low\"", most: 1), Self.entry(", \"is_elsewhere\": true", params: "n=9", most: 1)
    )
    #expect(Limit.benchmarks(limits) == "^overhead/add n=10$|^overhead/other p=0[.]5$")
    #expect(limits[1].cell.params == "level=low;n=10")
  }

  /// The list in results/ reads, and names what the laboratory has.
  @Test func theListOfThisRepositoryReads() throws {
    let limits = try Limit.read(path: Checkout.path("results/targets.json"))
    #expect(limits.count > 80 && Set(limits.map(\.label)).count == limits.count)
    #expect(Set(limits.map(\.subject)).isSubset(of: ["stealing", "threadpool", "dispatch"]))
    let folder = TemporaryFolder()
    let both = Self.entry(", \"over\": {}, \"slope\": {\"from\": \"\", \"each\": \"\"}", most: 1)
    for (text, words) in [("[]", "has no limit"), ("{}", "is not a list of limits"), ("[\(both)]", "cannot be both")] {
      #expect {
        try Limit.read(path: folder.write(text, to: "l.json"))
      } throws: {
        "\($0)".contains(words)
      }
    }
  }
}
