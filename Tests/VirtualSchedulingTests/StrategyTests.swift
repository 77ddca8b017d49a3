import Scheduling
import Testing

@testable import VirtualScheduling

/// What a choice of a strategy does to a schedule of virtual threads.
@Suite struct StrategyTests {
  private func pool(
    workers: Int, costs: VirtualCosts = .none, isWarm: Bool = false, _ change: (inout StealingStrategy) -> Void
  ) -> VirtualPool {
    var strategy = StealingStrategy()
    change(&strategy)
    return VirtualPool(
      workers: workers, strategy: .stealing(strategy), costs: costs, choices: VirtualChoices(seed: 4), isWarm: isWarm)
  }

  /// The order in which one worker runs jobs 1 to 6 that its first job adds.
  private func orderOfAdded(_ pool: VirtualPool) -> [UInt] {
    pool.submit(100)
    var order: [UInt] = []
    while let step = pool.next() {
      guard case .run(let worker, let job) = step else { continue }
      if job == 100 { for added in 1...6 as ClosedRange<UInt> { pool.submit(added, by: worker) } }
      if job != 100 { order.append(job) }
      pool.finished(worker)
    }
    return order
  }

  @Test func theOwnEndDecidesTheOrder() {
    #expect(orderOfAdded(pool(workers: 1) { $0.ownEnd = .fifo }) == [1, 2, 3, 4, 5, 6])
    #expect(orderOfAdded(pool(workers: 1) { $0.ownEnd = .lifo }) == [6, 5, 4, 3, 2, 1])
    #expect(orderOfAdded(pool(workers: 1) { $0.ownEnd = .lifoWithTurn(every: 2) }) == [6, 1, 5, 2, 4, 3])
  }

  @Test func urgentJobsGoFirstUnlessPrioritiesAreIgnored() {
    func order(_ pool: VirtualPool) -> [UInt] {
      pool.submit(1, level: 0)
      pool.submit(2, level: 2)
      pool.submit(3, level: 4)
      return runAll(pool).map(\.job)
    }
    #expect(order(pool(workers: 1) { _ in }) == [3, 2, 1])
    #expect(order(pool(workers: 1) { $0.priorities = .strict }) == [3, 2, 1])
    #expect(order(pool(workers: 1) { $0.priorities = .ignored }) == [1, 2, 3])
  }

  @Test func theStealAmountDecidesHowManyJobsAThiefTakes() {
    func thefts(_ amount: StealingStrategy.StealAmount) -> [UInt64] {
      let pool = pool(workers: 2, isWarm: true) { $0.stealAmount = amount }
      pool.submit(100)
      guard case .run(let owner, _)? = pool.next() else { return [] }
      for job in 1...8 as ClosedRange<UInt> { pool.submit(job, by: owner) }
      // The owner goes on with its body; the other worker is woken and steals.
      guard case .run(let thief, let job)? = pool.next() else { return [] }
      #expect(thief != owner && job == 1)
      return [pool.statistics.pool.workers[thief].steals]
    }
    #expect(thefts(.one) == [1])
    #expect(thefts(.half) == [4])
    #expect(thefts(.upTo(3)) == [3])
  }

  @Test func aSuccessorRunsAtOnceOrWaits() {
    func order(_ successor: StealingStrategy.Successor) -> [UInt] {
      let pool = pool(workers: 1) { $0.successor = successor }
      pool.submit(1)
      pool.submit(2)
      var order: [UInt] = []
      while let step = pool.next() {
        guard case .run(let worker, let job) = step else { continue }
        order.append(job)
        pool.finished(worker, successor: job == 1 ? (9, VirtualPool.middleLevel) : nil)
      }
      return order
    }
    #expect(order(.runs) == [1, 9, 2])
    #expect(order(.queued) == [1, 2, 9])
    #expect(order(.queuedAndWakes) == [1, 2, 9])
  }

  @Test func aRunOfSuccessorsGivesOthersATurn() {
    let pool = pool(workers: 1) { $0.runLength = 3 }
    pool.submit(1)
    pool.submit(100)
    var order: [UInt] = []
    while let step = pool.next() {
      guard case .run(let worker, let job) = step else { continue }
      order.append(job)
      pool.finished(worker, successor: job < 6 ? (job + 1, VirtualPool.middleLevel) : nil)
    }
    #expect(order.prefix(3) == [1, 2, 3])
    #expect(order.firstIndex(of: 100)! < order.firstIndex(of: 6)!)
  }

