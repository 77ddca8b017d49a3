import Subjects
import Testing

@testable import HarnessStatistics
@testable import Workloads

struct InversionReplayTests {
  func event(_ level: PriorityLevel, _ ready: UInt64, _ started: UInt64, _ ended: UInt64) -> PriorityEvent {
    PriorityEvent(level: level, ready: ready, started: started, ended: ended)
  }

  func inversions(_ events: PriorityEvent...) -> [UInt64] { InversionReplay(events).nanoseconds }

  @Test func aLowerOneThatStartsLaterAndEndsInTime() {
    #expect(inversions(event(.high, 0, 50, 60), event(.low, 0, 10, 30)) == [20, 0])
  }

  @Test func aLowerOneThatRunsOn() {
    #expect(inversions(event(.high, 0, 50, 60), event(.low, 0, 40, 90)) == [10, 0])
  }

  @Test func aLowerOneThatRanBefore() {
    // It began before the high one was ready; nobody pre-empts it.
    #expect(inversions(event(.high, 20, 50, 60), event(.low, 0, 10, 45)) == [0, 0])
  }

  @Test func theInstantOfReadinessCounts() {
    #expect(inversions(event(.high, 10, 50, 60), event(.low, 0, 10, 20)) == [10, 0])
  }

  @Test func twoAtOnceCountOnce() {
    #expect(inversions(event(.high, 0, 50, 60), event(.low, 0, 10, 30), event(.low, 0, 20, 40)) == [30, 0, 0])
  }

  @Test func anOldOneHidesNoLaterOne() {
    // The old one runs throughout, the later ones within it.
    #expect(
      inversions(
        event(.high, 10, 100, 110), event(.low, 0, 5, 100), event(.low, 0, 20, 30), event(.low, 0, 60, 65)) == [
          15, 0, 0, 0,
        ])
  }

  @Test func equalAndHigherLevelsAreNone() {
    #expect(inversions(event(.normal, 0, 50, 60), event(.normal, 0, 10, 30), event(.high, 20, 20, 40)) == [0, 0, 0])
  }

  @Test func everyLevelLooksAtThoseBelow() {
    #expect(
      inversions(event(.veryHigh, 0, 40, 50), event(.normal, 0, 20, 40), event(.veryLow, 0, 0, 20)) == [40, 20, 0])
  }

  @Test func nothing() { #expect(InversionReplay([]).nanoseconds.isEmpty) }

  /// The definition, instant by instant.
  func oracle(_ events: [PriorityEvent]) -> [UInt64] {
    events.map { event in
      let others = events.filter { $0.level.rawValue < event.level.rawValue && $0.started >= event.ready }
      return UInt64(
        (event.ready..<event.started).count { now in others.contains { $0.started <= now && now < $0.ended } })
    }
  }

  @Test func agreesWithTheDefinition() {
    var random = SeededGenerator(seed: 1, purpose: "inversions")
    for round in 0..<300 {
      let span = UInt64(round % 2 == 0 ? 20 : 200)
      let events = (0..<Int.random(in: 1...30, using: &random)).map { _ in
        let times = (0..<3).map { _ in UInt64.random(in: 0...span, using: &random) }.sorted()
        return event(PriorityLevel.allCases.randomElement(using: &random)!, times[0], times[1], times[2])
      }
      #expect(InversionReplay(events).nanoseconds == oracle(events), "round \(round)")
    }
  }

  /// A replay that looked at all pairs would take minutes here.
  @Test(.timeLimit(.minutes(1))) func manyEvents() {
    var random = SeededGenerator(seed: 2, purpose: "inversions")
    let events = (0..<20_000).map { index in
      let ready = UInt64(index)
      let started = ready + UInt64.random(in: 0...10_000, using: &random)
      return event(PriorityLevel.allCases.randomElement(using: &random)!, ready, started, started + 100)
    }
    #expect(InversionReplay(events).nanoseconds.contains { $0 > 0 })
  }

  @Test func prefixSums() {
    var sums = PrefixSums(count: 7)
    for (index, value) in ([3, 1, 4, 1, 5, 9, 2] as [UInt64]).enumerated() { sums.add(value, at: index) }
    #expect((0...7).map(sums.sum(before:)) == [0, 3, 4, 8, 9, 14, 23, 25])
  }
}

struct EvennessTests {
  @Test func fromEvenToOneTakesAll() throws {
    let even = try #require(Evenness([5, 5, 5, 5]))
    #expect(even.jain == 1 && even.minShare == 0.25)
    let alone = try #require(Evenness([0, 0, 12, 0]))
    #expect(alone.jain == 0.25 && alone.minShare == 0)
    // (1 + 2 + 3)^2 / (3 * (1 + 4 + 9)) = 36 / 42
    let uneven = try #require(Evenness([1, 2, 3]))
    #expect(abs(uneven.jain - 36.0 / 42) < 1e-12 && abs(uneven.minShare - 1.0 / 6) < 1e-12)
    #expect(Evenness([0, 0]) == nil)
    #expect(Evenness([]) == nil)
  }
}
