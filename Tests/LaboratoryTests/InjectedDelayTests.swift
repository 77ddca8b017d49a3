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
      // The machine is slow during every other process, but not during the first: the median of the times is the fast
      // machine's.
      let nanoseconds = launched.count.isMultiple(of: 2) ? 1_500_000.0 : 1_000_000.0
      let line = ResultLine.reading(valueIndex: 1, Reading(.nsPerOp, nanoseconds, count: 1))
      return ProcessOutcome(ending: .exited(0), lines: [line.text], lastWords: nil, nanoseconds: 1)
    }
    // A slow machine needs longer for a round, too.
    let delay = InjectedDelay(
      delay: { ["ROUNDS": "\($0)"] }, launch: launch, rate: { launched.count.isMultiple(of: 2) ? 200 : 300 })
    let cell = CellKey(Sample.scenario, Arm(subject: "control", workers: 1))
    func rounds(_ mode: MeasureRequest.Mode, _ share: Double) -> Int {
      delay.rounds(
        MeasureRequest(cell: cell, mode: mode, seed: 1, spin: Spin(roundsPerMicrosecond: 1)), share: share)
    }
    let timed = MeasureRequest.Mode.time(repeats: 1, values: 1, leadIn: 0)
    #expect(rounds(.calibrate(target: 1, limit: 1), 0.1) == 0 && launched.isEmpty)
    let tenth = rounds(timed, 0.1)
    let twentieth = rounds(timed, 0.05)
    #expect(tenth == 30_000 && twentieth == 15_000 && rounds(timed, 0) == 0)
    #expect(delay.baselines == [Sample.scenario: 1_000_000])
    // The operation is measured once, without a delay.
    #expect(launched.count == 15 && launched.allSatisfy { $0 == ["ROUNDS": "0"] })
    // Controls of the run join the fifteen: twenty that take twice as long in rounds are the median.
    for _ in 1...20 {
      let line = ResultLine.reading(valueIndex: 1, Reading(.nsPerOp, 2_000_000, count: 1))
      delay.add(
        ProcessOutcome(ending: .exited(0), lines: [line.text], lastWords: nil, nanoseconds: 1),
        to: MeasureRequest(cell: cell, mode: timed, seed: 1, spin: Spin(roundsPerMicrosecond: 1)))
    }
    #expect(rounds(timed, 0.1) == 60_000 && delay.baselines == [Sample.scenario: 2_000_000] && launched.count == 15)
  }
}
