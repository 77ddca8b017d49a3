import FoundationEssentials
import HarnessPlanning
import HarnessWords
import Testing
import VirtualScheduling
import Workloads

@testable import HarnessResults
@testable import Simulation

@Suite struct SimulationShardTests {
  private func plan(_ shard: Shard?) throws -> SimulationPlan {
    var plan = SimulationPlan(
      graphs: try ["stencil_1d(width=8;steps=4)", "random(tasks=60;layers=4)"].map { try GraphChoice($0, seed: 3) },
      works: [1_000, 10_000], backends: try SimulatedBackend.list(["stealing", "threadpool"]), workers: [1, 2, 8],
      seeds: [3, 4], graphSeed: 3, model: .builtIn, topology: .flat)
    plan.shard = shard
    return plan
  }

  private func lines(_ shard: Shard?) throws -> [String] {
    let plan = try plan(shard)
    var lines: [String] = []
    try plan.run { lines.append(SimulationRows.line($0, seed: $1, model: "m", $2)) }
    #expect(lines.count == plan.runCount)
    return lines
  }

  @Test(arguments: [1, 2, 4, 6]) func everyRunIsInOneShardAndTheSame(count: Int) throws {
    let whole = try lines(nil)
    let shards = try Shard(number: 1, of: count)!.all.map(lines)
    #expect(whole.count == 48 && shards.flatMap { $0 }.sorted() == whole.sorted())
    #expect(shards.allSatisfy { !$0.isEmpty })
    // A shard keeps the order of the plan.
    for shard in shards { #expect(shard == whole.filter(Set(shard).contains)) }
  }

  /// The record of a simulation is that of any run: it reads back, and its plan has every simulated cell.
  @Test func theRecordReadsBack() throws {
    let shard = Shard(number: 2, of: 3)!
    let record = try plan(shard).record(arguments: ["opbench", "simulate"], source: "/")
    #expect(try RunRecord.parse(Data(record.json().utf8), path: "a.env.json") == record)
    #expect(record.cells.count == 12 && record.seed == 3 && record.effort.blocks == 2 && record.machines.isEmpty)
    #expect(record.simulation?.works == [1_000, 10_000] && record.simulation?.model == .builtIn)
    #expect(record.cells.first?.description == "simulation/stencil_1d on stealing@1 (imbalance=0;steps=4;width=8)")
    // The rows of the shard are at the places that the plan of the record gives it.
    let facts = try #require(CampaignPlan(record))
    let text = CSV.line(SimulationRows.header) + (try lines(shard)).joined()
    let rows = try SimulationRows.rows(Data(text.utf8), of: record, plan: facts.plan(of: shard), source: "a.csv")
    #expect(rows.map(\.line) == (try lines(shard)))
    #expect(Set(rows.map(\.place.cell)) == Set(facts.plan(of: shard).sharedCells))
    #expect(Set(rows.map(\.place.block)) == [1, 2] && Set(rows.map(\.place)).count == 8 && rows.count == 16)
    for (old, new) in [
      (",3,m", ",5,m"), (",3,m", ",2,m"), (",stealing,", ",other,"), ("kind,", "kin,"), (",3,m", ",3,m,m"),
    ] {
      let odd = text.replacing(old, with: new)
      #expect(odd != text)
      #expect(throws: Complaint.self) {
        try SimulationRows.rows(Data(odd.utf8), of: record, plan: facts.plan(of: shard), source: "a.csv")
      }
    }
  }
}
