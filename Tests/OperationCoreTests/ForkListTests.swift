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
      guard let list = ForkList.take() else {
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
}
