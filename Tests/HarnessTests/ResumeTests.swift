import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessWords

/// An interrupted run and the one that goes on with it are together what one run would have been.
struct ResumeTests {
  static let effort = Effort(blocks: 3, values: 2, leadIn: 1_000, target: 1_000, budget: 2_000)

  static func plan(seed: UInt64 = 1, effort: Effort = effort, allocator: Allocator = .system) -> Plan {
    let scenarios = ["external-add", "local-add"].map { name in
      PlannedScenario(
        scenario: Scenario(BenchmarkName("overhead", name), ["ops": "10"]), arms: [Sample.ours, Sample.reference],
        incapable: [], repeats: .calibrated(), headlines: [.nsPerOp], countsAllocations: name == "local-add", notes: [])
    }
    return Plan(scenarios: scenarios, effort: effort, seed: seed, allocator: allocator)
  }

  /// Writes what a run that stopped there would have left, and reads it back.
  func earlier(_ effects: FakeEffects, _ result: RunResult, killed: Bool, torn: String = "") throws -> EarlierRun {
    let folder = TemporaryFolder()
    let suffix = killed ? ".partial" : ""
    let text = CSV.line(CSV.header) + effects.rows.map(CSV.line).joined() + torn
    _ = folder.write(text, to: "a.csv\(suffix)")
    let known = killed ? effects.checkpoints.last ?? RunResult() : result
    _ = folder.write(try Sample.environment(Self.plan(), known, runID: "run"), to: "a.env.json\(suffix)")
    return try EarlierRun(csv: "\(folder.path)/a.csv", plan: Self.plan(), context: "g.json")
  }

  struct Place: Hashable {
    let cell: CellKey
    let block: Int
    let index: Int
  }

  /// Interrupted or killed after any number of processes: nothing is missing, nothing doubled, nothing measured twice.
  @Test(arguments: [false, true])
  func theUnionIsWhole(killed: Bool) throws {
    let whole = FakeEffects()
    let expected = whole.run(Self.plan(), counting: ["LD_PRELOAD": "x"])
    let places = Set(expected.rows.map { Place(cell: $0.cell, block: $0.block, index: $0.valueIndex) })
    #expect(places.count == expected.rows.count)
    for limit in 0...whole.requests.count {
      let first = FakeEffects()
      first.answer = { request in
        if first.requests.count > limit {
          first.isInterrupted = true
          return FakeEffects.outcome(.interrupted, [])
        }
        return FakeEffects.success(request)
      }
      let interrupted = first.run(Self.plan(), counting: ["LD_PRELOAD": "x"])
      let left = try earlier(first, interrupted, killed: killed)
      #expect(left.runID == "run" && left.spin == Spin(roundsPerMicrosecond: 12.5))
      let second = FakeEffects()
      let result = second.run(Self.plan(), counting: ["LD_PRELOAD": "x"], earlier: left)
      #expect(!result.wasInterrupted && result.repeats == expected.repeats)
      #expect(result.rows.count == places.count)
      #expect(Set(result.rows.map { Place(cell: $0.cell, block: $0.block, index: $0.valueIndex) }) == places)
      #expect(Set(result.rows.map(\.process)).count == 14, "a process number was used twice")
      #expect(second.timed.count == 12 - left.rows.count { $0.block > 0 })
      #expect(Set(second.rows).isDisjoint(with: left.rows))
    }
  }

  @Test func halfARowCostsItsProcess() throws {
    let first = FakeEffects()
    let result = first.run(Self.plan())
    let last = try #require(first.rows.last)
    let torn = try earlier(first, result, killed: true, torn: "1,run,3,\(last.process + 1),1,overh")
    #expect(torn.rows.count == first.rows.count - 1 && !torn.rows.contains { $0.process == last.process })
    let second = FakeEffects()
    #expect(second.run(Self.plan(), earlier: torn).rows.count == first.rows.count)
    #expect(second.requests.count == 1)
  }

  /// A write that was cut at the end of a row looks like a whole process, but for the zero byte before it.
  @Test func rowsThatWereNotAllWrittenDoNotCount() throws {
    let first = FakeEffects()
    let result = first.run(Self.plan())
    let last = first.rows.removeLast()
    let cut = try earlier(first, result, killed: true, torn: "\0" + String(CSV.line(last).dropFirst()))
    #expect(cut.rows == first.rows)
  }

