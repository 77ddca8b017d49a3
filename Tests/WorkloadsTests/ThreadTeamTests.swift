import Synchronization
import Testing

@testable import Workloads

struct ThreadTeamTests {
  @Test func everyThreadRunsTheJobOnceEachTime() throws {
    let team = try ThreadTeam(count: 4)
    let counts = (0..<4).map { _ in Counter() }
    for _ in 0..<50 { team.run { counts[$0].value.wrappingAdd(1, ordering: .relaxed) } }
    #expect(counts.allSatisfy { $0.value.load(ordering: .relaxed) == 50 })
  }

  private final class Counter: Sendable { let value = Atomic<Int>(0) }

  @Test func slicesAreEverythingOnce() {
    for (parts, count) in [(1, 10), (3, 10), (8, 5), (4, 0)] {
      #expect((0..<parts).flatMap { slice($0, of: parts, count: count) } == Array(0..<count))
    }
  }
}
