import Glibc
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessWords

/// What stands first in the tables, and that they fit where they are shown.
struct TableLayoutTests {
  /// Six blocks in which each arm takes `factor` times as long as the reference, give or take `spread`.
  static func rows(_ arms: [(arm: Arm, factor: Double, spread: Double)], _ scenario: Scenario, metric: Metric) -> [Row]
  {
    (1...6).flatMap { block in
      arms.map { arm, factor, spread in
        Row(
          runID: "r", block: block, process: block, valueIndex: 1, cell: CellKey(scenario, arm),
          reading: Reading(metric, 9_000 * factor * (1 + spread * Double(block - 3)), count: 1))
      }
    }
  }

  /// Every subject there is beside the reference, on benchmarks with few and with many parameters.
  static func wide(_ names: [String]) -> (table: Table, set: ResultSet) {
    let arms = names.map { Arm(subject: $0, workers: 16) }
    let scenarios = [
      Scenario(BenchmarkName("overhead", "external-add"), ["ops": "10000"]),
      Scenario(
        BenchmarkName("dependencies", "metg"),
        ["imbalance": "0", "pattern": "stencil_1d_periodic", "radix": "5", "steps": "16", "width": "8"]),
      Scenario(
        BenchmarkName("dependencies", "metg"),
        ["imbalance": "1", "pattern": "spread", "radix": "5", "steps": "1600000", "width": "800000000"]),
    ]
    let metrics = [Metric.nsPerOp, .involuntarySwitchesPerOp, .bytesPerOp]
    let plan = Plan(
      scenarios: scenarios.map {
        PlannedScenario(
          scenario: $0, arms: arms, incapable: [], repeats: .calibrated(), headlines: metrics, countsAllocations: false,
          notes: [
            "the work of this graph takes at least as long as its critical path of a thousand tasks of 20 us each"
          ])
      }, effort: .full, seed: 1)
    let rows = scenarios.flatMap { scenario in
      metrics.flatMap { metric in
        Self.rows(arms.map { $0.subject == "foundation" ? ($0, 1, 0) : ($0, 0.037, 0.01) }, scenario, metric: metric)
      }
    }
    return (Table(ResultTable(rows), plan: plan, failures: [:]), ResultSet(name: "a.csv", rows: rows, record: nil))
  }

  static let names = [
    "stealing", "threadpool", "dispatch", "bare-stealing", "bare-threadpool", "bare-dispatch", "foundation",
    "raw-dispatch", "task-group",
  ]

