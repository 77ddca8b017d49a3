import Primitives
import Synchronization
import TestSupport
import Testing

@Suite struct FutexTests {
  @Test func `waiting returns at once when the word differs`() throws {
    try inTime("the wait to return") {
      let word = Atomic<UInt32>(7)
      let returned = word.futexWait(while: 8)
      #expect(returned)
    }
  }

  @Test func `waiting gives up after its time`() throws {
    try inTime("the time-out") {
      let word = Atomic<UInt32>(7)
      // A signal or a spurious return ends a wait early, so the time-out may need a second try.
      var timedOut = false
      for _ in 0..<100 where !timedOut { timedOut = !word.futexWait(while: 7, timeoutNanoseconds: 1_000_000) }
      #expect(timedOut)
    }
  }

  @Test func `a wake ends the wait`() throws {
    let word = SharedWord()
    let done = Gate()
    startThread {
      while word.value.load(ordering: .acquiring) == 0 { word.value.futexWait(while: 0) }
      done.open()
    }
    giveOthersAChance()
    word.value.store(1, ordering: .releasing)
    word.value.futexWake(1)
    try done.wait("the sleeper to wake")
  }

  private final class SharedWord: Sendable {
    let value = Atomic<UInt32>(0)
  }
}
