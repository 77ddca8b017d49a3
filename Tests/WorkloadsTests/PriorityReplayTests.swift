import Subjects
import Testing

@testable import Workloads

/// Logs made by hand, errors counted by hand.
struct PriorityReplayTests {
  func event(_ level: PriorityLevel, ready: UInt64, started: UInt64) -> PriorityEvent {
    PriorityEvent(level: level, ready: ready, started: started, ended: started)
  }

  @Test func strictOrderHasNoError() {
    let replay = PriorityReplay([
      event(.low, ready: 0, started: 30), event(.high, ready: 0, started: 10), event(.normal, ready: 0, started: 20),
    ])
    #expect(replay.rankErrors == [0, 0, 0])
    #expect(replay.delays == [0, 0, 0])
  }

  @Test func reversedOrder() {
    // In order of starting: low passes over two, normal over one, high over none.
    let replay = PriorityReplay([
      event(.high, ready: 0, started: 30), event(.normal, ready: 0, started: 20), event(.low, ready: 0, started: 10),
    ])
    #expect(replay.rankErrors == [2, 1, 0])
    #expect(replay.delays == [0, 1, 2])
  }

  @Test func onlyWhatIsReadyCounts() {
    let replay = PriorityReplay([
      event(.low, ready: 0, started: 10), event(.high, ready: 15, started: 30), event(.low, ready: 0, started: 20),
    ])
    #expect(replay.rankErrors == [0, 1, 0])
    #expect(replay.delays == [0, 0, 1])
  }

  @Test func readyAtTheInstantOfAStartCounts() {
    let replay = PriorityReplay([event(.low, ready: 0, started: 10), event(.high, ready: 10, started: 11)])
    #expect(replay.rankErrors == [1, 0])
    #expect(replay.delays == [0, 1])
  }

  @Test func equalLevelsAreNoError() {
    let replay = PriorityReplay([event(.normal, ready: 0, started: 20), event(.normal, ready: 5, started: 10)])
    #expect(replay.rankErrors == [0, 0])
    #expect(replay.delays == [0, 0])
  }

  @Test func allLevels() {
    // Ready in ascending order, started in the order 0, 4, 1, 3, 2.
    let levels = PriorityLevel.allCases
    let order: [UInt64] = [10, 30, 50, 40, 20]
    let replay = PriorityReplay(zip(levels, order).map { event($0, ready: 0, started: $1) })
    #expect(replay.rankErrors == [4, 0, 2, 0, 0])
    #expect(replay.delays == [0, 1, 1, 2, 2])
  }

  @Test func nothing() { #expect(PriorityReplay([]).rankErrors.isEmpty) }
}

struct ThreadLogsTests {
  @Test func mergesWhatEveryThreadWrote() async {
    let logs = ThreadLogs<Int>(capacity: 1_000)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<10 { group.addTask { for index in 0..<100 { logs.append(task * 100 + index) } } }
    }
    #expect(logs.merge().sorted() == Array(0..<1_000))
    #expect(logs.merge().isEmpty)
  }
}
