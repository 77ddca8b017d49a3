import FoundationEssentials
import Glibc
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessWords

/// What `merge` makes of shards, what it refuses, and what it says is missing.
struct MergeTests {
  let shards = Shards()

  /// A folder with shards that `FakeEffects` has measured.
  final class Shards {
    let folder = TemporaryFolder()
    let whole: Plan
    let count: Int
    private(set) var worlds: [Int: RunResult] = [:]

    init(blocks: Int = 7, count: Int = 3, seed: UInt64 = 1) {
      whole = ShardTests.plan(blocks: blocks, seed: seed)
      self.count = count
    }

    /// Writes a shard as if a machine had measured it. `rows` and `environment` change what is written.
    @discardableResult
    func write(
      _ number: Int, host: String = "n1", name: String? = nil, cut: Int? = nil, plan: Plan? = nil,
      kind: String = "Invented", rows: ([Row]) -> [Row] = { $0 }, environment: (String) -> String = { $0 }
    ) throws -> String {
      let plan = try (plan ?? whole).cut(Shard(number: number, of: cut ?? count)!)
      let effects = FakeEffects()
      var result = effects.run(plan, counting: ["LD_PRELOAD": "x"])
      let runID = "run-\(name ?? "\(number)")"
      result.rows = rows(
        result.rows.map {
          Row(
            runID: runID, host: host, block: $0.block, process: $0.process, valueIndex: $0.valueIndex, cell: $0.cell,
            reading: $0.reading)
        })
      worlds[number] = result
      let file = name ?? "shard-\(number)-of-\(count).csv"
      let own = try Sample.environment(plan, result, runID: runID)
        .replacing("\"host\" : \"\(Host.name)\"", with: "\"host\" : \"\(host)\"")
        .replacing("\"machines\" : [", with: "\"counting_allocator\" : \"jemalloc\",\n  \"machines\" : [")
        .replacing("\"cpu_model\" : \"\(CPUs.modelName ?? "")\"", with: "\"cpu_model\" : \"\(kind)\"")
        .replacing(
          "\"arguments\" : [\n\n  ]",
          with: "\"arguments\" : [\"opbench\", \"run\", \"--shard\", \"\(number)/\(count)\", \"--output\", \"x.csv\"]")
      _ = folder.write(environment(own), to: String(file.dropLast(4)) + ".env.json")
      return folder.write(CSV.line(CSV.header) + result.rows.map(CSV.line).joined(), to: file)
    }

    func all() throws -> [String] { try (1...count).map { try write($0, host: "n\(($0 - 1) % 2 + 1)") } }
  }

  func campaign(_ paths: [String]) throws -> Campaign { try Campaign(paths.map { try ShardFile(path: $0) }) }

  func complaint(_ paths: [String], sourceLocation: SourceLocation = #_sourceLocation) -> Complaint? {
    do {
      _ = try campaign(paths)
      Issue.record("nothing was refused", sourceLocation: sourceLocation)
      return nil
    } catch { return error as? Complaint }
  }

