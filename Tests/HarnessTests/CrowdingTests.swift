import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessWords

/// Blocks in which another process had the CPUs are recognised by what the measured processes saw.
struct CrowdingTests {
  private static let operations = 1_000

  /// The rows of one process: its waits for a CPU in milliseconds, and a latency.
  private func rows(_ arm: Arm = Sample.ours, block: Int, delay: Double?) -> [Row] {
    let each = Double(Self.operations)
    var readings = [
      Reading(Metric("wake_p50_ns", unit: "ns"), 10, count: 5),
      Reading(Metric("wake_p99_ns", unit: "ns"), 99, count: 5),
    ]
    if let delay { readings.append(Reading(.runDelayNsPerOp, delay * 1e6 / each, count: Self.operations)) }
    return readings.map {
      Row(
        runID: "r", block: block, process: block, valueIndex: 0, cell: CellKey(Sample.scenario, arm), reading: $0)
    }
  }

  private func crowded(_ processes: [[Row]]) -> [Int] {
    var crowding = Crowding()
    for rows in processes { crowding.add(rows) }
    return crowding.blocks.map(\.block).sorted()
  }

  @Test func aBlockFarAboveTheQuietOnes() {
    #expect(crowded((1...8).map { rows(block: $0, delay: $0 == 3 ? 6 : 0.3) }) == [3])
    // Half of the blocks.
    #expect(crowded((1...8).map { rows(block: $0, delay: $0.isMultiple(of: 2) ? 6 : 0.3) }) == [2, 4, 6, 8])
    // All blocks but one.
    #expect(crowded((1...8).map { rows(block: $0, delay: $0 == 5 ? 200 : 600 + Double($0)) }) == [1, 2, 3, 4, 6, 7, 8])
    // Each arm has a level, and the block is out for all.
    let pairs = (1...8).flatMap { block in
      [rows(block: block, delay: 50), rows(Sample.reference, block: block, delay: block == 7 ? 9 : 0.1)]
    }
    #expect(crowded(pairs) == [7])
  }

  /// Threads of one process that take turns on a CPU are no other program.
  @Test func aLevelOfItsOwnIsNoCrowd() {
    #expect(crowded((1...8).map { rows(block: $0, delay: 40 + Double($0)) }).isEmpty)
    #expect(crowded((1...8).map { rows(block: $0, delay: $0 == 3 ? 1.9 : 0) }).isEmpty)
    // A kernel that does not tell delays shows nothing.
    #expect(crowded((1...8).map { rows(block: $0, delay: nil) }).isEmpty)
    // Three blocks show no level, and the count of allocations is no block.
    #expect(crowded((1...3).map { rows(block: $0, delay: $0 == 3 ? 60 : 0) }).isEmpty)
    #expect(crowded((0...3).map { rows(block: $0, delay: $0 == 3 ? 60 : 0) }).isEmpty)
  }

  @Test func notAllBlocksOfAScenario() {
    let alternating = (1...8).flatMap { block in
      let isEven = block.isMultiple(of: 2)
      return [
        rows(block: block, delay: isEven ? 60 : 0), rows(Sample.reference, block: block, delay: isEven ? 0 : 60),
      ]
    }
    #expect(crowded(alternating).isEmpty)
    var result = RunResult()
    for rows in alternating {
      result.crowding.add(rows)
      result.rows += rows
    }
    #expect(result.crowding.crowdedThroughout == [Sample.scenario])
    let said = MachineWarnings.after(result, RunOutcome(result), more: "--blocks")
    #expect(said.count == 1 && said[0].hasPrefix("no block was quiet for all subjects"), "\(said)")
  }

  @Test(arguments: [
    ("wake_p50_ns", false), ("wake_p90_ns", true), ("wake_p999_ns", true), ("inversion_max_ns", true),
    ("rank_error_p99", true), ("ns_per_op", false), ("makespan_ns", false), ("peak_pending", false),
  ])
  func tails(name: String, isTail: Bool) { #expect(Metric(name, unit: "ns").isTail == isTail) }

  /// The whole way: the run says it, the record has it, and table and `compare` leave the tails out, and nothing else.
  @Test func tailsOfCrowdedBlocksDoNotCount() throws {
    let effects = FakeEffects()
    var blocks = 0
    effects.answer = { request in
      guard case .time = request.mode, request.subject == "stealing" else { return FakeEffects.success(request) }
      blocks += 1
      let delay = blocks == 2 ? 30e6 : 1e5
      return FakeEffects.outcome(
        .exited(0),
        [
          .reading(valueIndex: 0, Reading(.runDelayNsPerOp, delay, count: 1)),
          .reading(valueIndex: 0, Reading(Metric("wake_p50_ns", unit: "ns"), 7, count: 1)),
          .reading(valueIndex: 0, Reading(Metric("wake_p99_ns", unit: "ns"), delay, count: 1)), .end,
        ])
    }
    let headlines = [Metric("wake_p50_ns", unit: "ns"), Metric("wake_p99_ns", unit: "ns")]
    let effort = Effort(blocks: 6, values: 1, leadIn: 0, target: 1_000, budget: 3_000)
    let plan = Sample.plan(effort: effort, headlines: headlines)
    let result = effects.run(plan)
    #expect(result.crowded == [ScenarioBlock(Sample.scenario, block: 2)])
    let said = MachineWarnings.after(result, RunOutcome(result), more: "--blocks")
    #expect(said.count == 1 && said[0].hasPrefix("1 of 6 blocks with percentiles had to wait"), "\(said)")

    let lines = TableLine.all(ResultTable(result), plan.scenarios[0], reference: "foundation")
    let counts = lines.map { $0.cells[Sample.ours]?.estimate.count }
    #expect(counts == [6, 5])
    let set = ResultSet(name: "a.csv", rows: result.rows, record: Sample.record("system (x)", RunOutcome(result)))
    let counted = Dictionary(grouping: set.rows.filter { $0.cell.arm == Sample.ours }, by: \.reading.metric)
    #expect(counted[headlines[0]]?.count == 6 && counted[headlines[1]]?.map(\.block) == [1, 3, 4, 5, 6])

    // A run that goes on knows it from the rows.
    var earlier = EarlierRun()
    earlier.rows = result.rows
    #expect(RunResult(earlier).crowded == result.crowded)
  }
}
