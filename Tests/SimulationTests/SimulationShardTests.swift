import HarnessPlanning
import Simulation
import Testing
import VirtualScheduling
import Workloads

@Suite struct SimulationShardTests {
  private func lines(_ shard: Shard?) throws -> [String] {
    var plan = SimulationPlan(
      graphs: try ["stencil_1d(width=8;steps=4)", "random(tasks=60;layers=4)"].map { try GraphChoice($0, seed: 3) },
      works: [1_000, 10_000], backends: try SimulatedBackend.list(["stealing", "threadpool"]), workers: [1, 2, 8],
      seeds: [3, 4], graphSeed: 3, model: .builtIn, topology: .flat)
    plan.shard = shard
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
}
