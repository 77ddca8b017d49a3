import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessWords

/// A plan, rows of it, and the files that hold them, made by hand.
package enum Sample {
  package static let scenario = Scenario(BenchmarkName("overhead", "external-add"), ["ops": "10"])
  package static let ours = Arm(subject: "stealing", workers: 2)
  package static let reference = Arm(subject: "foundation", workers: 2)
  package static let raw = Arm(subject: "raw-dispatch", workers: 2)

  package static func plan(
    repeats: RepeatPolicy = .calibrated(), counts: Bool = false,
    effort: Effort = Effort(blocks: 2, values: 3, leadIn: 2_000, target: 1_000, budget: 3_000),
    headlines: [Metric] = [.nsPerOp]
  ) -> Plan {
    let planned = PlannedScenario(
      scenario: scenario, arms: [ours, reference], incapable: [raw], repeats: repeats, headlines: headlines,
      countsAllocations: counts, notes: ["a note"])
    return Plan(scenarios: [planned], effort: effort, seed: 1)
  }

  package static func rows(_ arm: Arm, block: Int, _ values: [Double], detail: Parameters = [:]) -> [Row] {
    values.enumerated().map { index, value in
      Row(
        runID: "r", block: block, process: block, valueIndex: index + 1, cell: CellKey(scenario, arm),
        reading: Reading(.nsPerOp, value, count: 10, detail: detail))
    }
  }

  /// A result of six rows, and the file that holds it.
  package static let result = (1...3).flatMap { rows(ours, block: $0, [1.5, 2e-7], detail: ["level": "a,b"]) }
  package static let csv = CSV.line(CSV.header) + result.map(CSV.line).joined()

  /// What a run of that plan writes beside its rows.
  package static func environment(
    _ plan: Plan = plan(), _ result: RunResult = RunResult(), runID: String = "r"
  ) throws -> String {
    var record = RunRecord(
      runID: runID, plan: plan, spin: Spin(roundsPerMicrosecond: 12.5),
      subjects: [SubjectFacts("stealing", role: .ours, summary: "ours")], reference: "foundation", context: "g.json",
      arguments: [], jemalloc: nil, source: "/")
    record.update(RunOutcome(result))
    return try record.json()
  }

  /// What another command reads of that: the allocator, and what the end of the run knows.
  package static func record(
    _ allocator: String, _ outcome: RunOutcome = RunOutcome(), cells: [CellKey] = []
  ) -> RunRecord {
    var record = RunRecord(runID: "r", seed: 1, effort: plan().effort, cells: cells)
    (record.allocator, record.context, record.outcome) = (allocator, "", outcome)
    return record
  }
}
