import Scheduling

/// A pool that has no lists: counts how many threads are made active.
final class CountingPool: StealingSteps {
  let rules: StealingRules
  private let jobs: Int
  private var searching: Int
  private var places: Int
  private(set) var activated = 0

  init(jobs: Int, searching: Int, places: Int, passing: StealingStrategy.Passing) {
    var strategy = StealingStrategy()
    strategy.passing = passing
    rules = StealingRules(strategy, workers: 64)
    (self.jobs, self.searching, self.places) = (jobs, searching, places)
  }

  var sleeping: Int { places }
  func visibleJobs(atMost most: Int) -> Int { min(jobs, most) }
  func reaction(wanted: Int) -> Reaction {
    Reaction(searching: searching, active: 64 - places, limit: 64, wanted: wanted)
  }
  func activate(wanted: Int, mayInsist: Bool) {
    activated += 1
    searching += 1
    places -= 1
  }

  // No job is looked for.
  var hintedLevels: UInt32 { 0 }
  func hint(_ level: Int) {}
  func retract(_ level: Int) {}
  var isOnlyOneAwake: Bool { false }
  var workersMade: Int { 0 }
  func index(of worker: Int) -> Int { worker }
  func withMemory<Result>(of worker: Int, _ body: (inout WorkerMemory) -> Result) -> Result {
    var memory = WorkerMemory(index: worker, fairnessInterval: 61, outsideInterval: 4)
    return body(&memory)
  }
  func random(_ worker: Int, below bound: Int) -> Int { 0 }
  func begun(_ worker: Int) -> Int { 0 }
  func hasJobs(_ worker: Int) -> Bool { false }
  func count(_ worker: Int, level: Int) -> Int { 0 }
  func takeOwn(_ worker: Int, level: Int) -> Int? { nil }
  func isOutsideEmpty(level: Int) -> Bool { true }
  func takeInjected(_ worker: Int, level: Int, limit: Int) -> Int? { nil }
  func takeFromMultiQueue(_ worker: Int) -> Int? { nil }
  func nextVictim(of thief: Int, level: Int, least: Int, in round: inout ThiefRound) -> Int? { nil }
  func takeOldest(of victim: Int, by thief: Int, level: Int) -> Int? { nil }
  func takeAlong(from victim: Int, level: Int) -> Int? { nil }
  func bring(_ job: Int, to thief: Int, level: Int) {}
  func showBrought(_ count: Int, to thief: Int, level: Int) {}
  func bringOutside(from stuck: Int, by worker: Int, level: Int, most: Int) -> Bool { false }
  func lacksPlace() {}
  func react() {}
}