  @Test func wakingAllWakesEverybody() {
    func wakes(_ waking: StealingStrategy.Waking) -> UInt64 {
      let pool = pool(workers: 8, costs: .sample, isWarm: true) { $0.waking = waking }
      pool.submit(1)
      return pool.statistics.pool.wakes
    }
    #expect(wakes(.oneSearcher) == 1)
    #expect(wakes(.all) == 8)
  }

  /// How many threads have been woken, after each of the first jobs has been found.
  private func wakes(_ jobs: UInt, workers: Int = 32, _ change: (inout StealingStrategy) -> Void) -> [UInt64] {
    let pool = pool(workers: workers, costs: .sample, isWarm: true, change)
    for job in 1...jobs { pool.submit(job) }
    var wakes = [pool.statistics.pool.wakes]
    while wakes.count < 4, case .run(let worker, _)? = pool.next() {
      wakes.append(pool.statistics.pool.wakes)
      pool.works(worker, for: 10_000_000)
    }
    return wakes
  }

  @Test func aSearchThatFoundAJobIsPassedOn() {
    #expect(wakes(7) { $0.passing = .lastSearcher } == [1, 2, 3, 4])
    #expect(wakes(7) { $0.passing = .upTo(threads: 1) } == [1, 2, 3, 4])
    // Two threads come at the same time, and each wakes two.
    #expect(wakes(7) { $0.passing = .upTo(threads: 2) } == [1, 3, 7, 7])
    #expect(wakes(7) { $0.passing = .upTo(threads: 5) } == [1, 6, 7, 7])
    // No more threads than jobs that can be seen.
    #expect(wakes(2) { $0.passing = .upTo(threads: 5) } == [1, 2, 2])
    // With few places one thread after another is woken.
    #expect(wakes(7, workers: 4) { $0.passing = .upTo(threads: 5) } == [1, 2, 3, 4])
  }

  @Test func moreThreadsSearchWhereManySleep() {
    #expect(wakes(7, workers: 8) { $0.waking = .oneSearcher }[0] == 1)
    // Of 8 sleepers the first job wakes one, and 7 that sleep are enough for a second one.
    #expect(wakes(7, workers: 8) { $0.waking = .share(sleeping: 4) }[0] == 2)
    #expect(wakes(1, workers: 8) { $0.waking = .share(sleeping: 1) }[0] == 1)
  }

  @Test func aThiefRobsItsGroupFirst() {
    let pool = pool(workers: 16, isWarm: true) { $0.victim = .near(group: 4) }
    for holder in [0, 1, 9, 14] {
      pool.lists.push(QueuedJob(word: UInt(holder), level: 2, maker: -1, number: 0), to: holder)
      pool.queued += 1
    }
    pool.lists.hint = 1 << 2
    #expect(pool.nextJob(of: 13)?.word == 14 && pool.nextJob(of: 10)?.word == 9)
    // Nobody else of the group has a job.
    #expect(Set([pool.nextJob(of: 13)?.word, pool.nextJob(of: 10)?.word]) == [0, 1] && pool.nextJob(of: 3) == nil)
  }

  @Test func aThiefThatMayLoseARaceGoesOn() {
    var strategy = StealingStrategy()
    strategy.lostRace = .next
    strategy.waking = .all
    strategy.searchers = .all
    var lost = 0
    for seed in 1...40 as ClosedRange<UInt64> {
      let pool = VirtualPool(
        workers: 4, strategy: .stealing(strategy), choices: VirtualChoices(seed: seed), isWarm: true)
      pool.submit(100)
      while let step = pool.next() {
        switch step {
        case .run(let worker, let job):
          if job == 100 { for added in 1...6 as ClosedRange<UInt> { pool.submit(added, by: worker) } }
          pool.works(worker, for: 1)
        case .ended(let worker, _): pool.finished(worker)
        case .timer: break
        }
      }
      lost += pool.statistics.lostRaces
    }
    #expect(lost > 0)
  }

  @Test func aSearchOfManyWorkersCostsTheirVisits() {
    var costs = VirtualCosts()
    costs.look = 10
    costs.wakeLatency = 1
    let pool = pool(workers: 64, costs: costs, isWarm: true) { $0.victim = .neighbour }
    pool.submit(100)
    #expect(pool.next() == .run(worker: 0, job: 100))
    pool.submit(1, by: 0)
    // Worker 1 asks workers 2 to 63 in vain, and then worker 0. The wake takes 1. Each worker that found a job was the
    // last that searched, and so looked for other jobs at all 64.
    #expect(pool.next() == .run(worker: 1, job: 1))
    #expect(pool.statistics.looksInVain == 62)
    #expect(pool.now == 1 + 640 + 1 + 620 + 640)
  }
}
