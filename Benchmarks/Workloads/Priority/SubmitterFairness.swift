import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// Whether several submitters that all want as much as they can get are served equally.
///
/// Each submitter keeps `pending` operations in the subject: when one of its operations has run, the submitter adds the
/// next. With `from=outside` a submitter is a thread. With `from=inside` a submitter is a family of operations, each of
/// which adds its successor. The contest begins when every submitter has had a first operation run, and lasts
/// `duration_ns`. Every start in the contest counts, and each operation notes the time in a place of its own. For a
/// cost per operation, one such contest is the operation.
struct SubmitterFairness: Workload {
  let name = BenchmarkName("priority", "submitter-fairness")
  let summary = "how evenly several submitters are served"
  let metrics = [Metric.jain, .minShare]
  let repeats = RepeatPolicy.samples(30, seconds: 0.8)

  func parameterSets() -> [Parameters] { [parameters("4", from: "outside")] }
  func extendedParameterSets() -> [Parameters] {
    [parameters("4", from: "inside"), parameters("2", from: "outside"), parameters("8", from: "outside")]
  }

  /// Inside, the contest begins when each family has had an operation run.
  func needsTurns(_ parameters: Parameters) -> Bool { parameters["from"] == "inside" }

  private func parameters(_ submitters: String, from: String) -> Parameters {
    ["submitters": submitters, "from": from, "pending": "16", "work_ns": "1000", "duration_ns": "10000000"]
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let contest = try SubmitterContest<S>(setting)
    return Trial(operationsPerRepeat: 1) { repeats in
      var jain = 0.0
      var minShare = 0.0
      var operations = 0
      for _ in 0..<repeats {
        let (fairness, served) = try contest.result()
        jain += fairness.jain
        minShare += fairness.minShare
        operations += served
      }
      return Value([
        Reading(.jain, jain / Double(repeats), count: operations),
        Reading(.minShare, minShare / Double(repeats), count: operations),
      ])
    }
  }
}

/// Submitters at work for a fixed time.
private final class SubmitterContest<S: ClosureSubject>: @unchecked Sendable {
  // Sendable: the properties are constant, except for the atomics and the lanes. `Lane` says how the lanes are shared.
  private let subject: S
  private let submitters: Int
  private let rounds: Int
  private let duration: UInt64
  private let lanes: [Lane]
  /// The threads outside; nil when the operations themselves are the submitters.
  private let team: ThreadTeam?
  private let finished = DispatchSemaphore(value: 0)
  /// The number of submitters that have had an operation run.
  private let begun = Atomic<Int>(0)
  /// The end of the contest; `max` until the contest has begun. The deadline is written once per contest, so reading it
  /// costs nothing.
  private let deadline = Atomic<UInt64>(.max)

  init(_ setting: Setting) throws {
    let isInside: Bool
    switch setting.parameters["from"] {
    case "outside": isInside = false
    case "inside": isInside = true
    default: throw Complaint(.usage, "parameter 'from' is outside or inside, unlike in '\(setting.parameters)'")
    }
    subject = S(workers: setting.workers)
    submitters = max(1, try setting.integer("submitters"))
    let pending = max(1, try setting.integer("pending"))
    duration = UInt64(try setting.integer("duration_ns"))
    let work = try setting.number("work_ns")
    rounds = setting.spin.rounds(nanoseconds: work)
    // The most operations that can start one after the other in the time. A thread outside has as many operations
    // running as there are CPUs.
    let inARow = Int(Double(duration) / max(work, 100)) + 16
    let lanesEach = isInside ? pending : 1
    let capacity = isInside ? inARow : inARow * max(setting.workers, CPUs.available)
    lanes = (0..<submitters * lanesEach).map {
      Lane(submitter: $0 / lanesEach, isOpener: $0 % lanesEach == 0, capacity: capacity, credit: pending)
    }
    team = isInside ? nil : try ThreadTeam(count: submitters)
  }

  /// The evenness of a contest, and its number of operations. A contest in which nothing started, because other
  /// programs had the CPUs all the time, says nothing and is repeated.
  func result() throws -> (Evenness, operations: Int) {
    for _ in 0..<20 {
      let served = try run()
      if let evenness = Evenness(served) { return (evenness, served.reduce(0, +)) }
    }
    throw CheckFailed("no operation started in the time of any of 20 contests")
  }

  /// Runs one contest; gives the number of started operations of each submitter.
  private func run() throws -> [Int] {
    for lane in lanes { lane.reset() }
    begun.store(0, ordering: .relaxed)
    deadline.store(.max, ordering: .relaxed)
    if let team {
      team.run { [self] in submitFromOutside(lanes[$0]) }
    } else {
      for lane in lanes { subject.submit { [self] in executeAndContinue(lane) } }
      for _ in lanes { finished.wait() }
    }
    subject.drain()
    try checkEmpty(subject.unfinished ?? 0)
    for lane in lanes { try lane.check() }
    return served()
  }

