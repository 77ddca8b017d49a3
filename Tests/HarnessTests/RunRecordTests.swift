import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessWords

/// The record beside a result: what is written reads back, and what earlier versions wrote is read.
struct RunRecordTests {
  private func parse(_ text: String) throws -> RunRecord { try RunRecord.parse(Data(text.utf8), path: "a.env.json") }

  /// The records of the published results, in a folder and the folders in it.
  private static let published: [String] = {
    let folder = Checkout.path("results")
    return try! FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".env.json") }.map {
      "\(folder)/\($0)"
    }
  }()

  private struct Form: Decodable { let schema: Int }

  /// What earlier schemas had.
  private struct Published: Decodable {
    struct Outcome: Decodable {
      let failures: [RunOutcome.FailedCell]
      let repeats: [String: Int]?
    }
    let runId: String?
    let kind: String?
    let cells: [String]?
    let outcome: Outcome?
    let subjects: [SubjectFacts]?
    let cpusAllowed: Int?
    let kernel: String?
    let backends: [String]?
  }

  @Test func everyPublishedRecordIsRead() throws {
    #expect(Self.published.count >= 9)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    var simulations = 0
    for path in Self.published {
      let record = try #require(try RunRecord.read(path: path))
      let text = FileManager.default.contents(atPath: path)!
      #expect(try parse(record.json()) == record, "\(path)")
      if try decoder.decode(Form.self, from: text).schema == RunRecord.currentSchema {
        // The file has the fields of the record.
        if let simulation = record.simulation {
          simulations += 1
          #expect(!simulation.model.values.isEmpty && record.effort.blocks > 0 && !record.cells.isEmpty, "\(path)")
        }
        continue
      }
      let file = try decoder.decode(Published.self, from: text)
      #expect(!record.cells.isEmpty && record.commit != nil || record.simulation != nil, "\(path)")
      if file.kind == "simulated" {
        simulations += 1
        #expect(Set(record.cells.map(\.arm.subject)) == Set(file.backends!), "\(path)")
        #expect(record.simulation?.model.values.isEmpty == false && record.effort.blocks > 0, "\(path)")
        continue
      }
      // Nothing is lost on the way from sentences to fields, whatever wrote the file.
      if let cells = file.cells { #expect(record.cells.map(\.description) == cells, "\(path)") }
      if let repeats = file.outcome?.repeats {
        #expect(record.outcome.repeats.map { "\($0.cell)" } == repeats.keys.sorted(), "\(path)")
      }
      #expect(record.runID == file.runId && record.outcome.failures == file.outcome?.failures, "\(path)")
      #expect(record.cpusAllowed == file.cpusAllowed && record.kernel == file.kernel, "\(path)")
      let summaries = file.subjects?.map(\.summary) ?? []
      #expect(record.subjects.map(\.words).map(Self.rows) == summaries.map(Self.rows), "\(path)")
      #expect(record.subjects.allSatisfy { !$0.summary.contains("gives up") }, "\(path)")
    }
    #expect(simulations >= 2)
  }

  /// A summary without the number of the noun: earlier versions wrote `row 20 and 28` too.
  private static func rows(_ summary: String) -> String { summary.replacing("rows ", with: "row ") }

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

  private static let earlier = """
    {"schema": 1, "run_id": "r", "allocator": "system (x)", "seed": 1, "effort": {"blocks": 2, "values": 3, "target": 1000},
     "spin": {"rounds_per_microsecond": 1.5}, "cpus_online": 4, "cpus_allowed": 2, "kernel": "6.1", "governor": "powersave",
     "cpu_model": "One", "cells": ["a/b on s(own=lifo;least=2)@2 (n=1;m=x (y))", "a/c on go@1"],
     "subjects": [{"name": "s", "role": "ours", "summary": "a queue, with own=lifo; gives up rows 3, 20 and 21 of the contract"}],
     "strategies": {"s": [{"name": "own", "summary": "which", "usual": "fifo", "choices": [
       {"text": "lifo:N", "summary": "the Nth (N from 2 to 9); gives up row 20 and 28 of the contract"}]}]},
     "outcome": {"seconds": 1, "steal_share": 0, "disturbed_blocks": [], "excluded_blocks": [], "failures": [],
       "was_interrupted": false, "repeats": {"a/c on go@1": 5}, "seldom": ["a/c on go@1"],
       "spent": {"count a/c": {"processes": 1, "seconds": 2, "cpu_seconds": 3, "estimated_seconds": 4}}}}
    """

  @Test func theEarlierFormIsRead() throws {
    let record = try parse(Self.earlier)
    let go = CellKey(Scenario(BenchmarkName("a", "c"), [:]), Arm(subject: "go", workers: 1))
    let variant = CellKey(
      Scenario(BenchmarkName("a", "b"), ["n": "1", "m": "x (y)"]), Arm(subject: "s(own=lifo;least=2)", workers: 2))
    #expect(record.cells == [variant, go] && record.outcome.seldom == [go])
    #expect(record.outcome.repeats == [RunOutcome.Repeats(cell: go, count: 5)])
    #expect(
      record.outcome.spent == [
        RunOutcome.Spent(step: "count", benchmark: "a/c", processes: 1, seconds: 2, cpuSeconds: 3, estimatedSeconds: 4)
      ])
    #expect(record.subjects[0].summary == "a queue, with own=lifo" && record.subjects[0].givesUp == [3, 20, 21])
    let choice = try #require(record.strategies["s"]?[0].choices[0])
    #expect(choice.summary == "the Nth" && choice.range == 2...9 && choice.givesUp == [20, 28])
    #expect(record.machines.count == 1 && record.host == nil && record.cpusAllowed == 2 && record.cpuModel == "One")
    #expect(record.spin == Spin(roundsPerMicrosecond: 1.5) && record.schema == 3)
  }

  @Test func whatIsNoRecordIsRefusedInOneLine() throws {
    func complaint(_ old: String, _ new: String, sourceLocation: SourceLocation = #_sourceLocation) -> String {
      let text = Self.earlier.replacing(old, with: new)
      #expect(text != Self.earlier, sourceLocation: sourceLocation)
      do {
        _ = try parse(text)
        Issue.record("nothing was refused", sourceLocation: sourceLocation)
        return ""
      } catch { return "\(error)" }
    }
    #expect(
      complaint("\"schema\": 1", "\"schema\": 4").contains("has schema 4, and this opbench reads the schemas up to 3"))
    for (old, new) in [
      ("a/c on go@1\"]", "a/c\"]"), ("\"a/c on go@1\": 5", "\"nobody\": 5"), ("a/c on go@1\"]", "a/c on go@x\"]"),
      (": 5", ": 0"), ("1.5", "1e300"), ("\"run_id\"", "\"id\""), ("\"allocator\"", "\"heap\""),
      ("\"cpus_online\": 4", "\"cpus_online\": -4"), ("\"cpus_allowed\": 2", "\"cpus_allowed\": -2"),
      ("\"steal_share\": 0", "\"steal_share\": -1"), ("\"steal_share\": 0", "\"steal_share\": 1e308"),
      ("\"steal_share\": 0", "\"steal_share\": 0, \"swapped_pages\": -1"),
      (
        "\"failures\": []",
        "\"failures\": [{\"benchmark\": \"a/c\", \"params\": \"\", \"backend\": \"go\", \"workers\": -1, \"reason\": \"x\"}]"
      ),
    ] { #expect(complaint(old, new).contains("is not the environment that this opbench writes"), "\(new)") }
  }

  /// A key that is not known is ignored: a later version may write more, and says so by its schema when that matters.
  @Test func keysThatAreNotKnownAreIgnored() throws {
    let more = Self.earlier.replacing("\"seed\": 1,", with: "\"seed\": 1, \"weather\": {\"rain\": [1]},")
    #expect(more != Self.earlier)
    let record = try parse(more)
    let (plain, text) = (try parse(Self.earlier), try record.json())
    #expect(record == plain && !text.contains("weather"))
  }
}
