import Scheduling
import Testing

@testable import VirtualScheduling

/// How many later jobs may begin before a queued one, while streams of jobs feed themselves.
/// `StealingBackend/README.md` has the bound.
@Suite struct TurnBoundTests {
  /// All strategies that do not give row 20 up. A worker that looks outside once in a million jobs, or runs a million
  /// successors in a row, says itself how long the others wait.
  static let strategies = allStrategies.filter { strategy in
    guard strategy.runLength <= 1_000 else { return false }
    switch strategy {
    case .stealing(let chosen): return !chosen.givenUpRows.contains(20) && chosen.outsideInterval <= 1_000
    case .threadPool(let chosen): return !chosen.givenUpRows.contains(20)
    }
  }

  @Test(arguments: strategies) func everyJobBeginsInItsTurn(_ strategy: VirtualStrategy) {
    for seed in seeds(for: strategy, 1, of: 4) {
      var program = Program(strategy, costs: seed.isMultiple(of: 2) ? .sample : .none, seed: seed)
      if let complaint = program.run() { Issue.record("\(strategy), seed \(seed): \(complaint)") }
    }
  }
}

/// An old job of a worker whose newest job always adds another one.
@Suite struct OldJobTests {
  private static let most = 20_000

  @Test(arguments: allStrategies) func anOldJobBeginsUnlessItsStrategyMayLetItWait(_ strategy: VirtualStrategy) {
    let mayStarve =
      switch strategy {
      case .stealing(let chosen): chosen.mayStarve
      case .threadPool(let chosen): chosen.mayStarve
      }
    let pool = VirtualPool(workers: 1, strategy: strategy, costs: .none, choices: VirtualChoices(seed: 1))
    let old: UInt = 1
    var newest: UInt = 2
    pool.submit(newest, level: 2, by: nil)
    var begun = 0
    var hasBegun = false
    while let step = pool.next(), begun < Self.most, !hasBegun {
      switch step {
      case .run(let worker, let job):
        begun += 1
        hasBegun = job == old
        pool.works(worker, for: 1)
      case .ended(let worker, _):
        if begun == 1 { pool.submit(old, level: 2, by: worker) }
        newest += 1
        pool.submit(newest, level: 2, by: worker)
        pool.finished(worker)
      case .timer: break
      }
    }
    #expect(hasBegun != mayStarve, "\(strategy), after \(begun) jobs")
  }
}

/// Streams of jobs, each of which adds its successor, and a few parents that add children: a parent then blocks or
/// computes until its children have begun, or ends at once. Some jobs come from outside.
private struct Program {
  private enum Kind {
    case stream
    case parent(children: Int, level: Int, ends: End)
    /// A child of the parent on that worker; -1 for a job from outside, or a child that nobody awaits.
    case child(of: Int)
    case filler
  }
  private enum End: CaseIterable { case blocks, computes, atOnce }
  private struct Waiting {
    var number: Int
    var begunBefore: Int
    var queuedBefore: Int
  }

  private let pool: VirtualPool
  private let workers: Int
  private let usesSuccessors: Bool
  private let streamLevel: Int
  private let longestRun: Int
  private let interval: Int
  private var random: VirtualChoices
  private var kinds: [Kind] = []
  private var levels: [Int] = []
  private var waiting: [UInt: Waiting] = [:]
  /// For each worker with a parent that is not over: how many children have not begun.
  private var missing: [Int: (children: Int, ends: End)] = [:]
  private var begun = 0
  private var parentsLeft = 6
  private var goesOn = true

  init(_ strategy: VirtualStrategy, costs: VirtualCosts, seed: UInt64) {
    random = VirtualChoices(seed: seed &* 77)
    workers = 1 + random.pick(below: 4)
    usesSuccessors = random.pick(below: 3) == 0
    streamLevel = [2, 2, 4, 1][random.pick(below: 4)]
    longestRun = usesSuccessors ? strategy.runLength : 1
    switch strategy {
    case .stealing(let chosen): interval = max(Turns.usualOthersInterval, chosen.outsideInterval)
    case .threadPool: interval = Turns.usualOthersInterval
    }
    pool = VirtualPool(workers: workers, strategy: strategy, costs: costs, choices: VirtualChoices(seed: seed))
  }

  private mutating func add(_ kind: Kind, level: Int) -> UInt {
    kinds.append(kind)
    levels.append(level)
    return UInt(kinds.count)
  }

