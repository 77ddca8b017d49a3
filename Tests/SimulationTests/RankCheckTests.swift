import HarnessPlanning
import HarnessWords
import Testing

@testable import HarnessMeasuring
@testable import HarnessResults
@testable import Simulation

/// The order of strategies in a result, made by hand, against the simulated order.
@Suite struct RankCheckTests {
  /// One lock for 16 threads and tasks of a microsecond: deques are far ahead, as published.
  private let scenario = Scenario(
    BenchmarkName("dependencies", "graph"),
    ["pattern": "trivial", "steps": "4", "width": "64", "imbalance": "0", "work_ns": "1000"])

  private func result(
    _ makespans: [String: Double], workers: Int = 16, blocks: Int = 8, metrics: [Metric] = [.makespan]
  ) -> ResultSet {
    let rows = (1...blocks).flatMap { block in
      makespans.flatMap { subject, makespan in
        // The noise of a block is that of all, and a little of one.
        let own = subject == "stealing" ? 0.002 * Double(block % 2) - 0.001 : 0
        let noise = 1 + 0.1 * Double(block % 3) + own
        return metrics.map { metric in
          Row(
            runID: "r", block: block, process: block, valueIndex: 1,
            cell: CellKey(scenario, Arm(subject: subject, workers: workers)),
            reading: Reading(metric, makespan * noise, count: 1))
        }
      }
    }
    return ResultSet(name: "made.csv", rows: rows, record: nil)
  }

  private func machine(cpus: Int) -> MachineSitting {
    MachineSitting(
      host: "a", cpuModel: nil, cpusOnline: cpus, cpusAllowed: cpus, cpuQuota: nil, kernel: "k", governor: "",
      spin: Spin(roundsPerMicrosecond: 1), startedAt: MachineSitting.now, endedAt: MachineSitting.now)
  }

  private func check(_ results: ResultSet) throws -> RankCheck { try RankCheck(results, model: .manyCPUs, seed: 1) }

  @Test func theSameOrderAgrees() throws {
    let check = try check(result(["stealing": 1, "threadpool": 2]))
    let only = try #require(check.cases.first)
    #expect(check.cases.count == 1 && only.pairs.count == 1 && only.toldApart.count == 1)
    #expect(only.tau == 1 && check.agreement == 1 && only.costOfChoice == 1)
    #expect(only.measuredBest == "stealing" && only.simulatedBest == "stealing")
    #expect(check.table().failures.isEmpty)
  }

  /// A result of `ablate` has the time of an operation alone; where there is a makespan, that alone counts.
  @Test(arguments: [[Metric.nsPerOp], [.nsPerOp, .makespan]]) func oneTimeOfAGraphCounts(metrics: [Metric]) throws {
    let check = try check(result(["stealing": 1, "threadpool": 2], metrics: metrics))
    #expect(check.cases.count == 1 && check.agreement == 1)
  }

  @Test func theOtherOrderIsSaid() throws {
    let check = try check(result(["stealing": 2, "threadpool": 1]))
    let only = try #require(check.cases.first)
    #expect(only.tau == -1 && check.agreement == 0 && only.measuredBest == "threadpool")
    #expect(only.simulatedBest == "stealing" && abs(only.costOfChoice - 2) < 0.02)
    #expect(check.table().failures.count == 1 && check.table().text().contains("x2.0"))
  }

  /// Two that a result does not tell apart say nothing, whatever the simulator says of them.
  @Test(arguments: [8, 5]) func whatIsNotToldApartContradictsNothing(blocks: Int) throws {
    // Five blocks have no interval, however far apart their medians are.
    let check = try check(
      result(["stealing": blocks == 5 ? 2 : 1, "threadpool": 1], blocks: blocks))
    #expect(check.cases.first?.toldApart.isEmpty == true && check.agreement == nil)
    #expect(check.table().failures.isEmpty && check.table().text().contains("No pair is told apart"))
  }

  /// What the simulator does not know is left out, and a result without two strategies is refused.
  @Test func othersAreLeftOut() throws {
    let check = try check(result(["stealing": 1, "threadpool": 2, "foundation": 9, "dispatch": 3]))
    #expect(check.cases.first?.strategies == 2)
    #expect(throws: Complaint.self) { try self.check(result(["stealing": 1, "foundation": 9])) }
  }

  /// With more workers than CPUs a line says nothing, and counts for nothing.
  @Test func workersThatTakeTurnsCountForNothing() throws {
    let plain = result(["stealing": 2, "threadpool": 1])
    var record = RunRecord(runID: "r", seed: 1, effort: .full, cells: Array(Set(plain.rows.map(\.cell))))
    record.machines = [machine(cpus: 16)]
    #expect(try check(ResultSet(name: "m", rows: plain.rows, record: record)).table().failures.count == 1)
    record.machines = [machine(cpus: 2)]
    let crowded = try check(ResultSet(name: "m", rows: plain.rows, record: record))
    #expect(crowded.agreement == nil && crowded.table().failures.isEmpty && crowded.table().text().contains("16*"))
  }
}