  /// The place where the next operation of a lane notes its start; `unlogged` before the contest, and `over` when the
  /// contest has ended or the lane has no place left.
  private enum Next {
    case unlogged
    case logged(Int)
    case over
  }

  private func next(_ lane: Lane) -> Next {
    let deadline = deadline.load(ordering: .relaxed)
    if deadline == .max { return .unlogged }
    guard Clock.now() < deadline, let index = lane.next() else { return .over }
    return .logged(index)
  }

  private func submitFromOutside(_ lane: Lane) {
    while true {
      lane.credit.wait()
      switch next(lane) {
      case .over:
        lane.credit.signal()
        return
      case .logged(let index):
        subject.submit { [self] in
          lane.log(index)
          Spin.run(rounds: rounds)
          lane.credit.signal()
        }
      case .unlogged:
        lane.early += 1
        subject.submit { [self] in
          begin(lane)
          Spin.run(rounds: rounds)
          lane.credit.signal()
        }
      }
    }
  }

  private func executeAndContinue(_ lane: Lane) {
    switch next(lane) {
    case .over:
      finished.signal()
      return
    case .logged(let index): lane.log(index)
    case .unlogged:
      lane.early += 1
      begin(lane)
    }
    Spin.run(rounds: rounds)
    subject.submit { [self] in executeAndContinue(lane) }
  }

  /// Notes a first operation. The submitter that is the last to run a first operation opens the contest.
  private func begin(_ lane: Lane) {
    let isFirst = lane.earlyRun.wrappingAdd(1, ordering: .relaxed).oldValue == 0 && lane.isOpener
    if isFirst, begun.wrappingAdd(1, ordering: .relaxed).newValue == submitters {
      deadline.store(Clock.now() + duration, ordering: .relaxed)
    }
  }

  private func served() -> [Int] {
    var end = deadline.load(ordering: .relaxed)
    // A submitter whose log is full has stopped. What the other submitters got after that says nothing.
    for lane in lanes where lane.isFull { end = min(end, lane.starts.max() ?? 0) }
    var served = [Int](repeating: 0, count: submitters)
    for lane in lanes { served[lane.submitter] += lane.starts.count { $0 <= end } }
    return served
  }
}

/// The operations that one submitter adds one after the other, each with a place of its own for its start time.
private final class Lane: @unchecked Sendable {
  // `used` and `early` belong to the thread that adds the next operation, one thread at a time. Each time is written by
  // its own operation alone. All are read when everything has run.
  let submitter: Int
  /// The number of further operations that the submitter may add now.
  let credit: DispatchSemaphore
  /// The number of operations that were added before the contest.
  var early = 0
  let earlyRun = Atomic<Int>(0)
  /// Whether this lane's first operation counts as the submitter's first. One lane of each submitter is the opener.
  let isOpener: Bool
  private let times: UnsafeMutablePointer<UInt64>
  private let capacity: Int
  private var used = 0
  private var hasDoubled = false

  init(submitter: Int, isOpener: Bool, capacity: Int, credit: Int) {
    (self.submitter, self.isOpener, self.capacity) = (submitter, isOpener, capacity)
    self.credit = DispatchSemaphore(value: 0)
    // A semaphore must not end below its initial value, so the initial value is 0.
    for _ in 0..<credit { self.credit.signal() }
    times = .allocate(capacity: capacity)
    times.initialize(repeating: 0, count: capacity)
  }

  deinit { times.deallocate() }

  func reset() {
    times.update(repeating: 0, count: used)
    used = 0
    early = 0
    earlyRun.store(0, ordering: .relaxed)
  }

  /// The place of the next operation; nil when no place is left.
  func next() -> Int? {
    guard used < capacity else { return nil }
    used += 1
    return used - 1
  }

  func log(_ index: Int) {
    if times[index] != 0 { hasDoubled = true }
    times[index] = Clock.now()
  }

  var isFull: Bool { used == capacity }
  var starts: UnsafeBufferPointer<UInt64> { UnsafeBufferPointer(start: times, count: used) }

  func check() throws {
    let missing = starts.count { $0 == 0 }
    let ran = earlyRun.load(ordering: .relaxed)
    guard missing == 0, !hasDoubled, ran == early else {
      throw CheckFailed(
        "of the operations of submitter \(submitter), \(missing) of \(used) did not run\(hasDoubled ? ", one ran twice" : "")"
          + ", and before the contest \(ran) ran of \(early)")
    }
  }
}
