import Scheduling
import Testing

@testable import VirtualScheduling

/// Forks on virtual workers.
struct VirtualForkTests {
  /// Runs a binary tree of forks, in which every job takes `work` nanoseconds.
  private func run(
    _ strategy: VirtualStrategy, workers: Int, depth: Int, work: Int64 = 1_000, costs: VirtualCosts = .none
  ) -> (ran: [Int], makespan: Int64, statistics: VirtualStatistics) {
    let pool = VirtualPool(
      workers: workers, strategy: strategy, costs: costs, choices: VirtualChoices(seed: 1), isWarm: true)
    var ran = [Int](repeating: 0, count: 1 << (depth + 1))
    pool.submit(1)
    while let step = pool.next() {
      switch step {
      case .timer: break
      case .run(let worker, _): pool.works(worker, for: work)
      case .ended(let worker, let job):
        ran[Int(job)] += 1
        let children = job < 1 << UInt(depth) ? [2 * job, 2 * job + 1] : []
        pool.fork(children.dropFirst().map { ($0, VirtualPool.middleLevel) }, by: worker)
        pool.finished(worker, successor: children.first.map { ($0, VirtualPool.middleLevel) })
      }
    }
    return (ran, pool.now, pool.statistics)
  }

  private static let visibilities: [StealingStrategy.Forks] = [.idle, .upTo(count: 1), .upTo(count: 8), .onRequest]

  private static func strategies(_ forks: StealingStrategy.Forks) -> [VirtualStrategy] {
    var (stealing, threadPool) = (StealingStrategy(), ThreadPoolStrategy())
    (stealing.forks, threadPool.forks) = (forks, forks)
    return [.stealing(stealing), .threadPool(threadPool)]
  }

  @Test(arguments: visibilities) func everyForkRunsOnce(_ forks: StealingStrategy.Forks) {
    for strategy in Self.strategies(forks) {
      for workers in [1, 2, 3, 8] {
        let (ran, _, _) = run(strategy, workers: workers, depth: 8)
        #expect(ran.dropFirst().allSatisfy { $0 == 1 })
      }
    }
  }

  /// 511 jobs of 1 us each. One worker is busy all the time, and takes nothing from a list but the first job.
  @Test(arguments: visibilities) func oneWorkerTakesNoTime(_ forks: StealingStrategy.Forks) {
    for strategy in Self.strategies(forks) { #expect(run(strategy, workers: 1, depth: 8).makespan == 511_000) }
  }

  /// With steps that take no time, no worker is without a job while a fork is left.
  @Test(arguments: visibilities) func noWorkerIsIdleWhileForksAreKept(_ forks: StealingStrategy.Forks) {
    for strategy in Self.strategies(forks) {
      let result = run(strategy, workers: 4, depth: 8)
      // Graham's bound: a quarter of the work, and the longest path.
      #expect(result.makespan <= 511_000 / 4 + 9_000)
    }
  }

  /// What is shown at once is stolen more often than what is shown when somebody wants it.
  @Test func fewForksAreStolenWhenOthersAreBusy() {
    let many = run(Self.strategies(.upTo(count: 8))[0], workers: 2, depth: 10).statistics.pool.steals
    let few = run(Self.strategies(.idle)[0], workers: 2, depth: 10).statistics.pool.steals
    #expect(few <= many && few > 0)
  }
}
