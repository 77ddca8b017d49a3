import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Laboratory

/// The known delays of `validate`, without processes.
struct InjectedDelayTests {
  @Test func aDelayIsItsShareOfAnOperation() {
    var launched: [[String: String]] = []
    func launch(_: MeasureRequest, _ environment: [String: String]) -> ProcessOutcome {
      launched.append(environment)
      // Every other process is in the slower one of two states, but for the first, so the median is the fast state's.
      let nanoseconds = launched.count.isMultiple(of: 2) ? 1_500_000.0 : 1_000_000.0
      let line = ResultLine.reading(valueIndex: 1, Reading(.nsPerOp, nanoseconds, count: 1))
      return ProcessOutcome(ending: .exited(0), lines: [line.text], lastWords: nil, nanoseconds: 1)
    }
    let delay = InjectedDelay(delay: { ["ROUNDS": "\($0)"] }, launch: launch)
    let cell = CellKey(Sample.scenario, Arm(subject: "control", workers: 1))
    func rounds(_ mode: MeasureRequest.Mode, _ share: Double) -> Int {
      delay.rounds(
        MeasureRequest(cell: cell, mode: mode, seed: 1, spin: Spin(roundsPerMicrosecond: 1)), share: share)
    }
    let timed = MeasureRequest.Mode.time(repeats: 1, values: 1, leadIn: 0)
    #expect(rounds(.calibrate(target: 1, limit: 1), 0.1) == 0 && launched.isEmpty)
    let tenth = rounds(timed, 0.1)
    let twentieth = rounds(timed, 0.05)
    #expect(tenth > 0 && abs(tenth - 2 * twentieth) <= 1 && rounds(timed, 0) == 0)
    #expect(delay.baselines == [Sample.scenario: 1_000_000])
    // The operation is measured once, without a delay.
    #expect(launched.count == 15 && launched.allSatisfy { $0 == ["ROUNDS": "0"] })
  }
}
