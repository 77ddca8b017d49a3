import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords

/// `crowd/requests` where CPUs are taken from the whole process: in processes of their own.
@Suite(.ownThread) struct CrowdCommandTests {
  @Test(arguments: ["quota", "affinity"], ["given", "followed"])
  func cpusAreTakenAndGivenBack(beside: String, workers: String) throws {
    let cell = CellKey(
      Scenario(
        BenchmarkName("crowd", "requests"), ["beside": beside, "load": "33", "phase_ms": "300", "workers": workers]),
      Arm(subject: "stealing", workers: 2))
    let request = MeasureRequest(
      cell: cell, mode: .time(repeats: 1, values: 1), seed: 1, spin: Spin(roundsPerMicrosecond: 10))
    let outcome = ProcessRunner.run(BuiltOpbench.path, ["measure", try request.encoded()], timeout: 120)
    let output = outcome.lines.joined(separator: "\n")
    if output.contains("no CPU quota can be set here") {
      #expect(beside == "quota", "\(output)")
      return
    }
    #expect(outcome.ending == .exited(0), "\(outcome)")
    for metric in [
      "sojourn_before_p99_ns", "sojourn_beside_p99_ns", "sojourn_after_p99_ns", "recovery_ns",
      "threads_left", "cpu_over_work", "makespan_over_fair_share",
    ] {
      #expect(output.contains(metric), "\(metric): \(output)")
    }
  }

  /// The group is gone when the process has ended, and the CPUs of this process are what they were.
  @Test func nothingIsLeft() {
    let before = CPUs.available
    #expect(CPUs.affinity >= 1 && CPUs.available == before)
    guard let group = try? QuotaGroup() else { return }
    _ = consume group
    #expect((SystemFile.read("/proc/self/cgroup") ?? "").contains("opbench-") == false)
  }
}
