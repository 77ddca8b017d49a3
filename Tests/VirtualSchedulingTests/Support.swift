import Scheduling
import TestSupport

@testable import VirtualScheduling

/// A schedule as it was: which worker began which job, and when.
struct Begun: Hashable {
  var worker: Int
  var job: UInt
  var time: Int64
}

/// Runs jobs without dependencies to the end. Every body takes `duration`.
@discardableResult
func runAll(_ pool: VirtualPool, duration: Int64 = 100) -> [Begun] {
  var begun: [Begun] = []
  while let step = pool.next() {
    switch step {
    case .run(let worker, let job):
      begun.append(Begun(worker: worker, job: job, time: pool.now))
      pool.works(worker, for: duration)
    case .ended(let worker, _): pool.finished(worker)
    case .timer: break
    }
  }
  return begun
}

/// Every strategy of both pools that differs from the default in at most one decision.
let allStrategies: [VirtualStrategy] =
  [.stealing(StealingStrategy()), .threadPool(ThreadPoolStrategy())]
  + StealingStrategy.singleChanges().map { .stealing($0) } + ThreadPoolStrategy.singleChanges().map { .threadPool($0) }

/// Seeds of random programs, from 1 on: at night all, and for a change some, which differ from strategy to strategy.
func seeds(for strategy: VirtualStrategy, _ few: UInt64, of all: UInt64) -> ClosedRange<UInt64> {
  if runsLongTests { return 1...all }
  let part = "\(strategy)".utf8.reduce(0) { $0 + UInt64($1) } % (all / few)
  return part * few + 1...(part + 1) * few
}

extension VirtualCosts {
  /// Round numbers, each different, so that a time says what it is made of.
  static let sample: VirtualCosts = {
    var costs = VirtualCosts()
    costs.operation = 200
    costs.edge = 20
    costs.add = 30
    costs.take = 10
    costs.look = 5
    costs.steal = ByDistance(100, otherGroup: 200, otherSocket: 400)
    costs.move = 15
    costs.submit = 60
    costs.takeOutside = 50
    costs.list = 25
    costs.transfer = ByDistance(40, otherGroup: 110, otherSocket: 190)
    costs.glance = ByDistance(9, otherGroup: 22, otherSocket: 45)
    costs.wake = 4_500
    costs.wakeLatency = 20_000
    costs.miss = ByDistance(70, otherGroup: 140, otherSocket: 280)
    return costs
  }()
}
