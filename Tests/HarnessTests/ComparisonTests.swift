import FoundationEssentials
import Glibc
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessResults
@testable import HarnessStatistics
@testable import HarnessWords

struct ComparisonTests {
  /// `blocks` rows per arm: the reference takes 100 in the first block, 200 in the second and so on, ours a share of
  /// it.
  func set(
    _ name: String = "a.csv", share: Double, blocks: Int = 10, runID: String = "r", allocator: String = "system (x)",
    benchmarks: [String] = ["external-add"], outcome: RunOutcome = RunOutcome()
  ) -> ResultSet {
    let rows = benchmarks.flatMap { benchmark in
      (1...blocks).flatMap { block in
        [(Sample.ours, share), (Sample.reference, 1)].map { arm, factor in
          Row(
            runID: runID, block: block, process: block * 2, valueIndex: 1,
            cell: CellKey(Scenario(BenchmarkName("overhead", benchmark), ["ops": "10"]), arm),
            reading: Reading(.nsPerOp, 100 * Double(block) * factor, count: 10))
        }
      }
    }
    return ResultSet(name: name, rows: rows, record: Sample.record(allocator, outcome))
  }

  @Test func oneFileAgainstTheReference() throws {
    let comparison = try Comparison(set(share: 0.25), reference: "foundation", metrics: .primary, seed: 1)
    let line = try #require(comparison.lines.first)
    #expect(comparison.lines.count == 1 && line.arm == Sample.ours && line.against == "foundation@2")
    #expect(abs(line.ratio.median - 0.25) < 1e-12 && line.ratio.count == 10 && line.verdictWords == "faster")
    #expect((line.a, line.b) == (137.5, 550))
    #expect(abs(try #require(comparison.means.first).mean.ratio - 0.25) < 1e-12)
    #expect(throws: Complaint.self) {
      try Comparison(set(share: 1), reference: "nobody", metrics: .primary, seed: 1)
    }
  }

  @Test func twoFilesPairTheSameCells() throws {
    let a = set(share: 0.5, benchmarks: ["external-add", "local-add"])
    let b = set("b.csv", share: 1, runID: "other")
    let comparison = try Comparison(before: b, after: a, metrics: .primary, seed: 1)
    // What only one file has is no pair, and is named.
    #expect(comparison.lines.map(\.scenario.name.benchmark) == ["external-add", "external-add"])
    #expect(
      comparison.missing == [
        "overhead/local-add on foundation@2 (ops=10) is only in a.csv",
        "overhead/local-add on stealing@2 (ops=10) is only in a.csv",
      ])
    let report = ComparisonReport(comparison)
    #expect(
      report.table().contains(
        "\n2 cells left out:\n  overhead/local-add on foundation@2 (ops=10) is only in a.csv\n"))
    #expect(report.markdown().contains("\n2 cells left out:\n\n* "))
    let facts = try JSONTree(try FactsDocument(comparison, of: [b, a], reference: nil).json())
    #expect(facts["comparison"]["missing"].texts == comparison.missing && facts["measured"] == .null)
    #expect(comparison.lines.map(\.verdictWords) == ["faster", "no difference shown"])
    #expect(comparison.pairing.contains("different times"))
    let ofOneRun = try Comparison(before: set("b.csv", share: 1), after: a, metrics: .primary, seed: 1)
    #expect(ofOneRun.pairing.contains("one run"))
    #expect(throws: Complaint.self) {
      try Comparison(
        before: set("b.csv", share: 1, benchmarks: ["construct"]), after: a, metrics: .primary, seed: 1)
    }
  }

  /// Whatever is one name to `benchstat` would be one benchmark to it.
  @Test func cellsWithOneNameInGosFormatAreRefused() throws {
    func rows(_ names: [(String, String, Parameters)]) -> [Row] {
      names.map { family, benchmark, parameters in
        Row(
          runID: "r", block: 1, process: 1, valueIndex: 1,
          cell: CellKey(Scenario(BenchmarkName(family, benchmark), parameters), Sample.ours),
          reading: Reading(.nsPerOp, 1, count: 1))
      }
    }
    for twins in [
      [("a", "b c", [:]), ("a", "b_c", [:])], [("a", "b", [:]), ("A", "b", [:])],
      [("a", "b/k=x", [:]), ("a", "b", ["k": "x"])],
    ] as [[(String, String, Parameters)]] {
      let set = ResultSet(name: "a.csv", rows: rows(twins), record: nil)
      #expect { try GoFormat.text([set]) } throws: { error in
        (error as? Complaint)?.description.contains("in Go's format; --benchmark takes one") == true
      }
      let one = ResultSet(name: "a.csv", rows: rows([twins[0]]), record: nil)
      #expect(try GoFormat.text([one, one]).contains("Benchmark"))
    }
  }

  /// A cell that failed in either result is named with its reason, and so is a cell of which no block counts.
  @Test func whatFailedIsNamed() throws {
    func outcome(_ change: (inout RunResult) -> Void) -> RunOutcome {
      var result = RunResult()
      change(&result)
      return RunOutcome(result)
    }
    let failing = outcome { $0.failures = [CellKey(Sample.scenario, Sample.ours): "the process crashed"] }
    let line = "overhead/external-add on stealing@2 (ops=10) failed in"
    let after = try Comparison(
      before: set("b.csv", share: 1, runID: "other"), after: set(share: 1, outcome: failing), metrics: .primary, seed: 1
    )
    #expect(after.missing == ["\(line) a.csv: the process crashed"] && after.lines.count == 1)
    let both = try Comparison(
      before: set("b.csv", share: 1, runID: "other", outcome: failing), after: set(share: 1, outcome: failing),
      metrics: .primary, seed: 1)
    #expect(both.missing == ["b.csv", "a.csv"].map { "\(line) \($0): the process crashed" })
    let alone = try Comparison(
      set(share: 1, benchmarks: ["external-add", "local-add"], outcome: failing), reference: "foundation",
      metrics: .primary, seed: 1)
    #expect(alone.missing == ["\(line) a.csv: the process crashed"] && alone.lines.count == 1)
    let excluded = outcome { result in
      for benchmark in ["local-add", "external-add"] {
        for block in 1...2 {
          let place = ScenarioBlock(Scenario(BenchmarkName("overhead", benchmark), ["ops": "10"]), block: block)
          result.blocksRun.insert(place)
          if benchmark == "local-add" { result.disturbed.insert(place) }
        }
      }
    }
    let names = ["external-add", "local-add"]
    let uncounted = try Comparison(
      before: set("b.csv", share: 1, blocks: 2, runID: "other", benchmarks: names),
      after: set(share: 1, blocks: 2, benchmarks: names, outcome: excluded), metrics: .primary, seed: 1)
    #expect(uncounted.missing.count == 2)
    #expect(uncounted.missing.last == "overhead/local-add on stealing@2 (ops=10): no block of it counts in a.csv")
  }

  /// Where a number of a pair is not positive there is no ratio, not one of the other blocks.
  @Test func pairsOfBlocks() {
    let cases: [(what: Comment, numerators: [Int: Double], denominators: [Int: Double], quotients: [Int: Double])] = [
      ("only blocks that both have", [1: 2, 2: 8, 3: 1], [1: 1, 2: 2, 4: 1], [1: 2, 2: 4]),
      ("a zero takes the ratio of all blocks", [1: 2, 2: 0], [1: 1, 2: 2], [:]),
      ("a zero below takes the ratio of all blocks", [1: 2, 2: 1], [1: 1, 2: 0], [:]),
      ("a zero in a block that the other lacks counts for nothing", [1: 2, 2: 0], [1: 1, 3: -1], [1: 2]),
      ("without a common block there is no ratio", [1: 2], [2: 1], [:]),
    ]
    for one in cases {
      let quotients = Pairing.logarithms(of: one.numerators, over: one.denominators).mapValues { exp($0).rounded() }
      #expect(quotients == one.quotients, one.what)
    }
  }

  /// One scenario may have all parameters of another.
  @Test func aFailureIsOfItsOwnScenario() throws {
    func rows(_ parameters: Parameters) -> [Row] {
      (1...6).flatMap { block in
        [Sample.ours, Sample.reference].map { arm in
          Row(
            runID: "r", block: block, process: block, valueIndex: 1,
            cell: CellKey(Scenario(Sample.scenario.name, parameters), arm), reading: Reading(.nsPerOp, 1, count: 1))
        }
      }
    }
    let sets: [Parameters] = [[:], ["ops": "10"], ["ops": "10", "level": "low"]]
    for failed in sets {
      var result = RunResult()
      result.failures = [CellKey(Scenario(Sample.scenario.name, failed), Sample.ours): "crashed"]
      let cells = sets.map { CellKey(Scenario(Sample.scenario.name, $0), Sample.ours) }
      let set = ResultSet(
        name: "a.csv", rows: sets.flatMap(rows), record: Sample.record("system (x)", RunOutcome(result), cells: cells))
      #expect(set.rows.count == 30)
      #expect(!set.rows.contains { $0.cell.arm == Sample.ours && $0.cell.scenario.parameters == failed })
    }
  }

  /// The name of a machine says nothing about its CPU, its toolchain or how the program was built.
  @Test func conditionsThatDifferAreNamed() throws {
    func record(_ change: (inout [String: String]) -> Void) throws -> RunRecord {
      var fields = [
        "toolchain": "\"Swift 6.2\"", "optimisation": "\"release\"", "aslr": "\"2\"", "seed": "1", "cpu": "\"one\"",
        "allowed": "2", "kernel": "\"6.1\"", "governor": "\"performance\"", "values": "3", "host": "\"node\"",
        "peers": "{}",
      ]
      change(&fields)
      let text = """
        {"schema":3,"run_id":"r","allocator":"system (glibc 2.36)","seed":\(fields["seed"]!),"context":"","cells":[],
         "effort":{"blocks":2,"values":\(fields["values"]!),"lead_in":0,"target":1000,"budget":0,"long_blocks":0,"samples":1},
         "subjects":[],"metrics":{},"primary_times":{},"strategies":{},"peers":\(fields["peers"]!),"outcome":\(String(decoding: try Self.encoder.encode(RunOutcome()), as: UTF8.self)),
         "toolchain":\(fields["toolchain"]!),"optimisation":\(fields["optimisation"]!),"aslr":\(fields["aslr"]!),
         "machines":[{"host":\(fields["host"]!),"cpu_model":\(fields["cpu"]!),"cpus_online":2,"cpus_allowed":\(fields["allowed"]!),
         "kernel":\(fields["kernel"]!),"governor":\(fields["governor"]!),"spin":{"rounds_per_microsecond":1.5},
         "started_at":"","ended_at":""}]}
        """
      return try RunRecord.parse(Data(text.utf8), path: "a.env.json")
    }
    func conditions(_ before: RunRecord, _ after: RunRecord) throws -> [String] {
      let sets = [before, after].enumerated().map { index, record in
        ResultSet(name: "\(index).csv", rows: set(share: 1).rows, record: record)
      }
      let comparison = try Comparison(before: sets[0], after: sets[1], metrics: .primary, seed: 1)
      let table = ComparisonReport(comparison).table(width: .max)
      #expect(comparison.conditions.allSatisfy { table.contains("\nwarning: \($0)\n") })
      #expect(after.peersSentence.map { table.contains("\n\($0)\n") } ?? true)
      return comparison.conditions
    }
    let plain = try record { _ in }
    #expect(try conditions(plain, plain).isEmpty)
    for (key, value, words) in [
      ("toolchain", "\"Swift 6.3\"", "the toolchain differs: Swift 6.2 before, Swift 6.3 after"),
      ("optimisation", "\"debug\"", "the build differs: release before, debug after"),
      ("cpu", "\"two\"", "the CPU differs: one before, two after"),
      ("allowed", "1", "the number of CPUs differs: 2 of 2 before, 1 of 2 after"),
      ("kernel", "\"6.12\"", "the kernel differs: 6.1 before, 6.12 after"),
      ("governor", "\"powersave\"", "the governor differs: performance before, powersave after"),
      ("seed", "2", "the seed of inputs and orders differs: 1 before, 2 after"),
      ("values", "9", "the number of values of a process differs: 3 before, 9 after"),
      ("host", "\"other\"", nil),
    ] as [(String, String, String?)] {
      #expect(try conditions(plain, record { $0[key] = value }) == [words].compactMap { $0 }, "\(key)")
    }
    // What only one result knows is no condition that the two share.
    #expect(
      try conditions(plain, record { $0["toolchain"] = "null" })
        == ["the toolchain differs: Swift 6.2 before, not known after"])
    #expect(
      try conditions(record { $0["aslr"] = "null" }, plain)
        == ["address space layout randomisation differs: not known before, 2 after"])
    // On another machine, too.
    #expect(
      try conditions(plain, record { $0.merge(["host": "\"other\"", "cpu": "\"two\""]) { $1 } })
        == ["the CPU differs: one before, two after"])
    // What only one result measured is no difference.
    let older = try record { $0["peers"] = #"{"go":"go1.19.8","rayon":"rayon 1.6.1","tbb":"oneTBB 2021.8"}"# }
    let newer = try record { $0["peers"] = #"{"go":"go1.27.3","tbb":"oneTBB 2021.8","tbb-flow":"oneTBB 2021.8"}"# }
    #expect(try conditions(older, newer) == ["the version of go differs: go1.19.8 before, go1.27.3 after"])
    #expect(newer.peersSentence == "In other languages: go (go1.27.3); tbb, tbb-flow (oneTBB 2021.8).")
    let debug = try record { $0["optimisation"] = "\"debug\"" }
    #expect(try conditions(debug, debug) == ["both results are of debug builds, whose numbers mean nothing"])
  }

  /// Of tails the centre of the ratios and the ratio of the medians are two numbers. A comparison that shows both says
  /// what each is.
  @Test func aRatioThatIsNotThatOfItsMediansIsExplained() throws {
    // In most blocks ours takes 0.6 of the time; the median block of the reference is one in which both take very long.
    let blocks: [(ours: Double, other: Double)] = [
      (60, 100), (60, 100), (60, 100), (61, 100), (62, 9_000), (5_400, 9_000), (5_400, 9_000), (5_400, 9_000),
      (63, 9_000),
    ]
    let rows = blocks.enumerated().flatMap { index, block in
      [(Sample.ours, block.ours), (Sample.reference, block.other)].map { arm, time in
        Row(
          runID: "r", block: index + 1, process: index + 1, valueIndex: 1,
          cell: CellKey(Scenario(BenchmarkName("latency", "open-loop"), ["load": "60"]), arm),
          reading: Reading(Metric("latency_p999_ns", unit: "ns"), time, count: 10))
      }
    }
    let tails = ResultSet(name: "a.csv", rows: rows, record: Sample.record("system (x)"))
    let comparison = try Comparison(
      tails, reference: "foundation", metrics: .matching { $0 == "latency_p999_ns" }, seed: 1)
    let item =
      "latency/open-loop load=60  latency_p999_ns, stealing@2: x0.600 in the blocks, and the two medians give x0.00689"
    #expect(comparison.apartLines.count == 2 && comparison.apartLines.last == item, "\(comparison.apartLines)")
    let report = ComparisonReport(comparison)
    #expect(report.table(width: 300).contains("\nin 1 of 1 line the ratio is not that of the two numbers beside it."))
    #expect(report.table(width: 300).contains("\n  \(item)\n"), "\(report.table(width: 300))")
    #expect(report.markdown().contains("x0.600 in the blocks"))
    // Where the two agree, nothing is said.
    #expect(try Comparison(set(share: 0.25), reference: "foundation", metrics: .primary, seed: 1).apartLines.isEmpty)
  }

  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return encoder
  }()

  /// The second file is compared with the first, in every format: what takes twice as long afterwards is slower.
  @Test func whatTakesTwiceAsLongAfterwardsIsSlower() throws {
    let before = set("before.csv", share: 1)
    let after = set("after.csv", share: 2, runID: "other")
    let comparison = try Comparison(before: before, after: after, metrics: .primary, seed: 1)
    let line = try #require(comparison.lines.first { $0.arm == Sample.ours })
    #expect(abs(line.ratio.median - 2) < 1e-12 && line.verdictWords == "slower" && line.against == "before.csv")
    #expect((line.a, line.b) == (1100, 550))
    let report = ComparisonReport(comparison)
    let table = report.table()
    #expect(table.hasPrefix("before: before.csv, after: after.csv\n"), "\(table)")
    let rows = table.split(separator: "\n").map { $0.split(separator: " ") }
    let header = try #require(rows.first { $0.first == "subject" })
    #expect(header == ["subject", "after/before", "before", "after", "n"])
    let ours = try #require(rows.first { $0.contains("stealing@2") })
    #expect(ours.contains("x2.00") && ours.contains("slower"))
    let places = (before: ours.firstIndex(of: "550"), after: ours.firstIndex { $0.hasPrefix("1") && $0 != "10" })
    #expect(try #require(places.before) < (try #require(places.after)))
    #expect(table.contains("centre of the paired ratios after/before"))
    let records = parseCSV(report.csv())
    let named = Dictionary(uniqueKeysWithValues: zip(records[0], records[1]))
    #expect([named["result"], named["against"]] == ["after.csv", "before.csv"])
    #expect([named["a"], named["b"], named["ratio"], named["verdict"]] == ["1100", "550", "2", "slower"])
    let facts = try JSONTree(try FactsDocument(comparison, of: [before, after], reference: nil).json())
    #expect(facts["comparison"]["a"].text == "after.csv" && facts["comparison"]["b"].text == "before.csv")
    #expect(facts["sources"].list.map { $0["name"].text } == ["before.csv", "after.csv"])
    // benchstat takes the first file that it meets for its base.
    let go = try GoFormat.text([before, after])
    #expect(go.hasPrefix("file: before.csv\n") && go.contains("\nfile: after.csv\n"))
  }

  @Test func blocksArePairedByNumberNotByOrder() throws {
    let a = set(share: 0.5)
    let reversed = ResultSet(name: "b.csv", rows: set(share: 1).rows.reversed(), record: nil)
    let comparison = try Comparison(before: reversed, after: a, metrics: .primary, seed: 1)
    let ours = try #require(comparison.lines.first { $0.arm == Sample.ours })
    #expect(ours.logarithms.values.allSatisfy { abs($0 - -0.693147180559945) < 1e-12 })
  }

  @Test func intervalsAreWidenedForTheNumberOfComparisons() throws {
    func noisy(_ benchmarks: Int) throws -> Comparison {
      var random = SeededGenerator(seed: 3)
      let names = (1...benchmarks).map { "b\($0)" }
      let rows = set(share: 1, benchmarks: names).rows.map { row in
        Row(
          runID: row.runID, block: row.block, process: row.process, valueIndex: 1, cell: row.cell,
          reading: Reading(.nsPerOp, Double.random(in: 90...110, using: &random), count: 1))
      }
      return try Comparison(
        ResultSet(name: "a.csv", rows: rows, record: nil), reference: "foundation", metrics: .primary, seed: 1)
    }
    for count in [1, 20] {
      for line in try noisy(count).lines {
        let differences = line.logarithms.sorted { $0.key < $1.key }.map(\.value)
        let expected = try #require(
          Statistics.pairedEstimate(differences, confidence: 1 - 0.05 / Double(count)).interval)
        let interval = try #require(line.ratio.interval)
        #expect(abs(interval.lowerBound - exp(expected.lowerBound)) < 1e-12)
        #expect(abs(interval.upperBound - exp(expected.upperBound)) < 1e-12)
        let extremes = try #require(differences.min())...(try #require(differences.max()))
        #expect((expected == extremes) == (count == 20))
      }
    }
    let enough = ComparisonReport(try noisy(25)).table().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(!enough.contains("too few") && enough.contains("so wide that all 25 together hold at 95 %"), "\(enough)")
  }

  /// Before any row that says "faster": how little that means, and how many blocks would do.
  @Test func tooFewBlocksForThatManyComparisonsAreSaidFirst() throws {
    func report(blocks: Int, benchmarks: Int) throws -> ComparisonReport {
      let names = (1...benchmarks).map { "b\($0)" }
      return ComparisonReport(
        try Comparison(
          set(share: 0.25, blocks: blocks, benchmarks: names), reference: "foundation", metrics: .primary, seed: 1))
    }
    let many = try report(blocks: 10, benchmarks: 40)
    let table = many.table()
    let caution = try #require(table.range(of: "too few blocks: 40 comparisons need 11 blocks"))
    #expect(
      table.contains("Each interval by itself holds at 99.8 %: by chance up to 1 of 40 miss the truth"), "\(table)")
    #expect(caution.lowerBound < (try #require(table.range(of: "faster"))).lowerBound)
    #expect(many.markdown().contains("\n**too few blocks: 40 comparisons need 11 blocks"))
    // Three digits would read 100 %, which no interval holds at.
    let sure = try report(blocks: 14, benchmarks: 421).markdown()
    #expect(
      sure.contains("Each interval by itself holds at 99.98 %: by chance up to 1 of 421 miss"), "\(sure.prefix(800))")
    let few = try report(blocks: 5, benchmarks: 1).table()
    #expect(few.contains("too few blocks: 1 comparison needs 6 blocks for an interval, and there are 5"), "\(few)")
    #expect(!(try report(blocks: 6, benchmarks: 1).table()).contains("too few"))
  }

  /// One benchmark has one interval: a geometric mean over it alone would have another.
  @Test func aSingleLineHasNoMean() throws {
    for benchmarks in [["a"], ["a", "b"]] {
      let one = try Comparison(
        set(share: 0.25, benchmarks: benchmarks), reference: "foundation", metrics: .primary, seed: 1)
      let two = try Comparison(
        before: set("b.csv", share: 1, runID: "o", benchmarks: benchmarks),
        after: set(share: 0.25, benchmarks: benchmarks),
        metrics: .primary, seed: 1)
      for comparison in [one, two] {
        let report = ComparisonReport(comparison)
        for text in [report.table(), report.markdown()] {
          #expect(text.contains("geometric mean") == (benchmarks.count > 1), "\(text)")
        }
      }
      if benchmarks.count > 1 {
        #expect(ComparisonReport(one).table().contains("4.00 times as fast as foundation [4.00, 4.00]"))
        #expect(ComparisonReport(two).table().contains("4.00 times as fast as b.csv [4.00, 4.00]"))
      }
    }
  }

  /// Blocks shuffle the rows; each benchmark shows its subjects in the order in which the run names them.
  @Test func theSubjectsOfEachBenchmarkHaveOneOrder() throws {
    let arms = ["c", "a", "b"].map { Arm(subject: $0, workers: 2) } + [Sample.reference]
    let rows = ["x", "y", "z"].enumerated().flatMap { index, benchmark in
      (1...6).flatMap { block in
        (0..<arms.count).map { place in
          let arm = arms[(place + index) % arms.count]
          return Row(
            runID: "r", block: block, process: block, valueIndex: 1,
            cell: CellKey(Scenario(BenchmarkName("f", benchmark), [:]), arm), reading: Reading(.nsPerOp, 1, count: 1))
        }
      }
    }
    func order(_ record: RunRecord?) throws -> [String] {
      let set = ResultSet(name: "a.csv", rows: rows, record: record)
      return try Comparison(set, reference: "foundation", metrics: .primary, seed: 1).lines.map(\.arm.subject)
    }
    // Without a record, the order is that of the first row of each.
    #expect(try order(nil) == ["c", "a", "b", "c", "a", "b", "c", "a", "b"])
    let cells = ["b", "c", "a"].map {
      CellKey(Scenario(BenchmarkName("f", "x"), [:]), Arm(subject: $0, workers: 2))
    }
    #expect(try order(Sample.record("system (x)", cells: cells)) == ["b", "c", "a", "b", "c", "a", "b", "c", "a"])
  }

  /// A name out of a file obeys neither a terminal nor Markdown.
  @Test func namesAreHarmless() throws {
    let evil = "e\u{1B}[2J|`<b>\n# x"
    let comparison = try Comparison(
      set("a\u{1B}.csv", share: 0.25, benchmarks: [evil, "other"]), reference: "foundation", metrics: .primary, seed: 1)
    let report = ComparisonReport(comparison)
    for text in [report.table(), report.markdown()] {
      #expect(!text.contains("\u{1B}") && text.contains("\\u{1B}"), "\(text)")
      #expect(!text.contains("\n# x"))
    }
    let row = try #require(report.markdown().split(separator: "\n").first { $0.contains("[2J") })
    #expect(row.replacing("\\|", with: "").count { $0 == "|" } == 9 && !row.contains("<b>"), "\(row)")
  }

  @Test func markdown() throws {
    let text = ComparisonReport(
      try Comparison(set(share: 0.25, benchmarks: ["a", "b"]), reference: "foundation", metrics: .primary, seed: 1)
    ).markdown()
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines[0] == "### a.csv: A each subject, B foundation")
    #expect(lines.contains("| benchmark | metric | subject | A/B | verdict | A | B | n |"))
    #expect(
      lines.contains(
        "| `overhead/a ops=10` | ns_per_op | stealing@2 | x0.250 [0.250, 0.250] | faster | 138 ns | 550 ns | 10 |"),
      "\(text)")
    #expect(lines.contains { $0.hasPrefix("* stealing@2  4.00 times as fast as foundation") }, "\(text)")
  }

  @Test func tooFewBlocksHaveNoVerdict() throws {
    let comparison = try Comparison(set(share: 0.1, blocks: 5), reference: "foundation", metrics: .primary, seed: 1)
    #expect(comparison.lines.map(\.verdict) == [.open] && comparison.lines[0].ratio.interval == nil)
    #expect(comparison.means[0].mean.interval == nil)
  }

  @Test func excludedBlocksAndFailedCellsAreLeftOut() throws {
    var result = RunResult()
    let scenario = Sample.scenario
    result.disturbed = [ScenarioBlock(scenario, block: 2)]
    result.blocksRun = [ScenarioBlock(scenario, block: 1), ScenarioBlock(scenario, block: 2)]
    let excluding = set(share: 0.5, outcome: RunOutcome(result))
    #expect(excluding.excludedRows == 2 && !excluding.rows.contains { $0.block == 2 })
    result.failures = [CellKey(scenario, Sample.ours): "it hung"]
    let failing = set(share: 0.5, outcome: RunOutcome(result))
    #expect(Set(failing.rows.map(\.cell.arm)) == [Sample.reference])
    // Other parameters are other cells.
    #expect(Parameters("ops=10;level=high")!.contains("ops=10"))
    #expect(!Parameters("ops=100")!.contains("ops=10"))
  }

  @Test func goFormat() {
    let lines = GoFormat.lines(set(share: 0.5, blocks: 1).rows)
    #expect(
      lines == [
        "BenchmarkOverhead/external-add/ops=10/backend=stealing-2 10 50 ns/op",
        "BenchmarkOverhead/external-add/ops=10/backend=foundation-2 10 100 ns/op",
      ])
  }

  @Test func theCSVSaysWhatTheTableSays() throws {
    let report = ComparisonReport(
      try Comparison(set(share: 0.25), reference: "foundation", metrics: .primary, seed: 1))
    let records = parseCSV(report.csv())
    #expect(records.count == 3 && Set(records.map(\.count)).count == 1)
    #expect(records[1][12] == "0.25" && records[1][15] == "faster" && records[2][1] == "geometric-mean")
    #expect(report.table().contains("x0.250 [0.250, 0.250]"))
  }
}
