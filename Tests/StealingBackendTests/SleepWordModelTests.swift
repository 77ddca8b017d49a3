import TestSupport
import Testing

@testable import StealingBackend

/// The functions of the sleep word as the model of `Tests/Models` knows them.
@Suite struct SleepWordModelTests {
  private static let mostThreads = 5
  private static let counts = 1...4

  private static func row(searching: Int, sleeping: Int, blocked: Int, live: Int) -> String {
    let word = SleepWord(
      bits: UInt64(searching) * SleepWord.oneSearching + UInt64(sleeping) * SleepWord.oneSleeping
        + UInt64(blocked) * SleepWord.oneBlocked + UInt64(live) * SleepWord.oneLive)
    let reactions = counts.map {
      switch word.reaction(limit: $0) {
      case .nothing: 0
      case .activate: 1
      case .busy: 2
      }
    }
    let maySearch = counts.map { word.maySearch(workerCount: $0) ? 1 : 0 }
    let hasSurplus = counts.map { word.hasSurplus(workerCount: $0) ? 1 : 0 }
    return ([searching, sleeping, blocked, live] + reactions + maySearch + hasSurplus).map(String.init)
      .joined(separator: ",")
  }

  @Test func `the model's table says what the functions say`() {
    var rows: [String] = []
    for live in 0...Self.mostThreads {
      // A thread that announces itself while the monitor marks it is counted twice. A thread with a mark may search.
      for blocked in 0...2 * live {
        for sleeping in 0...live {
          for searching in 0...(live - sleeping) {
            rows.append(Self.row(searching: searching, sleeping: sleeping, blocked: blocked, live: live))
          }
        }
      }
    }
    ModelTable(
      "sleep_word_transitions.txt",
      comment: [
        "SleepWord's functions as a table: written by SleepWordModelTests, read by the model through sleep_word.h.",
        "searching, sleeping, blocked, live; reaction (nothing, activate, busy) with 1 to 4 places, maySearch and",
        "hasSurplus with 1 to 4 workers.",
      ], rows: rows
    ).check(test: "SleepWordModelTests")
  }
}