  private mutating func submit(_ kind: Kind, level: Int, by worker: Int?) {
    let job = add(kind, level: level)
    if case .child = kind {
      waiting[job] = Waiting(number: Int(job), begunBefore: begun, queuedBefore: pool.queuedCount)
    }
    pool.submit(job, level: level, by: worker)
  }

  /// - Returns: what is wrong; nil when every job began in its turn.
  mutating func run() -> String? {
    for _ in 0..<workers + random.pick(below: 3) { submit(.stream, level: streamLevel, by: nil) }
    while let step = pool.next() {
      switch step {
      case .run(let worker, let job):
        begun += 1
        if let complaint = begins(job, on: worker) { return complaint }
      case .ended(let worker, let job):
        if case .stream = kinds[Int(job) - 1], goesOn {
          let next = add(.stream, level: streamLevel)
          if usesSuccessors {
            pool.finished(worker, successor: (next, streamLevel))
          } else {
            pool.submit(next, level: streamLevel, by: worker)
            pool.finished(worker)
          }
        } else {
          pool.finished(worker)
        }
      case .timer: break
      }
      // Each job that begins is judged, too: this is for jobs that never begin.
      if case .run = step, begun.isMultiple(of: 128) {
        for job in waiting.values { if let complaint = overdue(job) { return complaint } }
      }
    }
    return waiting.isEmpty && missing.isEmpty ? nil : "\(waiting.count) jobs never began"
  }

  /// How many jobs may begin between the adding and the beginning of a job.
  private func bound(_ job: Waiting) -> Int {
    let threads = max(pool.workers.count, workers)
    let looks = threads * (job.queuedBefore / Turns.broughtAtOnce + 2)
    return workers * longestRun * interval * (looks + 2 * (job.queuedBefore + 2))
  }

  private func overdue(_ job: Waiting) -> String? {
    let later = begun - job.begunBefore
    guard later > bound(job) else { return nil }
    return
      "job \(job.number) has not begun while \(later) others did, of \(bound(job)) allowed; \(workers) workers, "
      + "streams at level \(streamLevel), the job at \(levels[job.number - 1])"
  }

  private mutating func begins(_ job: UInt, on worker: Int) -> String? {
    if let waited = waiting.removeValue(forKey: job), let complaint = overdue(waited) { return complaint }
    switch kinds[Int(job) - 1] {
    case .stream:
      // Every 50th job or so something else comes.
      if parentsLeft > 0, random.pick(below: 50) == 0 { disturb(by: worker) }
      if parentsLeft == 0, waiting.isEmpty, missing.isEmpty { goesOn = false }
      pool.works(worker, for: Int64(1 + random.pick(below: 50)))
    case .parent(let children, let level, let ends):
      let mayWait =
        ends == .blocks || (ends == .computes && missing.values.count { $0.ends == .computes } + 1 < workers)
      for _ in 0..<children { submit(.child(of: mayWait ? worker : -1), level: level, by: worker) }
      if mayWait {
        missing[worker] = (children, ends)
        if ends == .blocks { pool.blocks(worker) }
      } else {
        pool.works(worker, for: 5)
      }
    case .child(let parent):
      pool.works(worker, for: 5)
      guard parent >= 0 else { return nil }
      missing[parent]!.children -= 1
      guard missing[parent]!.children == 0 else { return nil }
      if missing.removeValue(forKey: parent)!.ends == .blocks { pool.unblocks(parent) }
      pool.works(parent, for: 1)
    case .filler: pool.works(worker, for: 3)
    }
    return nil
  }

  private mutating func disturb(by worker: Int) {
    parentsLeft -= 1
    let level = random.pick(below: 2) == 0 ? streamLevel : 0
    switch random.pick(below: 4) {
    case 0:
      // Jobs wait outside, and then a worker adds many at once.
      for _ in 0..<1 + random.pick(below: 5) { submit(.child(of: -1), level: level, by: nil) }
      let batch = (0..<300).map { _ in (job: add(.filler, level: streamLevel), level: streamLevel) }
      pool.submit(batch, by: worker)
    default:
      submit(
        .parent(
          children: 1 + random.pick(below: 20), level: level,
          ends: End.allCases[random.pick(below: End.allCases.count)]), level: streamLevel, by: worker)
    }
  }
}
