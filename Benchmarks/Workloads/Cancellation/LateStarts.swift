import Harness
import Subjects
import Synchronization

/// Bodies that begin after `cancelAllOperations` has returned, of operations added before the call: must be 0.
///
/// Short operations run on all workers when the call comes, after as many as the seed chooses have begun: those that
/// begin next wait for the caller to be at the call, and end at once, so that the call always falls into the middle
/// and every worker is about to start its next operation just then. With `links=chain` every other operation depends
/// on the one two before, so that cancelling one by one would release the next. (Foundation of Swift 6.3 on Linux
/// crashes on that, in memory it has freed; its cell then says so.) Each body notes the time as its first act; the
/// caller notes the time as soon as the call has returned (`returned`).
///
/// An operation counts as started from when it reports `isExecuting`. A worker that has started one can lose its CPU
/// before the body's first instruction, so a body may begin after `returned` though its operation was started before:
/// of those there are at most as many as there are workers, and no library could call them back. They are told apart
/// by looking, right after the call, at every operation whose body has not begun: one that is executing at that look,
/// or whose body begins before its turn to be looked at, is taken to have been started before the return. At most
/// `workers` are excused so in one round, the rest counts as late. Every other body that begins later than `returned`
/// is late without excuse. The same rule holds for every subject.
struct LateStarts: Workload {
  let name = BenchmarkName("cancellation", "late-starts")
  let summary = "bodies that begin after cancelAllOperations() returned: must be 0"
  let metrics = [Metric.lateStarts]
  let needs = Abilities.operations
  /// An event count: the number of rounds is what matters, not how long they take.
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

/// One round: add, cancel all in the middle, and see who began when.
private final class CancelRound<S: OperationSubject>: @unchecked Sendable {
  // `begun[i]` is written by body i alone (atomically, since the caller looks while they run).
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
    self.operations = operations
    self.isChained = isChained
    self.rounds = rounds
    self.workers = workers
    subject = S(workers: workers)
    begun = .allocate(capacity: operations)
    for index in 0..<operations { (begun + index).initialize(to: Atomic(0)) }
  }

  deinit {
    begun.deinitialize(count: operations)
    begun.deallocate()
  }

  /// Cancels when that number of bodies has begun; gives the late starts, and out of how many: the operations that had not
  /// been started when the call returned.
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

  /// For each operation whether it must be taken to have been started before the call returned; see `LateStarts`.
  private func startedBefore(_ items: [S.Item]) -> [Bool] {
    items.indices.map { index in begun[index].load(ordering: .relaxed) > 0 || S.isExecuting(items[index]) }
  }
}
