import Primitives
import StressEngine
import Synchronization
import TestSupport
import Testing

@Suite struct ParkerTests {
  /// Invariant behind `@unchecked Sendable`: `message` belongs to whoever was unparked last; the parkers hand it over.
  private final class Pair: @unchecked Sendable {
    let first = Parker()
    let second = Parker()
    let stop = Atomic<Bool>(false)
    var message = 0

    // A noncopyable value cannot stand inside `#expect`.
    func parkFirst(timeoutNanoseconds: Int64 = -1) -> Bool {
      first.park(timeoutNanoseconds: timeoutNanoseconds)
    }
  }

  @Test func `a token left earlier is taken at once`() throws {
    try inTime("park to return") {
      let pair = Pair()
      pair.first.unpark()
      #expect(pair.parkFirst())
    }
  }

  @Test func `tokens do not add up`() throws {
    try inTime("the time-out") {
      let pair = Pair()
      pair.first.unpark()
      pair.first.unpark()
      #expect(pair.parkFirst())
      #expect(!pair.parkFirst(timeoutNanoseconds: 1_000_000))
    }
  }

  @Test func `without a token the time-out ends it, and the next token still counts`() throws {
    try inTime("the time-out") {
      let pair = Pair()
      #expect(!pair.parkFirst(timeoutNanoseconds: 1_000_000))
      pair.first.unpark()
      #expect(pair.parkFirst(timeoutNanoseconds: 1_000_000))
    }
  }

  @Test func `ping-pong loses no wake-up, and hands plain memory over`() throws {
    let pair = Pair()
    let rounds = 20_000
    try race(
      "\(rounds) rounds of ping-pong",
      {
        for round in 0..<rounds {
          pair.message = round
          pair.second.unpark()
          pair.first.park()
        }
      },
      {
        for round in 0..<rounds {
          pair.second.park()
          if pair.message != round { Issue.record("read \(pair.message) in round \(round)") }
          pair.first.unpark()
        }
      })
  }

  @Test func `a time-out that meets an unpark neither loses nor doubles the token`() throws {
    let pair = Pair()
    let tokens = 5_000
    try race(
      "\(tokens) tokens to be taken",
      {
        // The owner: parks with times so short that many run out just as the token comes.
        var random = SeededGenerator(seed: 1)
        for _ in 0..<tokens {
          while !pair.first.park(timeoutNanoseconds: Int64(random.pick(0...60_000))) {}
          pair.second.unpark()
        }
        if pair.first.park(timeoutNanoseconds: 1_000_000) { Issue.record("a token too many") }
      },
      {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<tokens {
          for _ in 0..<random.pick(0...2_000) { _ = pair.stop.load(ordering: .relaxed) }
          pair.first.unpark()
          pair.second.park()
        }
      })
  }

  @Test func `many threads unpark one`() throws {
    let pair = Pair()
    let wakers = 3
    let each = 10_000
    let announced = Counted()
    let seen = Counted()
    let finished = Gate()
    startThread {
      // Every unpark that follows an announcement must make the owner look again: otherwise it sleeps for ever here.
      while seen.value.load(ordering: .relaxed) < wakers * each {
        pair.first.park()
        seen.value.store(announced.value.load(ordering: .relaxed), ordering: .relaxed)
      }
      finished.open()
    }
    try onThreads(wakers, "the wakers") { _ in
      for _ in 0..<each {
        announced.value.wrappingAdd(1, ordering: .relaxed)
        pair.first.unpark()
      }
    }
    try finished.wait("the owner to see \(wakers * each) announcements")
  }

  private final class Counted: Sendable {
    let value = Atomic<Int>(0)
  }
}
