import FoundationEssentials
import Glibc
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessStatistics
@testable import HarnessWords

/// The document of facts, made of results whose numbers are known.
struct FactsTests {
  /// A number in each of some blocks: `value` times the factor of the block.
  struct Made {
    let benchmark: String
    var params = ""
    let subject: String
    var workers = 2
    var metric = Metric.nsPerOp
    let value: Double
    var blocks = 6
    var host = ""
    var zeroIn: Int?
  }

  static func rows(_ all: [Made], run: String = "r") -> [Row] {
    all.flatMap { made -> [Row] in
      let parts = made.benchmark.split(separator: "/").map(String.init)
      let cell = CellKey(
        Scenario(BenchmarkName(parts[0], parts[1]), Parameters(made.params)!),
        Arm(subject: made.subject, workers: made.workers))
      return (1...made.blocks).map { block in
        Row(
          runID: run, host: made.host, block: block, process: block, valueIndex: 1, cell: cell,
          reading: Reading(made.metric, made.zeroIn == block ? 0 : made.value * (1 + 0.001 * Double(block)), count: 1))
      }
    }
  }

  static let roles: [(String, SubjectRole)] = [
    ("stealing", .ours), ("threadpool", .ours), ("foundation", .standingReference), ("tbb", .peer),
    ("inline", .baseline),
  ]

  static func record(_ change: (inout RunRecord) -> Void = { _ in }) -> RunRecord {
    var record = RunRecord(
      runID: "r", seed: 7, effort: Effort(blocks: 6, values: 3, leadIn: 2_000_000, target: 1_000_000, budget: 9),
      cells: [])
    record.subjects = roles.map { SubjectFacts($0, role: $1, summary: "the \($0) queue") }
    (record.reference, record.allocator, record.arguments) = ("foundation", "system (glibc 2.36)", ["opbench", "run"])
    record.machines = [
      MachineSitting(
        host: "", cpuModel: "a CPU", cpusOnline: 2, cpusAllowed: 2, cpuQuota: nil, kernel: "6", governor: "-",
        spin: Spin(roundsPerMicrosecond: 1), startedAt: "", endedAt: "")
    ]
    change(&record)
    return record
  }

  static func tree(
    _ made: [Made], reference: String? = nil, claims: [PublishedClaim]? = nil, _ record: RunRecord? = record()
  ) throws -> JSONTree {
    let set = ResultSet(name: "some/a.csv", rows: rows(made), record: record)
    return try JSONTree(try FactsDocument([set], simulated: [], reference: reference, claims: claims).json())
  }

  /// Two benchmarks with everybody, and one that `tbb` cannot do.
  static let whole =
    [("overhead/add", 1.0), ("forkjoin/fib", 3.0)].flatMap { benchmark, scale in
      [("stealing", 100.0), ("threadpool", 150), ("foundation", 3_000), ("tbb", 50), ("inline", 5)].map {
        Made(benchmark: benchmark, params: "n=10", subject: $0, value: $1 * scale)
      }
    }
    + ["stealing": 200.0, "threadpool": 200, "foundation": 400].map {
      Made(benchmark: "dependencies/chain", params: "length=1000", subject: $0, value: $1)
    }

