import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// Threads that add and threads that cancel, all at the same time.
///
/// Each adder adds its part of `ops`. Each adder cancels every fourth of its own operations a little later, and cancels
/// all pending operations at every 256th. The cancellers only call `cancelAllOperations`, again and again, until all
/// operations have been added. When there are fewer CPUs than threads, the cancellers may come late, so the adders
/// cancel too. Timed: until the queue is empty. Every operation must finish, run at most once, and be cancelled if it
/// did not run. Executed and cancelled operations together are all added operations.
struct Storm: Workload {
  let name = BenchmarkName("cancellation", "storm")
  let summary = "threads that add and cancel at once"
  let metrics = Metric.cost + [.executed, .cancelled]
  let headlines = [Metric.nsPerOp, .executed, .cancelled]
  let needs = Abilities.operations

  func parameterSets() -> [Parameters] {
    [["ops": "4000", "adders": "2", "cancellers": "1", "work_ns": "500"]]
  }
  func extendedParameterSets() -> [Parameters] {
    [["ops": "4000", "adders": "4", "cancellers": "4", "work_ns": "500"]]
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let round = try StormRound<S>(setting)
    return Trial(operationsPerRepeat: round.operations) { repeats in
      var elapsed = Elapsed()
      var executed = 0
      for _ in 0..<repeats { executed += try round.run(&elapsed) }
      let count = round.operations * repeats
      return Value(
        elapsed.readings(operations: count) + [
          Reading(.executed, Double(executed) / Double(repeats), count: count),
          Reading(.cancelled, Double(count - executed) / Double(repeats), count: count),
        ])
    }
  }
}

private final class StormRound<S: OperationSubject>: @unchecked Sendable {
  // Each place of `items` is written by the adder whose part holds the place. The place is read by that adder, and when
  // everything is over.
  let operations: Int
  private let adders: Int
  private let rounds: Int
  private let pause: Int
  private let subject: S
  private let flags: RunFlags
  private let team: ThreadTeam
  private let items: UnsafeMutablePointer<S.Item?>
  private let adding = Atomic<Int>(0)

  init(_ setting: Setting) throws {
    operations = try setting.integer("ops")
    adders = max(1, try setting.integer("adders"))
    rounds = setting.spin.rounds(nanoseconds: try setting.number("work_ns"))
    // The pause between two calls. Without a pause, cancellers that hold a queue's lock all the time would be all that
    // is measured.
    pause = setting.spin.rounds(nanoseconds: 20_000)
    subject = S(workers: setting.workers)
    flags = RunFlags(count: operations)
    team = try ThreadTeam(count: adders + max(0, try setting.integer("cancellers")))
    items = .allocate(capacity: operations)
    items.initialize(repeating: nil, count: operations)
  }

  deinit {
    items.deinitialize(count: operations)
    items.deallocate()
  }

  /// Gives the number of bodies that ran.
  func run(_ elapsed: inout Elapsed) throws -> Int {
    adding.store(adders, ordering: .relaxed)
    let start = Counters.read()
    team.run { [self] thread in
      if thread < adders { add(slice(thread, of: adders, count: operations)) } else { cancelMeanwhile() }
    }
    subject.drain()
    elapsed.add(since: start)
    try checkEmpty(subject.remaining)
    return try check()
  }

  private func add(_ part: Range<Int>) {
    for index in part {
      let flag = flags.slot(index)
      let rounds = rounds
      let item = S.makeOperation {
        flag.mark()
        Spin.run(rounds: rounds)
      }
      items[index] = item
      subject.add(item)
      let earlier = index - 8
      if index.isMultiple(of: 4), earlier >= part.lowerBound, let item = items[earlier] { S.cancel(item) }
      if index % 256 == 255 { subject.cancelAll() }
    }
    adding.wrappingSubtract(1, ordering: .releasing)
  }

  private func cancelMeanwhile() {
    while adding.load(ordering: .acquiring) > 0 {
      subject.cancelAll()
      Spin.run(rounds: pause)
    }
  }

  private func check() throws -> Int {
    var executed = 0
    for index in 0..<operations {
      let times = flags.take(index)
      guard let item = items[index], S.isFinished(item), times == 1 || times == 0 && S.isCancelled(item) else {
        throw CheckFailed(
          "operation \(index) of \(operations) ran \(times) times and is \(items[index].map(Self.describe) ?? "absent")"
        )
      }
      executed += Int(times)
      items[index] = nil
    }
    return executed
  }

  private static func describe(_ item: S.Item) -> String {
    (S.isFinished(item) ? "finished, " : "not finished, ") + (S.isCancelled(item) ? "cancelled" : "not cancelled")
  }
}
