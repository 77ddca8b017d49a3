import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessWords

/// The record beside a result: what is written reads back.
struct RunRecordTests {
  private func parse(_ text: String) throws -> RunRecord { try RunRecord.parse(Data(text.utf8), path: "a.env.json") }

  /// The records of the published results, in a folder and the folders in it.
  private static let published: [String] = {
    let folder = Checkout.path("results")
    return try! FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".env.json") }.map {
      "\(folder)/\($0)"
    }
  }()

  @Test func everyPublishedRecordIsRead() throws {
    #expect(Self.published.count >= 9)
    for path in Self.published {
      let record = try #require(try RunRecord.read(path: path))
      #expect(try parse(record.json()) == record, "\(path)")
      #expect(!record.cells.isEmpty && record.effort.blocks > 0 && record.commit != nil, "\(path)")
    }
  }

  /// What this version writes is read back, field by field, and is written as the same text.
  @Test func whatIsWrittenReadsBack() throws {
    var result = RunResult()
    let odd = CellKey(
      Scenario(BenchmarkName("f", "on x (y)"), ["a": "b on c (d)", "e": ""]),
      Arm(subject: "s(own=lifo;n=2) on @", workers: 3))
    result.repeats = [odd: 7, CellKey(Sample.scenario, Sample.ours): 9]
    result.seldom = [odd]
    result.failures = [odd: "crashed"]
    result.disturbed = [ScenarioBlock(odd.scenario, block: 4)]
    result.spent = [RunOutcome.Spent(step: "time", benchmark: "f/on x (y)", processes: 2, seconds: 0.5)]
    var record = RunRecord(
      runID: "r", plan: try Sample.plan().cut(Shard(number: 1, of: 2)!), spin: Spin(roundsPerMicrosecond: 12.5),
      subjects: [SubjectFacts("s", role: .ours, summary: "ours, gives up", givesUp: [3, 20])], reference: "foundation",
      context: "g.json", arguments: ["opbench", "run"], jemalloc: "j.so", source: "/")
    record.cells.append(odd)
    record.update(RunOutcome(result))
    record.describe(Sample.result)
    record.peers = ["go": "1.2"]
    record.strategies["s"] = [
      StrategyFacts(
        name: "own", summary: "which", usual: "fifo",
        choices: [StrategyFacts.Choice(text: "lifo:N", summary: "the newest", range: 2...9, givesUp: [20])])
    ]
    let text = try record.json()
    let read = try parse(text)
    let again = try read.json()
    #expect(read == record && again == text)
    #expect(read.outcome.failures.map(\.cell) == [odd] && read.outcome.seldom == [odd])
    #expect(text.contains("\"schema\" : 3") && text.contains("\"run_id\" : \"r\""))
    #expect(read.subjects[0].words == "ours, gives up; gives up rows 3 and 20 of the contract")
    #expect(
      read.strategies["s"]?[0].choices[0].words == "the newest (N from 2 to 9); gives up row 20 of the contract")
  }

  /// A record with a number and a name for each thing that can be wrong.
  private static let whole: String = {
    var result = RunResult()
    let cell = CellKey(Sample.scenario, Sample.ours)
    (result.repeats, result.failures) = ([cell: 5], [cell: "x"])
    return try! Sample.environment(Sample.plan(), result)
  }()

  @Test func whatIsNoRecordIsRefusedInOneLine() throws {
    func complaint(_ old: String, _ new: String, sourceLocation: SourceLocation = #_sourceLocation) -> String {
      let text = Self.whole.replacing(old, with: new)
      #expect(text != Self.whole, sourceLocation: sourceLocation)
      do {
        _ = try parse(text)
        Issue.record("nothing was refused", sourceLocation: sourceLocation)
        return ""
      } catch { return "\(error)" }
    }
    for schema in [1, 2, 4] {
      #expect(
        complaint("\"schema\" : 3", "\"schema\" : \(schema)").contains(
          "has schema \(schema), and this opbench reads schema 3"))
    }
    /// `value` for `key`; what stood there goes to a key that is not known.
    func instead(_ key: String, _ value: String) -> (String, String) {
      ("\"\(key)\" :", "\"\(key)\" : \(value), \"before\" :")
    }
    for (old, new) in [
      ("overhead/external-add", "external-add"), ("12.5", "1e300"), ("\"run_id\"", "\"id\""),
      ("\"allocator\"", "\"heap\""),
      ("\"reason\" : \"x\",\n        \"workers\" : 2", "\"reason\" : \"x\", \"workers\" : -1"),
      // Numbers that no run can have had.
      instead("count", "0"), instead("cpus_online", "-4"), instead("cpus_allowed", "-2"),
      instead("cpus_allowed", "1e308"), instead("cpus_allowed", "true"), instead("rounds_per_microsecond", "-1"),
      instead("steal_share", "-1"), instead("steal_share", "1e308"), instead("steal_share", "NaN"),
      instead("steal_share", "0, \"swapped_pages\" : -1"), instead("block_count", "1.5"),
      instead("seed", "-1"), instead("seed", "1e308"), instead("blocks", "1e308"), instead("blocks", "true"),
      instead("target", "-1"), instead("blocks", "2, \"goal\" : 5"),
      instead("blocks", #"2, "goal" : {"half_width" : "0.05", "seconds" : 285}"#),
      instead("blocks", #"2, "goal" : {"half_width" : 0.05}"#),
      instead("disturbed_blocks", #"[{"benchmark" : "f/b", "params" : "", "block" : Infinity}]"#),
      // Values of another kind.
      instead("backend", "5"), instead("params", "5"), instead("workers", "\"2\""), instead("failures", "null"),
      instead("excluded_blocks", "{}"),
      instead("excluded_blocks", #"[{"benchmark" : "f/b", "params" : 5, "block" : 1}]"#),
      instead("outcome", "[]"), instead("effort", "null"), instead("machines", "{}"),
      instead("machines", #"[{"host" : 1}]"#), instead("cpu_model", #""\ud800""#),
      instead("seed", #"1, "shards" : [{}]"#),
      instead("subjects", "{}"), instead("subjects", #"["stealing"]"#), instead("role", "null"),
      instead("metrics", #"{"ns_per_op" : {"words" : 5}}"#),
      instead("metrics", #"{"ns_per_op" : {"words" : "time", "better" : "fewer"}}"#),
      instead("primary_times", #"{"a" : null}"#),
    ] { #expect(complaint(old, new).contains("is not the environment that this opbench writes"), "\(new)") }
  }

  /// A key that is not known is ignored: a later version may write more, and says so by its schema when that matters.
  @Test func keysThatAreNotKnownAreIgnored() throws {
    let more = Self.whole.replacing("\"seed\" : 1,", with: "\"seed\" : 1, \"weather\": {\"rain\": [1]},")
    #expect(more != Self.whole)
    let record = try parse(more)
    let (plain, text) = (try parse(Self.whole), try record.json())
    #expect(record == plain && !text.contains("weather"))
  }
}