  @Test func everyCellHasItsNumberAndItsText() throws {
    let facts = try Self.tree(Self.whole)
    #expect(facts["schema"].number == 3 && facts["comparison"] == .null && facts["simulated"] == .null)
    #expect(facts["units"]["ns"][2] == .list([.number(1_000), .text(" µs")]))
    let measured = facts["measured"]
    #expect(
      measured["arms"].list.map { $0["name"].text } == [
        "stealing@2", "threadpool@2", "foundation@2", "tbb@2", "inline@2",
      ])
    #expect(
      measured["lines"].list.map { $0["benchmark"].text } == ["dependencies/chain", "forkjoin/fib", "overhead/add"])
    let line = measured["lines"][2]
    #expect(line["words"].text == "time per operation" && line["better"].text == "less")
    #expect(line["is_primary"].bool == true && line["numbers"]["n"].number == 10 && line["short"].text == "add")
    let cell = line["cells"][0]
    #expect(cell["text"].text == "100 ns" && cell["n"].number == 6 && cell["arm"].number == 0)
    #expect(cell["interval_text"].text == "100 [100, 101] ns")
    let ratio = cell["ratio"]
    #expect(ratio["text"].text == "x0.0333 [0.0333, 0.0333]" && ratio["short"].text == "x0.033")
    #expect(ratio["verdict"].text == "less" && ratio["is_rough"].bool == false && ratio["against"].number == 2)
    #expect(ratio["marked"] == ratio["text"])
    #expect(line["cells"][2]["ratio"] == .null)
    // The latency pictures say these.
    #expect(measured["slowdown_level"].number == 10)
    let samples = measured["percentile_samples"]
    #expect(samples["p99"].number == 2_000 && samples["p999"].number == 20_000)
    #expect(measured["rough"]["ratios"].number == 10 && measured["rough"]["without"].number == 0)
  }

  @Test func meansAndFindings() throws {
    let measured = try Self.tree(Self.whole)["measured"]
    let means = measured["means"][0]
    #expect(means["together"].list.map { $0["arm"].number } == [0, 1] && means["ours"].number == 0)
    #expect(means["apart"].list.map { $0["arm"].number } == [3, 4])
    #expect(abs((means["apart"][0]["value"].number ?? 0) - 0.5) < 1e-9)
    #expect(means["apart"][0]["basis"].text == "2 benchmarks, 6 blocks")
    let work = measured["kinds_of_work"]
    #expect(work.list.map { $0["key"].text } == ["everything", "overhead", "dependencies", "forkjoin"])
    let all = work[0]
    #expect(all["has_ratio"].bool == true && all["best"].number == 0 && all["rivals"].numbers == [1])
    #expect(all["certainty"].text == "sure" && all["choice"].numbers == [0] && all["against"].number == 2)
    #expect(all["topic"].text == "Everything measured" && all["what"].text == "time")
    #expect(all["means"][0]["sentence"].text?.hasPrefix("stealing takes x0.763 [") == true, "\(all["means"][0])")
    // What is only measured to compare with is no choice, however fast it is.
    #expect(all["ahead"].numbers == [3])
    #expect(work[2]["certainty"].text == "same" && work[2]["choice"].numbers == [0, 1])
    let losses = measured["losses"]
    #expect(losses.list.map { $0["arm"].number } == [0, 1] && losses[0]["count"].number == 2)
    #expect(losses[0]["lines"].list.count == 2 && losses[0]["lines"][0]["text"].text?.hasPrefix("x2.00") == true)
  }

  /// Two numbers that have no ratio are told apart by their intervals.
  @Test func zerosHaveNoRatio() throws {
    let metric = Metric("rank_error_mean", unit: "operations")
    let made = [("stealing", 4.0, Int?.none), ("threadpool", 1, 3), ("foundation", 90, nil)].map {
      Made(benchmark: "priority/rank-error", subject: $0, metric: metric, value: $1, zeroIn: $2)
    }
    let measured = try Self.tree(made)["measured"]
    let cells = measured["lines"][0]["cells"]
    // One zero takes the ratio of all blocks.
    #expect(cells[1]["ratio"] == .null && cells[0]["ratio"]["n"].number == 6)
    let work = measured["kinds_of_work"][0]
    #expect(work["key"].text == "rank-error" && work["has_ratio"].bool == false && work["best"] == .null)
    let without = work["without_ratio"]
    #expect(without["best"].numbers == [1] && without["beside"].numbers == [0, 2] && without["are_apart"].bool == true)
    #expect(work["certainty"].text == "sure" && without["line_count"].number == 1)
  }

  @Test func roundWordsAndTheFirstRows() throws {
    let made = ["stealing": 100.0, "foundation": 2_040, "tbb": 96].flatMap { name, value in
      ["fib", "uts"].map { Made(benchmark: "forkjoin/\($0)", subject: name, value: value) }
        + [Made(benchmark: "overhead/external-add", subject: name, value: value)]
    }
    let glance = try Self.tree(made)["measured"]["glance"]
    #expect(glance["ours"].number == 0 && glance["rows"].list.map { $0["key"].text } == ["add", "all", "forkjoin"])
    #expect(glance["rows"][0]["words"].text == "20.4 times as fast")
    #expect(glance["rows"][0]["means"][0]["compared"].text?.hasPrefix("20.4 times as fast as `foundation` [") == true)
    let nearest = glance["rows"][1]
    #expect(nearest["others"].numbers == [2] && nearest["count"].number == 3)
    #expect(nearest["words"].text == "level" && nearest["parts"][0]["words"].text == "level")
    #expect(nearest["parts"].list.map { $0["name"].text } == ["forkjoin", "overhead"])
    #expect(glance["rows"][2]["parts"].list.map { $0["of"].text } == ["benchmark", "benchmark"])
    let exact: [(Double, ClosedRange<Double>, String)] = [
      (20.5, 15.4...29.3, "20"), (401, 324...426, "400"), (15.1, 14.5...15.8, "15"), (1.55, 1.40...1.61, "1.6"),
      (4.56, 4.26...4.85, "4.6"), (2.53, 2.16...3.24, "2.5"), (104, 103...106, "104"), (9.97, 9...11, "10"),
      (1_234, 1_200...1_300, "1200"),
    ]
    for (value, interval, text) in exact { #expect(RoundRatio.rounded(value, within: interval) == text) }
    #expect(RoundRatio.rounded(4.56, within: nil) == "5" && RoundRatio.rounded(4.26, within: nil) == "4")
    let directions = [1.02...1.13, 0.93...1.04, 0.7...1.1, 1.05...1.2].map { RoundRatio($0.lowerBound, $0).verdict }
    #expect(directions == [.same, .same, .open, .more] && RoundRatio(1.12, 1.05...1.2).times == "1.1")
    // One digit, or as many more as keep it inside of the interval and within a tenth.
    #expect(RoundRatio.rounded(19.6, within: 19...21) == "20" && RoundRatio.rounded(19.6, within: 19...19.9) == "19.6")
    #expect(RoundRatio.rounded(1.24, within: nil) == "1.2" && RoundRatio.rounded(402, within: nil) == "400")
    #expect(RoundRatio(1, 0.5...1.6).verdict == .open && RoundRatio(3, 2...4).verdict == .more)
  }

  /// In the order of a table: by name, and the change of several decisions last.
  static let changes = [
    "own=lifo", "own=lifo:8", "least=4", "steal=all", "steal=half", "waking=all", "own=lifo;steal=half",
  ]

  static func ablation(zeroIn: Int? = nil) -> [Made] {
    [("overhead/add", 2.0), ("forkjoin/fib", 1.0)].flatMap { benchmark, factor in
      [Made(benchmark: benchmark, subject: "stealing", value: 100, blocks: 14)]
        + changes.enumerated().map { place, change in
          Made(
            benchmark: benchmark, subject: "stealing(\(change))", value: place == 0 ? 100 * factor : 100, blocks: 14,
            zeroIn: change == "steal=half" ? zeroIn : nil)
        }
    }
  }

  @Test func whatEachDecisionIsWorth() throws {
    let record = Self.record { record in
      record.subjects += [SubjectFacts("stealing(own=lifo)", role: .ours, summary: "", givesUp: [20])]
      let choices = [
        StrategyFacts.Choice(text: "lifo", summary: "the newest", givesUp: [20]),
        StrategyFacts.Choice(text: "lifo:N", summary: "the newest, and the oldest at every Nth of N turns"),
      ]
      record.strategies = [
        "stealing": [StrategyFacts(name: "own", summary: "which job", usual: "fifo", choices: choices)]
      ]
    }
    let claims = [(".*lifo", "better"), ("own=lifo", "worse"), ("none", "better")].map { pattern, expects in
      "{\"changes\": \"\(pattern)\", \"expects\": \"\(expects)\", \"metric\": \"\", "
        + "\"work\": [[\"nothing/here\", \"\"], [\"overhead/add\", \"\"]]}"
    }
    let list = try JSONDecoder().decode([PublishedClaim].self, from: Data("[\(claims.joined(separator: ","))]".utf8))
    let measured = try Self.tree(Self.ablation(), claims: list, record)["measured"]
    let ablation = measured["ablation"]
    let table = ablation["tables"][0]
    #expect(table["families"].texts == ["forkjoin", "overhead"] && table["columns"][0] == .null)
    #expect(table["changes"].list.map { $0["text"].text } == Self.changes)
    let change = table["changes"][0]
    #expect(change["verdict"].text == "worse" && change["gives_up"].numbers == [20])
    #expect(change["meaning"].text == "the newest" && change["decision"].text == "own")
    #expect(
      table["changes"][1]["meaning"].text == "the newest, and the oldest at every 8th of 8 turns"
        && table["changes"][6]["decision"].text == "")
    let worst = change["families"].list.first { $0["family"].text == "overhead" } ?? .null
    #expect(worst["text"].text == "x2.00 [2.00, 2.00]" && worst["short"].text == "+100")
    #expect(worst["share"]["text"].text == "2.00 times as long" && worst["share"]["range"].text == "[2.00, 2.00]")
    #expect(table["changes"][2]["verdict"].text == "same" && table["sizes"]["families"]["decisions"].list.count == 5)
    #expect(ablation["families"]["comparisons"].number == 21 && ablation["scenarios"]["comparisons"].number == 14)
    // More than six changes do not stand in pictures of all subjects.
    #expect(measured["has_general_view"].bool == true && measured["left_out_changes"].number == 7)
    #expect(measured["arms"].list.map { $0["is_default"].bool }.filter { $0 == true }.count == 1)
    #expect(ablation["claims"].list.map { $0["claim"].number } == [0, 1])
    #expect(ablation["claims"].list.map { $0["change"].number } == [1, 1])
    #expect(ablation["claims"].list.map { $0["verdict_on_claim"].text } == ["disagrees", "agrees"])
  }

  /// The report drops the line in which a block has no ratio, as the table in the terminal does.
  @Test func aBlockWithoutARatioTakesTheLine() throws {
    let table = try Self.tree(Self.ablation(zeroIn: 3))["measured"]["ablation"]["tables"][0]
    #expect(!table["changes"].list.contains { $0["text"].text == "steal=half" })
  }

  @Test func fewChangesStandAmongTheSubjects() throws {
    let measured = try Self.tree(
      Self.ablation().filter { !$0.subject.contains("=lifo") && !$0.subject.contains("all") })["measured"]
    #expect(measured["has_general_view"].bool == false && measured["has_default_view"].bool == true)
  }

  @Test func speedBesideCPUTime() throws {
    let made = [("stealing", 100.0, 190.0), ("foundation", 200, 200)].flatMap { name, time, cpu in
      [Made(benchmark: "overhead/add", subject: name, value: time)]
        + [Made(benchmark: "overhead/add", subject: name, metric: .cpuNsPerOp, value: cpu)]
    }
    let cost = try Self.tree(made)["measured"]["cpu_cost"]
    #expect(cost.list.count == 1 && cost[0]["family"].text == "overhead" && cost[0]["busy_text"].text == "1.90")
    #expect(cost[0]["time"]["number"].text == "0.500" && cost[0]["cpu"]["number"].text == "0.950")
  }

  /// Only a subject with one worker and more of them has what a fork costs and what workers gain.
  @Test func whatAForkCostsAndWorkersGain() throws {
    func made(_ metric: Metric, _ numbers: [(String, Int, Double)]) -> [Made] {
      numbers.map {
        Made(benchmark: "forkjoin/fib", params: "join=fork;n=25", subject: $0, workers: $1, metric: metric, value: $2)
      }
    }
    let times = made(.nsPerOp, [("stealing", 1, 4), ("stealing", 2, 2), ("tbb", 2, 20), ("inline", 1, 1)])
    let speedups = made(.speedup, [("stealing", 1, 0.5), ("stealing", 2, 1), ("tbb", 2, 0.1), ("inline", 1, 1)])
    let beside =
      made(.cpuNsPerOp, [("stealing", 1, 9), ("stealing", 2, 9)]) + made(.forkOverhead, [("stealing", 1, 3)])
    let facts = try Self.tree(times + speedups + beside)["measured"]
    let lines = facts["lines"].list
    let costs = facts["fork_cost"]
    #expect(costs.list.count == 1 && costs[0]["rows"].list.count == 1)
    let line = try #require(costs[0]["line"].number.map { lines[Int($0)] })
    #expect(line["metric"].text == "speedup" && line["params"].text == "join=fork;n=25")
    let row = costs[0]["rows"][0]
    let names = facts["arms"].list.map { $0["name"].text }
    #expect(names[Int(row["arm"].number!)] == "stealing@2" && names[Int(row["other"].number!)] == "stealing@1")
    #expect(abs(row["serial_over_one"]["value"].number! - 0.5) < 0.01)
    #expect(row["over_serial"]["value"].number.map { abs($0 - 3) < 0.1 } == true)
    #expect(abs(row["serial_over_most"]["value"].number! - 1) < 0.01)
    #expect(row["one_over_most"]["text"].text == "x2.00 [2.00, 2.00]" && row["one_over_most"]["n"].number == 6)
    #expect(try Self.tree(Self.whole)["measured"]["fork_cost"].list.isEmpty)
  }

  /// A curve whose granularity at the level is METG.
  @Test func efficiencyAgainstGranularity() throws {
    let works = [64_000.0, 8_000, 1_000, 125]
    let made =
      works.map { work in
        Made(
          benchmark: "dependencies/metg", params: "pattern=fft;work_ns=\(work)", subject: "stealing",
          metric: .efficiency, value: work / (work + 1_000), blocks: 7)
      } + [
        Made(
          benchmark: "dependencies/metg", params: "pattern=fft", subject: "stealing", metric: .metg(50), value: 2_500,
          blocks: 7)
      ]
    let measured = try Self.tree(made)["measured"]
    let curve = measured["granularity"][0]["curves"][0]
    #expect(
      curve["metg"]["text"].text == "2.51 µs" && curve["points"].list.map { $0["work"].number } == works.reversed())
    #expect(curve["points"][0]["n"].number == 7 && curve["points"][0]["efficiency"]["text"].text == "0.112")
  }

  @Test func kindsOfMachinesThatDisagree() throws {
    let made = [("a", 1.0), ("b", 2.0)].flatMap { host, factor in
      [("stealing", 100 * factor), ("foundation", 300)].map {
        Made(benchmark: "overhead/add", subject: $0, value: $1, blocks: 8, host: host)
      }
    }
    let record = Self.record { record in
      record.machines = [("a", 2), ("b", 4)].map { host, cpus in
        MachineSitting(
          host: host, cpuModel: "a CPU", cpusOnline: cpus, cpusAllowed: cpus, cpuQuota: nil, kernel: "6", governor: "-",
          spin: Spin(roundsPerMicrosecond: 1), startedAt: "", endedAt: "")
      }
    }
    let facts = try Self.tree(made, record)
    #expect(facts["measured"]["machines"]["kinds"].list.map { $0["name"].text } == ["a CPU, 2 CPUs", "a CPU, 4 CPUs"])
    #expect(facts["sources"][0]["hosts"].list.map { $0["rows"].number } == [16, 16])
    let pairs = facts["measured"]["disagreements"]["pairs"]
    #expect(pairs.list.count == 1 && pairs[0]["ratios"].list.map { $0["number"].text } == ["0.333", "0.667"])
    #expect(facts["measured"]["cpus"].number == 2)
  }

  @Test func whatIsLeftOutIsSaid() throws {
    let record = Self.record { record in
      let block = RunOutcome.Block(benchmark: "overhead/add", params: "n=10", block: 2)
      (record.outcome.disturbedBlocks, record.outcome.excludedBlocks) = ([block], [block])
      record.outcome.failures = [
        RunOutcome.FailedCell(benchmark: "forkjoin/fib", params: "n=10", backend: "tbb", workers: 2, reason: "crashed")
      ]
      (record.outcome.blockCount, record.outcome.stealShare) = (18, 0.025)
    }
    let facts = try Self.tree(Self.whole, record)
    let source = facts["sources"][0]
    #expect(source["name"].text == "a.csv" && source["kind"].text == "measured" && source["blocks"].number == 18)
    #expect(source["excluded_rows"].number == 11 && source["disturbed"]["share_text"].text == "5.6 %")
    #expect(source["steal_share_text"].text == "2.5 %" && source["blocks_words"].text == "6 blocks")
    #expect(source["environment"]["cpu_model"].text == "a CPU" && source["environment"]["seed"].number == 7)
    #expect(
      source["environment"]["effort_words"].text
        == "6 blocks; in each a process per cell with 3 values of at least 1 ms after 2 ms of lead-in")
    let failure = facts["measured"]["failures"][0]
    #expect(failure["reason"].text == "crashed" && failure["lines"].numbers == [1])
    #expect(facts["measured"]["lines"][2]["cells"][0]["n"].number == 5)
    // Without a record nothing but the rows is known.
    let bare = try Self.tree(Self.whole, nil)
    #expect(bare["sources"][0]["environment"] == .null && bare["measured"]["reference"] == .null)
    #expect(try Self.tree(Self.whole, reference: "tbb", nil)["measured"]["reference"].text == "tbb")
  }

  @Test func resultsThatDoNotBelongTogetherAreRefused() throws {
    func complaint(_ sets: [ResultSet], _ reference: String? = nil) -> String? {
      do {
        _ = try FactsDocument(sets, simulated: [], reference: reference)
        return nil
      } catch { return "\(error)" }
    }
    let set = ResultSet(name: "a.csv", rows: Self.rows(Self.whole), record: Self.record())
    let again = ResultSet(name: "b.csv", rows: Self.rows(Self.whole), record: Self.record())
    #expect(complaint([set, again])?.contains("b.csv holds the run r that a.csv holds as well") == true)
    let other = ResultSet(
      name: "c.csv", rows: Self.rows(Self.whole, run: "s"), record: Self.record { $0.allocator = "jemalloc (5)" })
    #expect(complaint([set, other])?.contains("a.csv was timed on system, c.csv on jemalloc") == true)
    #expect(complaint([set], "nobody")?.contains("--reference: nobody was not measured; there are") == true)
    #expect(complaint([set], "stealing@2") == nil)
    #expect(complaint([ResultSet(name: "e.csv", rows: [], record: nil)])?.contains("e.csv: no row counts") == true)
  }

  @Test func aComparisonIsADocument() throws {
    let set = ResultSet(name: "a.csv", rows: Self.rows(Self.whole), record: Self.record())
    let comparison = try Comparison(set, reference: "foundation", metrics: .primary, seed: 1)
    let facts = try JSONTree(try FactsDocument(comparison, of: [set], reference: nil).json())
    #expect(facts["measured"]["arms"].list.count == 5 && facts["comparison"]["b"].text == "foundation")
    let line = facts["comparison"]["lines"][0]
    #expect(line["verdict"].text == "faster" && line["a_text"].text == "201 ns" && line["n"].number == 6)
    #expect(facts["comparison"]["geometric_means"].list.count == 4)
  }
}