  /// Which run goes on, and with which rows, when a kill left the files of two runs, or only one file.
  @Test func filesThatAKillLeaves() throws {
    let first = FakeEffects()
    let result = first.run(Self.plan())
    let rows = CSV.line(CSV.header) + first.rows.map(CSV.line).joined()
    let own = try Sample.environment(Self.plan(), result, runID: "run")
    let other = try Sample.environment(Self.plan(), result, runID: "other")
    func earlier(_ files: [String: String]) throws -> EarlierRun {
      let folder = TemporaryFolder()
      for (name, text) in files { _ = folder.write(text, to: name) }
      return try EarlierRun(csv: "\(folder.path)/a.csv", plan: Self.plan(), context: "g.json")
    }
    // Between the two renames at the end, over an older result.
    let published = try earlier(["a.csv": "older", "a.env.json": own, "a.csv.partial": rows])
    #expect(published.runID == "run" && published.rows == first.rows)
    // Before the environment is known: a new run, and one that goes on.
    for header in ["", "\0che", CSV.line(CSV.header)] { #expect(try earlier(["a.csv.partial": header]).runID == nil) }
    #expect(try earlier(["a.csv": rows, "a.env.json": own, "a.csv.partial": ""]).rows == first.rows)
    #expect(try earlier(["a.csv": rows, "a.env.json": own, "a.csv.partial": CSV.line(CSV.header)]).runID == nil)
    // Between the new environment and the new CSV: a new run, and one that goes on.
    let begun = try earlier(["a.env.json.partial": other, "a.csv.partial": rows, "a.csv": rows, "a.env.json": own])
    #expect(begun.runID == "other" && begun.rows.isEmpty)
    let going = try earlier(["a.env.json.partial": own, "a.csv.partial": "", "a.csv": rows, "a.env.json": own])
    #expect(going.runID == "run" && going.rows == first.rows)
    // What no kill leaves.
    for files in [["a.csv": rows, "a.env.json": other], ["a.csv.partial": rows, "a.env.json": other]] {
      #expect(throws: Complaint.self) { try earlier(files) }
    }
  }

  /// At another machine: what is whole stays, a block of which that machine has run a part runs again, and everything
  /// is calibrated anew.
  @Test func aRunGoesOnAtAnotherMachine() throws {
    for limit in 0...18 {
      let first = FakeEffects()
      first.answer = { request in
        if first.requests.count > limit {
          first.isInterrupted = true
          return FakeEffects.outcome(.interrupted, [])
        }
        return FakeEffects.success(request)
      }
      let interrupted = first.run(Self.plan(), counting: ["LD_PRELOAD": "x"])
      let folder = TemporaryFolder()
      _ = folder.write(CSV.line(CSV.header) + first.rows.map(CSV.line).joined(), to: "a.csv")
      _ = folder.write(try Sample.environment(Self.plan(), interrupted, runID: "run"), to: "a.env.json")
      let here = try EarlierRun(csv: "\(folder.path)/a.csv", plan: Self.plan(), context: "g.json")
      let there = try EarlierRun(csv: "\(folder.path)/a.csv", plan: Self.plan(), context: "g.json", host: "elsewhere")
      #expect(here.rows.count == first.rows.count && here.begunElsewhere.isEmpty && here.repeats == interrupted.repeats)
      #expect(there.repeats.isEmpty && there.spin == nil && there.machines.map(\.host) == [Host.name])
      let blocks = Dictionary(grouping: here.rows) { ScenarioBlock($0.cell.scenario, block: $0.block) }
      let whole = blocks.filter { $0.value.count == 2 }.values.flatMap { $0 }
      #expect(Set(there.rows) == Set(whole), "after \(limit) processes")
      #expect(there.begunElsewhere.count == blocks.count { $0.value.count == 1 })
      // What goes on there has each process once, and each block on one machine.
      let second = FakeEffects()
      let result = second.run(Self.plan(), counting: ["LD_PRELOAD": "x"], earlier: there)
      #expect(Set(result.rows.map { Place(cell: $0.cell, block: $0.block, index: 1) }).count == result.rows.count)
      #expect(result.rows.count == 14 && second.requests.count { $0.isCalibration } == 4)
    }
  }

  /// A machine that lost its power may lose what is not on the disk yet: the finished blocks are.
  @Test func publishedBlocksAreKeptWhenTheUnfinishedFileIsLost() throws {
    let plan = try Self.plan().cut(Shard(number: 1, of: 1)!)
    let effects = FakeEffects()
    let result = effects.run(plan)
    let published = effects.published[1]
    var known = result
    known.rows = published
    for left in ["", CSV.line(CSV.header), CSV.line(CSV.header) + effects.rows.prefix(3).map(CSV.line).joined()] {
      let folder = TemporaryFolder()
      _ = folder.write(CSV.line(CSV.header) + published.map(CSV.line).joined(), to: "a.csv")
      _ = folder.write(try Sample.environment(plan, known, runID: "run"), to: "a.env.json")
      _ = folder.write(try Sample.environment(plan, result, runID: "run"), to: "a.env.json.partial")
      _ = folder.write(left, to: "a.csv.partial")
      let earlier = try EarlierRun(csv: "\(folder.path)/a.csv", plan: plan, context: "g.json")
      let places = Set(published.map { Place(cell: $0.cell, block: $0.block, index: 1) })
      let found = earlier.rows.map { Place(cell: $0.cell, block: $0.block, index: 1) }
      // The third row is the first of a block; the process after it runs again, as after any kill.
      #expect(Set(found).count == found.count && Set(found).isSubset(of: places))
      #expect(places.subtracting(found).count <= 1, "\(left.count) bytes left")
      let second = FakeEffects()
      #expect(second.run(plan, earlier: earlier).rows.count == 12)
    }
  }

  @Test func anotherShardIsRefused() throws {
    let plan = try Self.plan().cut(Shard(number: 1, of: 3)!)
    let folder = TemporaryFolder()
    let effects = FakeEffects()
    let result = effects.run(plan)
    _ = folder.write(CSV.line(CSV.header) + effects.rows.map(CSV.line).joined(), to: "a.csv")
    _ = folder.write(try Sample.environment(plan, result, runID: "run"), to: "a.env.json")
    func complaint(_ plan: Plan) -> String? {
      do {
        _ = try EarlierRun(csv: "\(folder.path)/a.csv", plan: plan, context: "g.json")
        return nil
      } catch { return "\(error)" }
    }
    #expect(complaint(plan) == nil)
    for (other, words) in [
      (try Self.plan().cut(Shard(number: 2, of: 3)!), "2/3"), (try Self.plan().cut(Shard(number: 1, of: 2)!), "1/2"),
      (Self.plan(), "the whole plan"),
    ] {
      #expect(complaint(other)?.contains("1/3") == true && complaint(other)?.contains(words) == true)
    }
  }

  @Test func failedCellsStayFailedAndDisturbedBlocksDisturbed() throws {
    let first = FakeEffects()
    first.answer = { request in
      request.subject == "stealing" ? FakeEffects.outcome(.signalled(11), []) : FakeEffects.success(request)
    }
    var result = first.run(Self.plan())
    let place = ScenarioBlock(Self.plan().scenarios[0].scenario, block: 2)
    result.disturbed = [place]
    let left = try earlier(first, result, killed: false)
    #expect(left.failures == result.failures && left.disturbed == [place])
    let second = FakeEffects()
    #expect(second.run(Self.plan(), earlier: left).failures == result.failures)
    #expect(second.requests.isEmpty)
  }

  @Test func anotherPlanIsRefusedInOneLine() throws {
    let folder = TemporaryFolder()
    let csv = "\(folder.path)/a.csv"
    func complaint(_ plan: Plan = Self.plan(), context: String = "g.json") -> Complaint? {
      do {
        _ = try EarlierRun(csv: csv, plan: plan, context: context)
        return nil
      } catch { return error as? Complaint }
    }
    #expect(complaint()?.code == .noInput)
    _ = folder.write(CSV.line(CSV.header), to: "a.csv")
    #expect(complaint()?.code == .noInput)
    _ = folder.write("{}", to: "a.env.json")
    #expect(complaint()?.code == .badInput)
    let environment = try Sample.environment(Self.plan(), RunResult())
    // A spin that no CPU has, and no repeat at all, would crash the processes that go on with them.
    let never = """
      "repeats" : [{"cell": {"benchmark": "a/b", "params": "", "backend": "c", "workers": 1}, "count": 0}
      """
    for (found, odd) in [(": 12.5", ": 1e300"), (": 12.5", ": -1"), ("\"repeats\" : [", never)] {
      let changed = environment.replacing(found, with: odd)
      #expect(changed != environment)
      _ = folder.write(changed, to: "a.env.json")
      #expect(complaint()?.code == .badInput, "\(odd)")
    }
    _ = folder.write(environment, to: "a.env.json")
    #expect(complaint() == nil)
    var longer = Self.effort
    longer.blocks = 4
    for (other, word) in [
      (complaint(Self.plan(seed: 2)), "seed 1"), (complaint(Self.plan(effort: longer)), "4 blocks"),
      (complaint(Self.plan(allocator: .jemalloc)), "allocator"), (complaint(context: ""), "the input g.json"),
      (complaint(Sample.plan(effort: Self.effort)), "cell"),
    ] {
      #expect(other?.code == .badInput && other?.description.contains(word) == true, "\(String(describing: other))")
    }
  }
}

extension MeasureRequest {
  fileprivate var isCalibration: Bool { if case .calibrate = mode { true } else { false } }
}
