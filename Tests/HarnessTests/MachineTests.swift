import Testing

@testable import Harness

/// What looks at the machine.
struct MachineTests {
  @Test func aPeakIsPositive() {
    let peak = MachinePeak.measure(threads: 2, spin: Spin.calibrated())
    #expect(peak > 0 && peak.isFinite)
  }
}