/// The words and texts of changes of a strategy.
struct ChangeWordsTests {
  @Test func perCentInACell() {
    let texts = [
      1: "0", 1.004: "0", 0.996: "0", 0.88: "−12", 1.2: "+20", 2.9: "+190", 3.1: "×3.1", 0.31: "×0.31", 12.3: "×12",
    ]
    for (ratio, text) in texts {
      let series = RatioSeries(benchmark: "b", logarithms: [1: log(ratio)])
      let worth = Worth(series, confidence: 0.95)
      #expect(worth.map { WorthFacts($0).short } == text)
    }
  }

  @Test func aNumberStandsForN() {
    let choices = [("lifo:N", "the oldest at every Nth turn"), ("N", "after N jobs"), ("one", "one")].map {
      StrategyFacts.Choice(text: $0, summary: $1)
    }
    let words = DecisionWords([
      FactsTests.record {
        $0.strategies = ["pool": [StrategyFacts(name: "own", summary: "which job", usual: "one", choices: choices)]]
      }
    ])
    func meaning(_ choice: String) -> String { words.meaning(of: choice, decision: "own", subject: "pool") }
    let ordinals = [2: "2nd", 3: "3rd", 11: "11th", 21: "21st", 100: "100th"]
    for (number, ordinal) in ordinals { #expect(meaning("lifo:\(number)") == "the oldest at every \(ordinal) turn") }
    #expect(meaning("1000") == "after 1000 jobs" && meaning("one") == "one" && meaning("lifo:x").isEmpty)
    #expect(
      words.meaning(of: "one", decision: "other", subject: "pool").isEmpty && words.all.map(\.usualWords) == ["one"])
  }

