import TestSupport
import Testing

@testable import StressEngine

@Suite struct StressProfileTests {
  @Test func `the same seed gives the same round`() {
    for seed in 0..<50 as Range<UInt64> {
      #expect(StressProfile(seed: seed).description == StressProfile(seed: seed).description)
    }
  }

  @Test func `the first rounds cover every kind of disturbance`() {
    let profiles = (1...20 as ClosedRange<UInt64>).map(StressProfile.init(seed:))
    #expect(profiles.contains { $0.queues.contains(where: \.isLimited) })
    #expect(profiles.contains { $0.queues.contains(where: \.hasBarriers) })
    #expect(profiles.contains { $0.queues.contains(where: \.isSuspendedNowAndThen) })
    #expect(profiles.contains { $0.queues.contains(where: \.isCancelled) })
    #expect(profiles.contains { $0.nesting > 0 })
    #expect(profiles.contains { $0.waiting > 0 })
    #expect(profiles.contains { $0.releasesQueuesEarly })
    #expect(profiles.contains { $0.usesTwoBackends && $0.queues.count == 2 })
    #expect(profiles.contains { $0.queues.count == 2 })
  }

  @Test func `no body waits where a limit could make it wait for its own place`() {
    for seed in 0..<2_000 as Range<UInt64> {
      let profile = StressProfile(seed: seed)
      #expect(profile.waiting == 0 || !profile.queues.contains(where: \.isLimited))
    }
  }

  @Test func `draws follow their bounds`() {
    var random = SeededGenerator(seed: 1)
    let draws = (0..<1_000).map { _ in random.pick(3...5) }
    #expect(Set(draws) == [3, 4, 5])
    #expect(!(0..<1_000).contains { _ in random.chance(0) })
    #expect((0..<1_000).allSatisfy { _ in random.chance(100) })
  }
}
