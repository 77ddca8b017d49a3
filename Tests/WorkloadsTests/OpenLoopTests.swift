import Subjects
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Workloads

struct OpenLoopTests {
  /// The subject stands still for 30 ms at the first request, and all the others are meant to start within 10 ms: each
  /// of them has waited, though none was sent before the pause was over.
  @Test func aPauseIsHeldAgainstEveryRequestMeantToStartInIt() throws {
    let setting = Setting(
      parameters: ["load": "100", "arrivals": "fixed", "work_ns": "0"], workers: 1, seed: 1,
      spin: Spin(roundsPerMicrosecond: 10), serviceTime: 10_000)
    let value = try OpenLoop().prepare(closures: PausingSubject.self, setting).measure(1_000)
    let readings = SampleSeries.merged(value.samples)[0].readings()
    let median = try #require(readings.first { $0.metric.name == "latency_p50_ns" })
    #expect(median.value >= 20_000_000 && median.count == 1_000)
  }

  @Test func anOpenLoopNeedsItsPace() throws {
    let parameters: Parameters = ["load": "50", "arrivals": "fixed", "work_ns": "0"]
    let setting = Setting(parameters: parameters, workers: 1, seed: 1, spin: Spin(roundsPerMicrosecond: 10))
    let trial = try OpenLoop().prepare(operations: StealingSubject.self, setting)
    try trial.calibrate?(1_500)
    #expect(trial.calibrate != nil)
    #expect(throws: CheckFailed.self) { try trial.measure(10) }
    let wrong = Setting(
      parameters: parameters.merging(["arrivals": "often"]), workers: 1, seed: 1, spin: Spin(roundsPerMicrosecond: 10))
    #expect(throws: Complaint.self) { try OpenLoop().prepare(operations: StealingSubject.self, wrong) }
  }
}
