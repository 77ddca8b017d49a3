import Primitives
import StressEngine
import TestSupport
import Testing

@Suite struct FutexLockTests {
  /// Invariant behind `@unchecked Sendable`: the plain fields are touched only under `lock`. ThreadSanitizer sees it
  /// when the lock does not order them.
  private final class Guarded: @unchecked Sendable {
    let lock = FutexLock()
    var inside = 0
    var entries = 0
    var intruders = 0

    // A noncopyable value cannot stand inside `#expect`.
    var isHeld: Bool { lock.isHeld }
    func answer(_ body: () throws -> Int) rethrows -> Int { try lock.withLock(body) }
  }

  @Test func `a lock says whether it is held, and guards a state that stays where it is`() {
    let locked = Locked([1])
    let before = locked.isHeld
    locked.withLock { locked.state.append(2) }
    locked.lock()
    let (during, state) = (locked.isHeld, locked.state)
    locked.unlock()
    let after = locked.isHeld
    #expect((before, during, after) == (false, true, false))
    #expect(state == [1, 2])
  }

  @Test func `one thread at a time, and nothing is lost`() throws {
    let threads = 4
    let rounds = 20_000
    let guarded = Guarded()
    try onThreads(threads, "all threads to take the lock \(rounds) times") { index in
      var random = SeededGenerator(seed: UInt64(index))
      for _ in 0..<rounds {
        guarded.lock.lock()
        guarded.inside += 1
        if guarded.inside != 1 { guarded.intruders += 1 }
        guarded.entries += 1
        // Now and then long enough for the others to fall asleep.
        if random.chance(1) { giveTheProcessorAway() }
        guarded.inside -= 1
        guarded.lock.unlock()
      }
    }
    #expect(guarded.answer { guarded.entries } == threads * rounds)
    #expect(guarded.answer { guarded.intruders } == 0)
  }

  @Test func `sleeping threads all get their turn`() throws {
    let guarded = Guarded()
    let waiting = Counter()
    let done = CountdownLatch(8)
    guarded.lock.lock()
    for _ in 0..<8 {
      startThread {
        waiting.increment()
        guarded.lock.withLock { guarded.entries += 1 }
        done.countDown()
      }
    }
    try waiting.wait(for: 8, "the threads to ask for the lock")
    giveOthersAChance()
    #expect(guarded.entries == 0, "somebody entered a held lock")
    guarded.lock.unlock()
    try done.wait("all sleepers to get the lock")
    #expect(guarded.answer { guarded.entries } == 8)
  }

  @Test func `withLock returns the result, and unlocks when the body throws`() throws {
    struct Failure: Error {}
    let guarded = Guarded()
    #expect(guarded.answer { 42 } == 42)
    #expect(throws: Failure.self) { try guarded.answer { throw Failure() } }
    #expect(!guarded.isHeld)
  }
}
