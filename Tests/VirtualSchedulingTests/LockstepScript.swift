import Scheduling

@testable import VirtualScheduling

/// What a test hands to a real pool and to a virtual one: numbered jobs, each of which may add jobs and leave a
/// successor.
///
/// All workers but one are held for the whole time by a job each. The last worker is held while jobs are handed in, and
/// then works alone until no job is left. So one order is right, whatever the speed of a thread.
struct LockstepScript: Sendable {
  /// What a job does.
  struct Work: Sendable {
    var level: Int
    var adds: [Int] = []
    /// Whether the added jobs are submitted with one call.
    var addsTogether = false
    var successor: Int?
  }

  /// Jobs that are submitted while every worker is held.
  struct HandIn: Sendable {
    /// The worker that submits the jobs; nil for a thread outside.
    var worker: Int?
    var jobs: [Int]
    /// Whether the jobs are submitted with one call.
    var isTogether = false
  }

  let workers: Int
  let fairnessInterval: Int
  private(set) var works: [Work] = []
  private(set) var rounds: [[HandIn]] = []

  /// The level of the jobs that hold workers.
  static let heldLevel = VirtualPool.middleLevel

  init(workers: Int, works: [Work], rounds: [[HandIn]]) {
    self.workers = workers
    fairnessInterval = 61
    self.works = works
    self.rounds = rounds
  }

  /// A script from a seed.
  /// - Parameter usesOutside: whether threads outside hand jobs in, too.
  init(workers: Int, rounds: Int, usesOutside: Bool, seed: UInt64) {
    var random = VirtualChoices(seed: seed)
    self.workers = workers
    fairnessInterval = [61, 5, 0][random.pick(below: 3)]
    for _ in 0..<rounds {
      let handIns = (0..<3 + random.pick(below: 6)).map { _ in
        let giver = random.pick(below: workers + 1)
        let isFew = random.pick(below: 3) > 0
        let count = 1 + random.pick(below: isFew ? 4 : 90)
        return HandIn(
          worker: giver < workers ? giver : usesOutside ? nil : workers - 1,
          jobs: (0..<count).map { _ in addWork(depth: isFew ? 0 : 2, &random) }, isTogether: random.pick(below: 2) == 0)
      }
      self.rounds.append(handIns)
    }
  }

  private mutating func addWork(depth: Int, _ random: inout VirtualChoices) -> Int {
    let isUsual = random.pick(below: 2) == 0
    var work = Work(level: isUsual ? VirtualPool.middleLevel : random.pick(below: VirtualPool.levels))
    if depth < 3 {
      if random.pick(below: 3) == 0 {
        work.adds = (0..<1 + random.pick(below: 6)).map { _ in addWork(depth: depth + 1, &random) }
      }
      work.addsTogether = random.pick(below: 2) == 0
      if random.pick(below: 4) == 0 { work.successor = addWork(depth: depth + 1, &random) }
    }
    works.append(work)
    return works.count - 1
  }
}

/// What a pool made of a script.
struct LockstepOutcome: Equatable {
  /// The jobs, in the order in which they began.
  var order: [Int] = []
  /// What each worker counted.
  var counts: [PoolStatistics.Worker] = []

  /// Where two outcomes part.
  func difference(from other: LockstepOutcome) -> String {
    if let index = order.indices.first(where: { !other.order.indices.contains($0) || other.order[$0] != order[$0] }) {
      return "job \(index) is \(order[index...].prefix(8)) and not \(other.order.dropFirst(index).prefix(8))"
    }
    if order.count != other.order.count { return "\(order.count) jobs begin, and not \(other.order.count)" }
    return "the workers counted \(counts), and not \(other.counts)"
  }
}

extension LockstepScript {
  /// Runs the script on a virtual pool.
  func run(on strategy: VirtualStrategy, choices: VirtualChoices) -> LockstepOutcome {
    let pool = VirtualPool(
      workers: workers, strategy: strategy, choices: choices, fairnessInterval: fairnessInterval)
    var outcome = LockstepOutcome()
    // The workers that are held, in the order in which they began.
    var held: [Int] = []
    for _ in 1..<workers { held.append(hold(pool)) }
    for round in rounds {
      let active = hold(pool)
      for handIn in round {
        submit(
          handIn.jobs, isTogether: handIn.isTogether, by: handIn.worker.map { $0 < held.count ? held[$0] : active },
          pool)
      }
      pool.finished(active)
      while case .run(let worker, let word)? = pool.next() {
        let work = works[Int(word)]
        outcome.order.append(Int(word))
        submit(work.adds, isTogether: work.addsTogether, by: worker, pool)
        pool.finished(worker, successor: work.successor.map { (UInt($0), works[$0].level) })
      }
    }
    outcome.counts = pool.statistics.pool.workers
    return outcome
  }

  /// Submits a job from outside that holds its worker, and lets all others fall asleep.
  private func hold(_ pool: VirtualPool) -> Int {
    pool.submit(.max, level: Self.heldLevel)
    guard case .run(let worker, .max)? = pool.next() else { fatalError("the job that holds a worker has not begun") }
    if pool.next() != nil { fatalError("another job begins") }
    return worker
  }

  private func submit(_ jobs: [Int], isTogether: Bool, by worker: Int?, _ pool: VirtualPool) {
    if isTogether {
      pool.submit(jobs.map { (job: UInt($0), level: works[$0].level) }, by: worker)
    } else {
      for job in jobs { pool.submit(UInt(job), level: works[job].level, by: worker) }
    }
  }
}