  @Test func whatIsNoVariant() throws {
    for name in [
      "pool", "pool()", "pool(own)", "pool(own=)", "pool(=lifo)", "(own=lifo)", "pool(own=lifo", "pool(own=lifo;)",
    ] {
      #expect(MeasuredSubjects.Variant(name) == nil, "\(name)")
    }
    let variant = try #require(MeasuredSubjects.Variant("pool(own=lifo:8;steal=half)"))
    #expect(variant.base == "pool" && variant.text == "own=lifo:8;steal=half" && variant.decision.isEmpty)
    #expect(variant.choices == [["own", "lifo:8"], ["steal", "half"]])
  }
}

struct ResamplesTests {
  /// The medians of resamples, drawn one after another and sorted, as the definition says.
  private func plain(_ values: [Double], otherwise: Double, seed: UInt64, count: Int) -> [Double] {
    var random = SeededGenerator(seed: seed, purpose: "bootstrap")
    return (0..<count).map { _ in
      let drawn = values.indices.map { _ in values[Int.random(in: 0..<values.count, using: &random)] }.filter {
        !$0.isNaN
      }
      return drawn.isEmpty ? otherwise : Statistics.median(drawn)
    }
  }

  @Test(arguments: [1, 6, 7, 33]) func mediansOfWhatWasDrawn(places: Int) {
    var noise = CoverageTests.Noise("resamples-\(places)")
    for share in [0.0, 0.3, 0.9] {
      let values = (0..<places).map { place in Double(place) / Double(places) < share ? .nan : noise.next() }
      var sums = [Double](repeating: 1, count: 200)
      Resamples.of(blocks: places, count: 200, seed: 5)
        .addMedians(of: values, otherwise: 9, weight: 0.5, to: &sums)
      #expect(sums == plain(values, otherwise: 9, seed: 5, count: 200).map { 1 + 0.5 * $0 })
    }
  }
}
