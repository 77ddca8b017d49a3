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

  /// A quota is seen where the pools look, and the group is gone in the end.
  @Test func aQuotaCountsAndNothingIsLeft() throws {
    let before = CPUs.quota
    guard let group = try? QuotaGroup() else { return }
    #expect((SystemFile.read("/proc/self/cgroup") ?? "").contains("opbench-"))
    // More CPUs than there are, so that no other test of this process is slower.
    try group.grant(4_096)
    #expect(CPUs.quota == min(before ?? 4_096, 4_096))
    try group.grant(nil)
    #expect(CPUs.quota == before)
    _ = consume group
    #expect((SystemFile.read("/proc/self/cgroup") ?? "").contains("opbench-") == false)
  }
}
