import Testing

@testable import Scheduling

@Suite struct TurnsTests {
  /// The numbers of the jobs at which each turn comes, among the first 1,000.
  private func turns(fairnessInterval: Int, outsideInterval: Int = 4) -> (lowests: [Int], others: [Int]) {
    var turns = Turns(fairnessInterval: fairnessInterval, outsideInterval: outsideInterval)
    var (lowests, others): ([Int], [Int]) = ([], [])
    var job = turns.step
    while job <= 1_000 {
      let due = turns.next()
      #expect(due.isLowests || due.isOthers)
      if due.isLowests { lowests.append(job) }
      if due.isOthers { others.append(job) }
      job += turns.step
    }
    return (lowests, others)
  }

  @Test(arguments: [0, 1, 2, 16, 61, 100, 100_000]) func theOthersTurnDoesNotDependOnTheFairness(interval: Int) {
    let turns = turns(fairnessInterval: interval)
    #expect(turns.others == Array(stride(from: 30, through: 1_000, by: 61)))
    #expect(turns.lowests == (interval == 0 ? [] : Array(stride(from: interval, through: 1_000, by: interval))))
  }

  @Test func byDefaultTheTwoTurnsNeverComeTogether() {
    let turns = turns(fairnessInterval: 61)
    #expect(Set(turns.lowests).isDisjoint(with: turns.others))
  }

  @Test func aWorkerThatLooksOutsideSeldomHasTheOthersTurnAsSeldom() {
    #expect(turns(fairnessInterval: 0, outsideInterval: 400).others == [200, 600, 1_000])
  }

  @Test func ownJobsGoFirstEverySecondTime() {
    var turns = Turns(fairnessInterval: 1, outsideInterval: 4)
    var first: [Bool] = []
    for _ in 0..<4 {
      _ = turns.next()
      first.append(turns.ownGoFirst)
    }
    #expect(first == [false, true, false, true])
  }
}
