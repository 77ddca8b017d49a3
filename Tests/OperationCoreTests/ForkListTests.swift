import TestSupport
import Testing

@testable import OperationCore
@testable import OperationForks

/// The lists in which threads keep their forks.
struct ForkListTests {
  private static var lists: Int {
    var count = 0
    _ = ForkList.any { _ in
      count += 1
      return false
    }
    return count
  }

  /// A thread that has never joined runs tickets whose fork somebody else took.
  @Test func aTicketWithoutAForkLosesNoList() throws {
    try onThreads(1, "void tickets") { _ in
      guard let list = ForkList.take()?.takeUnretainedValue() else {
        Issue.record("there is no memory for a list")
        return
      }
      let ticket = ForkTicket(list.memory, slot: 0)
      let before = Self.lists
      for _ in 0..<500 { _ = ticket.runJob() }
      // Other tests make some lists meanwhile.
      #expect(Self.lists - before < 250)
      list.keepUnlessUsed()
    }
  }

  /// Scopes of `each` microseconds with `gap` between them.
  /// - Returns: the microsecond at which a scope began that wakes a thread; nil when none of 100 does.
  private func wake(each: Int, gap: Int, hadManyForks: Bool? = false) -> Int? {
    var row = ForkList.Row()
    var time = 1_000_000
    for _ in 0..<100 {
      if row.begin(at: ForkList.Pace.ticks(time)) <= ForkList.Pace.ticks(time) { return time - 1_000_000 }
      time += each
      row.end(at: ForkList.Pace.ticks(time), ForkList.Pace.ticks(each), hadManyForks: hadManyForks)
      time += gap
    }
    return nil
  }

  @Test func scopesThatFollowEachOtherWakeAThreadTogether() throws {
    // The first scopes say how long they are.
    let first = try #require(wake(each: 4, gap: 0))
    #expect(10...24 ~= first)
    #expect(wake(each: 4, gap: 4) != nil)
    // Too far apart, too short, and of too many forks.
    #expect(wake(each: 4, gap: 6) == nil)
    #expect(wake(each: 1, gap: 0) == nil)
    #expect(wake(each: 4, gap: 0, hadManyForks: true) == nil)
    // Nobody knows how many forks.
    #expect(wake(each: 4, gap: 0, hadManyForks: nil) == nil)
  }
}