  func expect(
    _ complaint: Complaint?, _ code: Complaint.Code = .badInput, _ words: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(complaint?.code == code, "\(String(describing: complaint))", sourceLocation: sourceLocation)
    for word in words {
      #expect(
        complaint?.description.contains(word) == true, "\(word) is not in \(String(describing: complaint))",
        sourceLocation: sourceLocation)
    }
  }

  @Test func whatIsWholeIsMergedWithoutLoss() throws {
    let found = try campaign(try shards.all().reversed())
    #expect(found.missing.isEmpty && found.processes == 7 * 6 + 4)
    let merged = MergedResult(found, isWhole: true)
    let expected = (1...3).flatMap { shards.worlds[$0]!.rows }
    #expect(merged.lines == expected.map(CSV.line).joined() && merged.header == CSV.header)
    // The merged files are read as a result, and every machine and run is named in them.
    let csv = shards.folder.write(CSV.line(merged.header) + merged.lines, to: "all.csv")
    _ = shards.folder.write(try merged.record.json(), to: "all.env.json")
    let set = try ResultSet.read(path: csv)
    #expect(set.rows.count == expected.count && set.machines?.count == 2)
    let record = try #require(set.record)
    #expect(record == merged.record)
    #expect(record.shard == nil && record.plan == nil && record.shards?.map(\.runID) == ["run-1", "run-2", "run-3"])
    #expect(
      record.machines.map(\.host) == ["n1", "n2", "n1"] && record.host == "n1; n2"
        && record.outcome.rowCount == expected.count)
    #expect(record.arguments == ["opbench", "run"] && !record.outcome.wasInterrupted)
    #expect(record.outcome.blockCount == 21)
    let kept = record.shards ?? []
    #expect(kept.map { $0.machines?.map(\.host) } == [["n1"], ["n2"], ["n1"]])
    #expect(kept.map(\.shard) == (1...3).map { Shard(number: $0, of: 3) })
    #expect(kept.map { $0.outcome?.rowCount } == (1...3).map { shards.worlds[$0]!.rows.count })
    // Neither is it resumed.
    #expect(throws: Complaint.self) {
      try EarlierRun(csv: csv, plan: ShardTests.plan(blocks: 7), context: "g.json")
    }
  }

  /// With the plan that the first shard has fixed, a file that does not belong to it is a missing shard.
  @Test func whatDoesNotBelongToTheFixedPlanIsMissing() throws {
    let paths = try shards.all()
    let plan = "\(shards.folder.path)/plan.json"
    func facts(_ number: Int, _ whole: Plan) throws -> CampaignPlan {
      let shard = Shard(number: number, of: 3)!
      return CampaignPlan(
        try whole.cut(shard), shard: shard, context: "g.json", arguments: ["opbench", "run"], source: "/")
    }
    func read(_ paths: [String]) throws -> (missing: [Int], said: [String]) {
      var said: [String] = []
      let campaign = try Campaign(
        paths.map { try ShardFile(path: $0) }, plan: (try CampaignPlan.read(plan), plan)
      ) { said.append($0) }
      return (campaign.missing.map(\.shard.number), said)
    }
    try facts(2, shards.whole).fix(plan, goingOnWith: nil)
    // A later shard with the same plan finds the file as it is.
    let first = shards.folder.read("plan.json")
    try facts(1, shards.whole).fix(plan, goingOnWith: paths[0])
    #expect(shards.folder.read("plan.json") == first && shards.folder.contents.count { $0.contains("plan.json") } == 1)
    #expect(try read(paths) == ([], []))
    #expect(try read([]).missing == [1, 2, 3])
    // One of another seed: without the plan nobody knows which of the two is the wrong one.
    let other = ShardTests.plan(blocks: 7, seed: 2)
    try shards.write(1, plan: other)
    expect(complaint(paths), .badInput, "seed 1", "the other has 2", "nothing was merged")
    let found = try read(paths)
    #expect(found.missing == [1] && found.said.count == 1, "\(found)")
    #expect(
      found.said.first?.contains("shard-1-of-3.csv does not belong to \(plan): it has seed 2") == true, "\(found)")
    // Such a shard does not begin, and does not go on with such a file.
    for (code, action) in [
      (Complaint.Code.unavailable, { try facts(3, other).fix(plan, goingOnWith: nil) }),
      (.badInput, { try facts(1, shards.whole).fix(plan, goingOnWith: paths[0]) }),
    ] {
      do {
        try action()
        Issue.record("nothing was refused")
      } catch { expect(error as? Complaint, code, "seed 2") }
    }
    for text in ["", "{}", first!.replacing("\"blocks\" : 7", with: "\"blocks\" : 0")] {
      _ = shards.folder.write(text, to: "plan.json")
      #expect(throws: Complaint.self) { try CampaignPlan.read(plan) }
    }
  }

  /// The numbers of merged shards are those of one run of the plan, whichever machine has measured a block.
  @Test func aComparisonOfMergedShardsPairsWithinMachines() throws {
    let shards = Shards(blocks: 12, count: 4)
    // Machine n2 is ten times as slow; ours takes a quarter of the reference's time on both.
    let paths = try (1...4).map { number in
      try shards.write(number, host: number % 2 == 0 ? "n2" : "n1") { rows in
        rows.map { row in
          let value = (number % 2 == 0 ? 1_000.0 : 100) * (row.cell.arm == Sample.ours ? 0.25 : 1)
          return Row(
            runID: row.runID, host: row.host, block: row.block, process: row.process, valueIndex: row.valueIndex,
            cell: row.cell, reading: Reading(row.reading.metric, value, count: 1))
        }
      }
    }
    let merged = MergedResult(try campaign(paths), isWhole: true)
    let rows = try CSV.rows((CSV.line(merged.header) + merged.lines).utf8, source: "all.csv")
    let set = ResultSet(name: "all.csv", rows: rows, record: merged.record)
    let comparison = try Comparison(set, reference: "foundation", metrics: .primary, seed: 1)
    for line in comparison.lines {
      #expect(abs(line.ratio.median - 0.25) < 1e-12 && line.ratio.count == 12 && line.ratio.interval == 0.25...0.25)
    }
    #expect(comparison.lines.count == 3 && comparison.machines?.kinds.count == 1 && comparison.disagreements.isEmpty)
    let table = ComparisonReport(comparison).table()
    #expect(table.contains("on 2 machines of one kind: 2 x Invented") && table.contains("(n1, n2)"))
  }

  @Test func rowsOfTwoMachinesAreNoPair() throws {
    func set(_ hosts: (Arm, Int) -> String) -> ResultSet {
      let rows = (1...6).flatMap { block in
        [Sample.ours, Sample.reference].map { arm in
          Row(
            runID: "r", host: hosts(arm, block), block: block, process: block, valueIndex: 1,
            cell: CellKey(Sample.scenario, arm), reading: Reading(.nsPerOp, arm == Sample.ours ? 1 : 2, count: 1))
        }
      }
      return ResultSet(name: "a.csv", rows: rows, record: nil)
    }
    let mixed = try Comparison(
      set { arm, block in arm == Sample.ours && block > 4 ? "n2" : "n1" }, reference: "foundation", metrics: .primary,
      seed: 1)
    #expect(mixed.lines.map(\.ratio.count) == [4])
    let apart = set { arm, _ in arm == Sample.ours ? "n2" : "n1" }
    #expect(try Comparison(apart, reference: "foundation", metrics: .primary, seed: 1).lines.isEmpty)
  }

  @Test func kindsThatDisagreeAreNamed() throws {
    func series(_ what: String, _ first: Double, _ second: Double, count: Int = 10) -> KindDisagreement.Series {
      func noisy(_ centre: Double) -> [Double] {
        (0..<count).map { number in
          let noise = Double(number % 5 - 2)
          return log(centre) + 0.01 * noise
        }
      }
      return .init(what: what, logarithms: ["Fast, 2 CPUs": noisy(first), "Slow, 8 CPUs": noisy(second)])
    }
    let all = [series("same", 0.5, 0.5), series("near", 0.5, 0.6), series("far", 0.5, 2)]
    let found = KindDisagreement.all(all)
    #expect(found.map(\.what) == ["far", "near"])
    let sentence = try #require(KindDisagreement.sentence(found, of: 3))
    for word in ["2 of 3 ratios", "far", "on Fast, 2 CPUs", "on Slow, 8 CPUs"] { #expect(sentence.contains(word)) }
    #expect(KindDisagreement.sentence([], of: 3) == nil)
    // Too few blocks have no interval, and so cannot disagree.
    #expect(KindDisagreement.all([series("few", 0.5, 2, count: 5)]).isEmpty)
    // With one kind there is nothing to compare.
    #expect(KindDisagreement.all([.init(what: "one", logarithms: ["Fast": [1, 1, 1, 1, 1, 1]])]).isEmpty)
  }

  @Test func whatIsMissingIsNamedWithItsCommand() throws {
    let first = try shards.write(1)
    let plan = try shards.whole.cut(Shard(number: 2, of: 3)!)
    let lost = plan.blockNumbers[0]
    let second = try shards.write(2) { rows in
      rows.filter {
        !($0.block == lost && $0.cell.arm == Sample.ours && $0.cell.scenario.name.benchmark == "local-add")
      }
    }
    let found = try campaign([first, second])
    #expect(found.missing.map(\.shard.number) == [2, 3])
    let cell = CellKey(plan.scenarios[1].scenario, Sample.ours)
    #expect(found.missing[0].missing == [.time(cell, block: lost)])
    #expect(found.missing[0].text.contains("1 of") && found.missing[0].text.contains("block \(lost)"))
    let arguments = ["opbench", "run", "--benchmark", "a b|c", "--shard", "1/3", "--output", "x.csv", "--resume"]
    #expect(
      found.missing[0].command(arguments, folder: "f")
        == "opbench run --benchmark 'a b|c' --shard 2/3 --output \(second) --resume")
    #expect(
      found.missing[1].command(arguments, folder: "f")
        == "opbench run --benchmark 'a b|c' --shard 3/3 --output f/shard-3-of-3.csv")
    #expect(found.missing[1].text.contains("shard 3/3 is missing"))
    // Incomplete, the result says that it is.
    #expect(MergedResult(found, isWhole: false).record.outcome.wasInterrupted)
  }

  /// A missing count of allocations is missing, unless the machine cannot count.
  @Test func countsAreJudgedByThePlanToo() throws {
    let paths = try (1...3).map { try shards.write($0) { rows in rows.filter { $0.block > 0 } } }
    let found = try campaign(paths)
    #expect(found.missing.reduce(0) { $0 + $1.missing.count } == 4)
    #expect(found.missing.allSatisfy { $0.text.contains("of allocations") })
    let unable = try (1...3).map { number in
      try shards.write(
        number, rows: { $0.filter { $0.block > 0 } },
        environment: { $0.replacing("\"counting_allocator\" : \"jemalloc\",", with: "") })
    }
    let without = try campaign(unable)
    #expect(without.missing.isEmpty && without.uncounted.first?.contains("n1") == true)
  }

  @Test func aCellThatFailedIsNotMissing() throws {
    let failed = CellKey(shards.whole.scenarios[0].scenario, Sample.ours)
    let outcome = """
      "failures" : [{"benchmark": "overhead/external-add", "params": "ops=10", "backend": "stealing", "workers": 2, "reason": "it crashed"}]
      """
    let paths = try (1...3).map { number in
      try shards.write(
        number, rows: { number == 2 ? $0.filter { $0.cell != failed } : $0 },
        environment: { number == 2 ? $0.replacing("\"failures\" : [\n\n    ]", with: outcome) : $0 })
    }
    let found = try campaign(paths)
    #expect(found.missing.isEmpty)
    #expect(found.failures.count == 1 && found.failures[0].contains("shard 2 (it crashed)"))
    #expect(MergedResult(found, isWhole: true).record.outcome.failures.map(\.reason) == ["it crashed"])
  }

  @Test func whatDoesNotBelongTogetherIsNamed() throws {
    let first = try shards.write(1)
    expect(
      complaint([first, try shards.write(2, name: "cut.csv", cut: 4)]), .badInput, "cut.csv", "shard 2/4", "1/3")
    let otherSeed = ShardTests.plan(blocks: 7, seed: 2)
    expect(complaint([first, try shards.write(2, name: "seed.csv", plan: otherSeed)]), .badInput, "seed 2", "has 1")
    let commits = try shards.write(2, name: "commit.csv") {
      $0
    } environment: {
      $0.replacing("\"cells\" : [", with: "\"commit\" : \"0123\", \"dirty\" : true, \"cells\" : [")
    }
    expect(complaint([first, commits]), .badInput, "commit.csv", "commit 0123 with changes")
    let longer = ShardTests.plan(blocks: 8)
    expect(
      complaint([first, try shards.write(2, name: "plan.csv", plan: longer)]), .badInput, "another plan",
      "8 blocks, not 7")
    let fewer = Plan(scenarios: Array(shards.whole.scenarios.dropLast()), effort: shards.whole.effort, seed: 1)
    expect(
      complaint([first, try shards.write(2, name: "cells.csv", plan: fewer)]), .badInput, "another plan",
      "no overhead/construct on stealing@2")
    let input = try shards.write(2, name: "input.csv") {
      $0
    } environment: {
      $0.replacing("\"g.json\"", with: "\"h.json\"")
    }
    expect(complaint([first, input]), .badInput, "other input: h.json")
    let built = try shards.write(2, name: "built.csv") {
      $0
    } environment: {
      $0.replacing("\"optimisation\" : \"debug\"", with: "\"optimisation\" : \"release\"")
    }
    if !Build.isOptimised { expect(complaint([first, built]), .badInput, "kind release") }
  }

  @Test func doubledCellsAreNamed() throws {
    let first = try shards.write(1)
    let again = try shards.write(1, host: "n2", name: "again.csv")
    expect(complaint([first, again]), .badInput, "again.csv", "both have", "overhead/")
    // Two parts of one shard that share nothing belong together.
    let (two, three) = (try shards.write(2), try shards.write(3))
    let blocks = try shards.whole.cut(Shard(number: 1, of: 3)!).blockNumbers
    let some = try shards.write(1, name: "some.csv") { rows in rows.filter { $0.block == blocks[0] } }
    let rest = try shards.write(1, host: "n2", name: "rest.csv") { rows in rows.filter { $0.block != blocks[0] } }
    #expect(try campaign([some, rest, two, three]).missing.isEmpty)
    // One block of two machines does not.
    let mixed = try shards.write(1, name: "mixed.csv") { rows in
      rows.map { row in
        Row(
          runID: row.runID, host: row.block == blocks[0] && row.cell.arm == Sample.ours ? "n7" : row.host,
          block: row.block, process: row.process, valueIndex: row.valueIndex, cell: row.cell, reading: row.reading)
      }
    }
    expect(complaint([mixed]), .badInput, "block \(blocks[0])", "two machines", "n7")
  }

  @Test func filesThatAreNoWholeShards() throws {
    let path = try shards.write(1)
    let text = try #require(shards.folder.read("shard-1-of-3.csv"))
    // Cut in a row, between two rows, and without its environment.
    _ = shards.folder.write(String(text.dropLast(5)), to: "shard-1-of-3.csv")
    expect(complaint([path]), .badInput, "cut off")
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    _ = shards.folder.write(lines.dropLast(2).joined(separator: "\r\n") + "\r\n", to: "shard-1-of-3.csv")
    expect(complaint([path]), .badInput, "rows", "cut off", "--resume")
    _ = shards.folder.write(text, to: "alone.csv")
    expect(complaint([shards.folder.path + "/alone.csv"]), .noInput, "alone.env.json")
    expect(complaint([shards.folder.path + "/no.csv"]), .noInput, "no such file")
    // A whole run is no shard.
    let result = FakeEffects().run(shards.whole)
    let rows = CSV.line(CSV.header) + result.rows.map(CSV.line).joined()
    let whole = shards.folder.write(rows, to: "whole.csv")
    _ = shards.folder.write(try Sample.environment(shards.whole, result, runID: "run"), to: "whole.env.json")
    expect(complaint([whole]), .badInput, "no shard")
    // Blocks of another shard.
    let foreign = try shards.write(2, name: "foreign.csv") { _ in shards.worlds[1]!.rows }
    expect(complaint([foreign]), .badInput, "do not belong together")
    let block = try shards.whole.cut(Shard(number: 1, of: 3)!).blockNumbers[0]
    let moved = try shards.write(2, name: "moved.csv") { rows in
      rows.map {
        Row(
          runID: $0.runID, host: $0.host, block: $0.block == 0 ? 0 : block, process: $0.process,
          valueIndex: $0.valueIndex, cell: $0.cell, reading: $0.reading)
      }
    }
    #expect(throws: Complaint.self) { try campaign([moved]) }
  }

  @Test func clocksThatGoBackwardsAreNoticed() throws {
    func sitting(_ host: String, _ start: String, _ end: String) -> MachineSitting {
      MachineSitting(
        host: host, cpuModel: nil, cpusOnline: 1, cpusAllowed: 1, cpuQuota: nil, kernel: "6", governor: "x",
        spin: Spin(roundsPerMicrosecond: 1), startedAt: "2026-01-01T\(start)Z", endedAt: "2026-01-01T\(end)Z")
    }
    let good = [sitting("n1", "10:00:00", "10:05:00"), sitting("n2", "10:05:00", "10:06:00")]
    #expect(MachineSitting.clockComplaints(good, of: "a.csv").isEmpty)
    let between = MachineSitting.clockComplaints(
      [good[0], sitting("n2", "10:04:00", "10:06:00")], of: "a.csv")
    #expect(between.count == 1)
    for word in ["a.csv", "n2 is behind that of n1 by 1m 0s"] { #expect(between[0].contains(word), "\(between)") }
    let within = MachineSitting.clockComplaints([sitting("n1", "10:00:00", "09:00:00")], of: "a.csv")
    #expect(within.count == 1 && within[0].contains("n1 went back"))
    let found = try campaign(try shards.all())
    #expect(found.clockComplaints().isEmpty)
    let ahead = found.clockComplaints(now: "2020-01-01T00:00:00Z")
    #expect(ahead.count == 3 && ahead[0].contains("n1 is ahead"))
  }
}
