import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Subjects
import Synchronization

/// Counts bodies that begin after `cancelAllOperations` has returned, of operations added before the call. The number
/// must be 0.
///
/// Short operations run on all workers when the call comes. The seed chooses how many bodies begin before the call. The
/// next bodies wait until the caller is at the call, and end at once. So the call always falls into the middle, and
/// every worker is about to start its next operation at that moment. With `links=chain` every other operation depends
/// on the operation two before, so that cancelling one by one would release the next. (Foundation of Swift 6.3 on Linux
/// crashes in this case, in memory that Foundation has freed; the cell of Foundation then says so.) Each body notes the
/// time as its first act. The caller notes the time as soon as the call has returned (`returned`).
///
/// An operation counts as started when the operation reports `isExecuting`. A worker that has started an operation can
/// lose its CPU before the body's first instruction. So a body may begin after `returned` although its operation was
/// started before. There are at most as many such bodies as workers, and no library could call them back. To find these
/// bodies, the caller looks at every operation right after the call. An operation that is executing when the caller
/// looks, or whose body has begun by then, is taken to have been started before the return. At most `workers`
/// operations are excused in this way in one round; the rest count as late. Every other body that begins later than
/// `returned` is late without excuse. The same rule holds for every subject.
struct LateStarts: Workload {
  let name = BenchmarkName("cancellation", "late-starts")
  let summary = "bodies that begin after cancelAllOperations() returned: must be 0"
  let metrics = [Metric.lateStarts]
  let needs = Abilities.operations
  /// A count of events: the number of rounds matters, not how long the rounds take.
  let repeats = RepeatPolicy.samples(250, seconds: 0.3)

  func parameterSets() -> [Parameters] {
    ["none", "chain"].map { ["ops": "256", "work_ns": "1000", "links": $0] }
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let round = CancelRound<S>(
      operations: operations, isChained: setting.parameters["links"] == "chain",
      rounds: setting.spin.rounds(nanoseconds: try setting.number("work_ns")), workers: setting.workers)
    var random = SeededGenerator(seed: setting.seed, purpose: "late-starts")
    return Trial(operationsPerRepeat: operations) { repeats in
      var late = 0
      var pending = 0
      for _ in 0..<repeats {
        let result = try round.run(cancelAfter: Int.random(in: 0..<operations, using: &random) / 2)
        late += result.late
        pending += result.pending
      }
      guard pending > 0 else { throw CheckFailed("no operation was pending when all were cancelled") }
      return Value([Reading(.lateStarts, Double(late), count: pending)])
    }
  }
}

/// One round: adds the operations, cancels all in the middle, and finds out which bodies began when.
private final class CancelRound<S: OperationSubject>: @unchecked Sendable {
  // `begun[i]` is written by body i alone, atomically, because the caller reads `begun` while the bodies run.
  private let subject: S
  private let operations: Int
  private let isChained: Bool
  private let rounds: Int
  private let workers: Int
  private let begun: UnsafeMutablePointer<Atomic<UInt64>>
  private let count = Atomic<Int>(0)
  private let target = Atomic<Int>(0)
  private let isCalling = Atomic<Bool>(false)

  init(operations: Int, isChained: Bool, rounds: Int, workers: Int) {
    (self.operations, self.isChained, self.rounds, self.workers) = (operations, isChained, rounds, workers)
    subject = S(workers: workers)
    begun = .allocate(capacity: operations)
    for index in 0..<operations { (begun + index).initialize(to: Atomic(0)) }
  }

  deinit {
    begun.deinitialize(count: operations)
    begun.deallocate()
  }

  /// Cancels when `target` bodies have begun. Gives the number of late starts, and the number of operations that had
  /// not been started when the call returned.
  func run(cancelAfter target: Int) throws -> (late: Int, pending: Int) {
    for index in 0..<operations { begun[index].store(0, ordering: .relaxed) }
    count.store(0, ordering: .relaxed)
    self.target.store(target, ordering: .relaxed)
    isCalling.store(false, ordering: .relaxed)
    let items = makeItems()
    subject.add(contentsOf: items)
    while count.load(ordering: .relaxed) < target {}
    isCalling.store(true, ordering: .relaxed)
    subject.cancelAll()
    let returned = Clock.now()
    let excused = startedBefore(items)
    subject.drain()

    try checkEmpty(subject.remaining)
    var late = 0
    var ran = 0
    var inFlight = 0
    for index in 0..<operations {
      let time = begun[index].load(ordering: .relaxed)
      guard time > 0 else { continue }
      ran += 1
      if time > returned {
        if excused[index] { inFlight += 1 } else { late += 1 }
      }
    }
    guard ran == count.load(ordering: .relaxed) else {
      throw CheckFailed("\(count.load(ordering: .relaxed)) bodies began in \(ran) operations: one ran twice")
    }
    late += max(0, inFlight - workers)
    return (late, operations - ran + late)
  }

  private func makeItems() -> [S.Item] {
    var items: [S.Item] = []
    items.reserveCapacity(operations)
    for index in 0..<operations {
      let item = S.makeOperation { [self] in
        begun[index].store(Clock.now(), ordering: .relaxed)
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        if number > target.load(ordering: .relaxed) {
          while !isCalling.load(ordering: .relaxed) {}
        } else {
          Spin.run(rounds: rounds)
        }
      }
      if isChained, index.isMultiple(of: 2), index >= 2 { S.addDependency(of: item, on: items[index - 2]) }
      items.append(item)
    }
    return items
  }

  /// For each operation, whether the operation is taken to have been started before the call returned; see
  /// `LateStarts`.
  private func startedBefore(_ items: [S.Item]) -> [Bool] {
    items.indices.map { index in begun[index].load(ordering: .relaxed) > 0 || S.isExecuting(items[index]) }
  }
}
