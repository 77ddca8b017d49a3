import Scheduling
import Testing

@testable import VirtualScheduling

@Suite struct VirtualPoolTests {
  @Test func aJobTakesItsTime() {
    let pool = VirtualPool(workers: 1, strategy: .stealing(.init()), choices: VirtualChoices(seed: 1))
    pool.submit(7)
    #expect(pool.next() == .run(worker: 0, job: 7))
    #expect(pool.now == 0)
    pool.works(0, for: 1_000)
    #expect(pool.next() == .ended(worker: 0, job: 7))
    #expect(pool.now == 1_000)
    pool.finished(0)
    #expect(pool.next() == nil)
    #expect(pool.now == 1_000)
    #expect(pool.statistics.pool.jobs == 1)
  }

  @Test(arguments: allStrategies) func everyJobRunsOnce(_ strategy: VirtualStrategy) {
    for costs in [VirtualCosts.none, .sample] {
      for workers in [1, 2, 3, 8] {
        for seed in seeds(for: strategy, 1, of: 3) {
          let pool = VirtualPool(
            workers: workers, strategy: strategy, costs: costs, choices: VirtualChoices(seed: seed), measuresRank: true)
          for job in 1...40 as ClosedRange<UInt> { pool.submit(job, level: Int(job % 5)) }
          pool.submit((41...200 as ClosedRange<UInt>).map { (job: $0, level: Int($0 % 5)) })
          let begun = runAll(pool)
          #expect(begun.map(\.job).sorted() == Array(1...200), "\(strategy) \(workers) \(seed)")
          #expect(pool.queuedCount == 0 && pool.statistics.pool.jobs == 200)
        }
      }
    }
  }

  @Test(arguments: allStrategies) func jobsThatAddJobsRunOnce(_ strategy: VirtualStrategy) {
    for costs in [VirtualCosts.none, .sample] {
      for workers in [1, 3] {
        let pool = VirtualPool(workers: workers, strategy: strategy, costs: costs, choices: VirtualChoices(seed: 3))
        pool.submit(1)
        var ran: Set<UInt> = []
        while let step = pool.next() {
          switch step {
          case .run(let worker, _): pool.works(worker, for: 500)
          case .ended(let worker, let job):
            #expect(ran.insert(job).inserted)
            // A binary tree of jobs; the second child is the successor.
            if 2 * job + 1 < 512 {
              pool.submit(2 * job, level: Int(job % 5), by: worker)
              pool.finished(worker, edges: 2, successor: (2 * job + 1, Int(job % 3)))
            } else {
              pool.finished(worker)
            }
          case .timer: break
          }
        }
        #expect(ran.count == 511, "\(strategy) \(workers)")
      }
    }
  }

  @Test func theSameChoicesGiveTheSameSchedule() {
    func run(_ choices: VirtualChoices) -> ([Begun], [Int]) {
      let pool = VirtualPool(workers: 4, strategy: .stealing(.init()), choices: choices)
      for job in 1...50 as ClosedRange<UInt> { pool.submit(job) }
      return (runAll(pool), pool.choices.taken)
    }
    let (first, taken) = run(VirtualChoices(seed: 9, records: true))
    #expect(run(VirtualChoices(replaying: taken)).0 == first)
    #expect(run(VirtualChoices(seed: 10)).0 != first)
  }

  @Test func thePlainChoicesRunJobsInOrder() {
    let pool = VirtualPool(workers: 1, strategy: .stealing(.init()), choices: VirtualChoices(replaying: []))
    for job in 1...20 as ClosedRange<UInt> { pool.submit(job) }
    #expect(runAll(pool).map(\.job) == Array(1...20))
  }

  @Test func aBlockedWorkerGivesItsPlace() {
    for strategy in [VirtualStrategy.stealing(.init()), .threadPool(.init())] {
      let pool = VirtualPool(workers: 1, strategy: strategy, choices: VirtualChoices(seed: 1))
      pool.submit(1)
      pool.submit(2)
      #expect(pool.next() == .run(worker: 0, job: 1))
      // All places are taken.
      #expect(pool.next() == nil)
      pool.blocks(0)
      #expect(pool.next() == .run(worker: 1, job: 2))
      pool.finished(1)
      #expect(pool.next() == nil)
      pool.unblocks(0)
      pool.finished(0)
      #expect(pool.next() == nil)
      #expect(pool.statistics.pool.replacements == 1 && pool.statistics.pool.threadsStarted == 2)
    }
  }

  @Test func timersComeInOrderAndCanBeCancelled() {
    let pool = VirtualPool(workers: 1, strategy: .stealing(.init()), choices: VirtualChoices(seed: 1))
    let late = pool.schedule(at: 30)
    let never = pool.schedule(at: 20)
    let early = pool.schedule(at: 10)
    pool.cancel(timer: never)
    #expect(pool.next() == .timer(early))
    #expect(pool.nextTime == 30)
    #expect(pool.next(until: 29) == nil)
    pool.advance(to: 29)
    #expect(pool.now == 29)
    #expect(pool.next() == .timer(late))
    #expect(pool.next() == nil && pool.now == 30)
  }

  @Test func aWakeTakesItsTime() {
    var costs = VirtualCosts()
    costs.wakeLatency = 20_000
    costs.operation = 200
    costs.takeOutside = 50
    let pool = VirtualPool(
      workers: 2, strategy: .stealing(.init()), costs: costs, choices: VirtualChoices(seed: 1), isWarm: true)
    pool.submit(1)
    #expect(pool.next() == .run(worker: 0, job: 1))
    #expect(pool.now == 20_250)
    #expect(pool.statistics.pool.wakes == 1)
  }

  /// What the thread outside pays that submits jobs of levels 2, 2, 2, 4 and 2 together, when only lists cost
  /// something. A pool with lists for each worker has one more lock, that of the sleepers, which the thread takes once.
  @Test(
    arguments: [
      (.stealing(.init()), 3 + 1), (.threadPool(.init()), 1),
      // A list for each job, and a lock for each job.
      (.stealing(try! .init("priorities=strict")), 5 + 1), (.stealing(try! .init("place=roundrobin")), 5 + 1),
      (.threadPool(try! .init("locks=perlevel")), 5),
    ] as [(VirtualStrategy, Int64)])
  func aBatchFromOutsideHoldsAListOnceForEachRunOfALevel(strategy: VirtualStrategy, holds: Int64) {
    var costs = VirtualCosts()
    costs.list = 25
    let pool = VirtualPool(workers: 2, strategy: strategy, costs: costs, choices: VirtualChoices(seed: 1))
    #expect(pool.submit([2, 2, 2, 4, 2].map { (job: 1, level: $0) }) == holds * 25)
    #expect(runAll(pool).count == 5)
  }
}