  @Test(arguments: [40, 60, 80, 100, 120, 300])
  func theTableFits(width: Int) {
    let subjects = Self.names.map { ($0, "reference: a summary that says in one line what this subject is and does") }
    let text = Self.wide(Self.names).table.text(reference: "foundation", subjects: subjects, width: width)
    let longest = text.split(separator: "\n").max { $0.count < $1.count } ?? ""
    #expect(longest.count <= width, "\(longest)")
    // All are there: nine subjects, three scenarios, three metrics.
    #expect(text.split(separator: "x0.0372 [").count - 1 >= 8 * 9, "\(text)")
    for name in Self.names { #expect(text.contains("\(name)@16")) }
  }

  @Test(arguments: [60, 80, 100, 120])
  func theComparisonFits(width: Int) throws {
    let comparison = try Comparison(
      Self.wide(Self.names).set, reference: "foundation", metrics: .matching { _ in true }, seed: 1)
    let text = ComparisonReport(comparison).table(width: width)
    let longest = text.split(separator: "\n").max { $0.count < $1.count } ?? ""
    #expect(longest.count <= width, "\(longest)")
    for name in Self.names where name != "foundation" { #expect(text.contains("  \(name)@16 ")) }
  }

  /// What does not fit beside the ratio stands below it.
  @Test func aNarrowComparisonHasItsTimesBelow() throws {
    let comparison = try Comparison(
      Self.wide(["stealing", "foundation"]).set, reference: "foundation", metrics: .primary, seed: 1)
    let text = ComparisonReport(comparison).table(width: 50)
    #expect(text.contains("x0.0372 [0.0363, 0.0381]  faster\n      A 335 ns, B 9.00 µs, n 6\n"), "\(text)")
  }

  @Test func theRatioComesFirst() throws {
    let wide = Self.wide(["stealing", "foundation"])
    let text = wide.table.text(reference: "foundation", width: 100)
    #expect(text.contains("x0.0372 [0.0363, 0.0381]  335 ns"), "\(text)")
    #expect(text.contains("  9.00 µs\n"))
    let comparison = try Comparison(wide.set, reference: "foundation", metrics: .primary, seed: 1)
    let compared = ComparisonReport(comparison).table(width: 100)
    let line = try #require(compared.split(separator: "\n").first { $0.contains("stealing@16") })
    #expect(line.contains("stealing@16  x0.0372 [0.0363, 0.0381]  faster"), "\(line)")
  }

  /// One time may waver with the machine; what counts is the ratio within its blocks.
  @Test func theTildeIsTheRatios() {
    func text(_ spread: Double, _ other: Double) -> String {
      let plan = Sample.plan()
      let rows = Self.rows(
        [(Sample.ours, 0.5, spread), (Sample.reference, 1, other)], Sample.scenario, metric: .nsPerOp)
      return Table(ResultTable(rows), plan: plan, failures: [:])
        .text(reference: "foundation")
    }
    #expect(text(0.1, 0.1).contains("x0.500 [0.500, 0.500]  "))
    #expect(!text(0.1, 0.1).contains("]~"))
    #expect(text(0.1, 0).contains("]~  "))
  }

  @Test func bytesHaveUnits() {
    func text(_ bytes: Double) -> String { NumberFormat("bytes", bytes).text(bytes) }
    #expect(text(96) == "96.0 B" && text(2_048) == "2.05 kB" && text(3_145_728) == "3.15 MB")
    #expect(text(5_368_709_120) == "5.37 GB")
    #expect(Self.wide(["stealing", "foundation"]).table.text(reference: "foundation").contains("9.00 kB"))
  }

  /// Three significant digits once a number is rounded; a ratio has as many.
  @Test func numbersHaveTheDigitsThatTheyNeed() {
    for (unit, value, text) in [
      ("ns", 9.996, "10.0 ns"), ("ns", 99.96, "100 ns"), ("ns", 0.9996, "1.00 ns"), ("ns", 9.994, "9.99 ns"),
      ("ns", 1565, "1.57 µs"), ("ns", 1.5e9, "1.50 s"), ("bytes", 1234.5, "1.23 kB"), ("bytes/s", 2e6, "2.00 MB/s"),
      ("items/s", 0.5, "0.500 /s"), ("percent", 1.2261, "1.23 %"), ("ratio", 0.09996, "0.100"),
      ("operations", 1234.5, "1235"), ("words", 0, "0 words"), ("", 0.009996, "0.0100"), ("", 0.0009996, "0.00100"),
      ("", 7.1449e-4, "0.000714"), ("", 9.996e-5, "0.000100"), ("", 9.994e-5, "9.99e-5"), ("", -7.15e-5, "-7.15e-5"),
      ("", 9.997e-7, "1.00e-6"),
    ] { #expect(NumberFormat(unit, value).text(value) == text) }
    #expect(NumberFormat("ns", 2.5e6).text(2.5e6, 2_499_000...3_001_000) == "2.50 [2.50, 3.00] ms")
    #expect(NumberFormat.ratio(0.0258, 0.0249...0.02714) == "x0.0258 [0.0249, 0.0271]")
    #expect(NumberFormat.ratio(9.996, 9.99...10.04) == "x10.0 [9.99, 10.0]")
    #expect(NumberFormat.ratio(0.0371, 0.0364...0.0379) == "x0.0371 [0.0364, 0.0379]")
    #expect(NumberFormat.ratio(0.00304, nil) == "x0.00304")
    #expect(NumberFormat.ratio(1.024, 0.987...1.06) == "x1.02 [0.987, 1.06]")
    #expect(NumberFormat.ratio(123.4, nil) == "x123")
    #expect(NumberFormat.ratio(0, nil) == "x0")
  }

  @Test func theWidthOfATerminal() throws {
    var master: Int32 = 0
    var terminal: Int32 = 0
    var size = winsize(ws_row: 24, ws_col: 77, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&master, &terminal, nil, nil, &size) == 0)
    defer {
      close(master)
      close(terminal)
    }
    #expect(TextWidth.columns(of: terminal) == 77)
    #expect(TextWidth.columns(isTerminal: true, told: 0, asked: "90") == 90)
    #expect(TextWidth.columns(isTerminal: true, told: 0, asked: nil) == 100)
    #expect(TextWidth.columns(isTerminal: false, told: 0, asked: nil) == 120)
    #expect(TextWidth.columns(isTerminal: true, told: 3, asked: nil) == TextWidth.least)
    for nonsense in ["", "many", "-5", "0"] {
      #expect(TextWidth.columns(isTerminal: false, told: 0, asked: nonsense) == 120)
    }
  }

  /// A terminal gives a wide letter two columns and a mark on a letter none, so columns are filled up by what is seen.
  @Test func columnsAreByTheWidthThatIsSeen() {
    for (text, width) in [
      ("", 0), ("abc", 3), ("über", 4), ("u\u{308}ber", 4), ("待ち行列", 8), ("한국어", 6), ("ﾊﾝｶｸ", 4), ("Ｆｕｌｌ", 8), ("🚀", 2),
      ("👩‍👩‍👧", 2),
      ("🇩🇪", 2), ("☂", 1), ("☂\u{FE0F}", 2), ("a\u{200B}b", 2), ("\u{1100}\u{1161}", 2), ("µs ±5 %", 7), ("𠮷", 2),
    ] { #expect(TextWidth.of(text) == width, "\(text)") }
    #expect(TextWidth.padded("待ち", to: 6) == "待ち  " && TextWidth.padded("待ち行列", to: 2) == "待ち行列")
    #expect(
      TextWidth.cut("a待ち", to: 4) == "a待" && TextWidth.cut("abc", to: 9) == "abc" && TextWidth.cut("待", to: 1) == "")
    #expect(
      Table.aligned([["subject", "x"], ["待ち行列", "1"], ["ab", "2"]]) == ["subject   x", "待ち行列  1", "ab        2"])
    #expect(WrappedText.lines("待ち 行列 ab", width: 7) == ["待ち", "行列 ab"])
    let column = TableCell.Column("待ち行列", [.plain("1 ns")])
    #expect(
      column.width == 8 && TextWidth.of(column.padded(column.heading)) == 8 && column.padded("1 ns") == "1 ns    ")
  }

  @Test func textIsBrokenWhereItMayBe() {
    #expect(WrappedText.lines("one two three", width: 8, hanging: 2) == ["one two", "  three"])
    #expect(WrappedText.lines("a=1;b=22;c=3", width: 9, hanging: 2) == ["a=1;b=22;", "  c=3"])
    #expect(WrappedText.lines("far [1.0, 2.0]", width: 10) == ["far", "[1.0, 2.0]"])
    #expect(WrappedText.lines("far [so it is]", width: 10) == ["far [so it", "is]"])
    #expect(WrappedText.lines("far [95 % of it]", width: 10) == ["far [95 %", "of it]"])
    #expect(WrappedText.lines("half of 5 %", width: 9) == ["half of", "5 %"])
    #expect(WrappedText.lines("", width: 10) == [""])
  }
}
