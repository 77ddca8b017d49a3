import Primitives
import TestSupport
import Testing

@Suite struct SpinTests {
  @Test func `returns as soon as the condition holds`() {
    var calls = 0
    Spin.until {
      calls += 1
      return calls == 1_000
    }
    #expect(calls == 1_000)
  }

  @Test func `sees what another thread does`() throws {
    let gate = Gate()
    try race("the spinning thread", { Spin.until { gate.isOpen } }, { gate.open() })
  }
}
