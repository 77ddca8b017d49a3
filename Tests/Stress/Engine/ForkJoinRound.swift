import Glibc
import OperationJobs
import Operations
import Synchronization
import TestSupport

/// Trees of joins from several threads at once, beside operations: each tree's result must be that of plain recursion.
struct ForkJoinRound {
  let seed: UInt64

  struct Outcome {
    var violations: [String] = []
    var trees = 0
  }

  /// - Throws: when something hangs.
  func run(on backend: any Backend) throws -> Outcome {
    var random = SeededGenerator(seed: seed ^ 0xA076_1D64_78BD_642F)
    // Every fork is shown in half of the rounds: as many are taken as can be.
    let showsAll = random.chance(50)
    let home = (backend as? any SupervisedBackend)?.home
    home?.showsAllForks.store(showsAll, ordering: .relaxed)
    defer { home?.showsAllForks.store(false, ordering: .relaxed) }
    let other = OperationQueue().backend
    let backends: [any Backend] = random.chance(50) ? [backend] : [backend, other]
    let queue = OperationQueue(backend: backend)
    let outcomes = Monitor(Outcome())
    let guests = random.pick(0...2)
    let operations = random.pick(guests == 0 ? 1...3 : 0...3)
    let left = CountdownLatch(guests + operations)
    for index in 0..<guests + operations {
      let seeds = (0..<random.pick(1...12)).map { _ in random.next() }
      let work = { @Sendable in
        var outcome = Outcome()
        for seed in seeds { plant(seed, on: backends, queue, &outcome) }
        let done = outcome
        outcomes.with {
          $0.violations += done.violations
          $0.trees += done.trees
        }
        left.countDown()
      }
      if index < guests { startThread(work) } else { queue.addOperation(work) }
    }
    for _ in 0..<random.pick(0...50) { queue.addOperation { BodyPlan(spins: 50).run() } }
    try left.wait("the trees of joins")
    try inTime("the operations beside the joins") { queue.waitUntilAllOperationsAreFinished() }
    return outcomes.value
  }

  /// Compares one tree's result with plain recursion.
  private func plant(_ seed: UInt64, on backends: [any Backend], _ queue: OperationQueue, _ outcome: inout Outcome) {
    var random = SeededGenerator(seed: seed)
    let tree = ForkTree(seed: seed, depth: random.pick(1...10), mayThrow: random.chance(50))
    let mayBlock = random.chance(30)
    let expected = tree.sequentially()
    var seen: Result<UInt64, ForkTree.Failure>
    do throws(ForkTree.Failure) {
      seen = .success(
        try tree.joined(on: backends) { number in
          if mayBlock { Self.disturb(number, queue) }
        })
    } catch {
      seen = .failure(error)
    }
    outcome.trees += 1
    if seen != expected { outcome.violations.append("tree \(seed) is \(seen), and should be \(expected)") }
  }

  /// Blocks in some leaves, in each way.
  private static func disturb(_ number: UInt64, _ queue: OperationQueue) {
    switch number & 0x3F {
    case 0: usleep(UInt32(number >> 8 & 0x7F))
    case 1: sched_yield()
    case 2:
      let operation = BlockOperation {}
      queue.addOperation(operation)
      operation.waitUntilFinished()
    case 3:
      // On top of the leaf, with joins of its own.
      let operation = BlockOperation { join({ BodyPlan(spins: 20).run() }, { BodyPlan(spins: 20).run() }) }
      operation.start()
    default: BodyPlan(spins: Int(number >> 8 & 0xFF)).run()
    }
  }
}

/// A small tree of joins whose code `scripts/check/codegen.py` looks at: the fork that stays with its thread costs
/// nothing that the table there does not say.
public enum ForkCost {
  @inline(never)
  public static func fibonacci(_ n: Int) -> Int {
    guard n > 1 else { return n }
    let (left, right) = join({ fibonacci(n - 1) }, { fibonacci(n - 2) })
    return left + right
  }
}
