import CPlatform
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

  /// A thread that only gives its processor away uses all of the time under a real-time policy, where nobody takes it.
  @Test func `a long wait sleeps`() throws {
    let gate = Gate()
    let used = Monitor<UInt64?>(nil)
    startThread {
      let before = cplatform_thread_cpu_ns(cplatform_thread_id())
      // 200 looks take 0.15 seconds and more when most of them come behind a sleep.
      var looks = 0
      Spin.until {
        looks += 1
        return looks == 200
      }
      used.with { $0 = cplatform_thread_cpu_ns(cplatform_thread_id()) - before }
      gate.open()
    }
    let start = cplatform_now_ns()
    try gate.wait("the spinning thread")
    #expect(cplatform_now_ns() - start >= 50_000_000)
    #expect((used.value ?? .max) < 50_000_000)
  }
}
