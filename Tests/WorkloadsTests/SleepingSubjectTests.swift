import Testing

@testable import HarnessWords
@testable import Workloads

/// Benchmarks that begin when the subject's threads are asleep.
///
/// Such a benchmark waits until every thread is asleep that the process has got since the benchmark's beginning. The
/// threads of other tests are among them and may never be asleep all at once. So each of these tests has a process of
/// its own.
struct SleepingSubjectTests {
  static let cases = WorkloadTests.chosen.filter(\.waitsForSleep)

  @Test func bothBenchmarksAreHere() {
    #expect(Set(Self.cases.map { "\($0.workload.name)" }) == ["latency/wake-idle", "strategy/burst"])
  }

  @Test(.serialized, arguments: cases.indices)
  func checksItselfAndReportsItsMetrics(_ index: Int) async {
    await #expect(processExitsWith: .success) { [index] in
      try WorkloadTests.check(SleepingSubjectTests.cases[index])
    }
  }

  @Test func burstsHaveATimeEach() async {
    await #expect(processExitsWith: .success) { try StrategyFamilyTests.checkBursts("idle") }
  }
}
