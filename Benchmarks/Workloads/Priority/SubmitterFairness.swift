import Dispatch
import Harness
import Subjects

/// Whether several submitters who all want as much as they can get are served alike.
///
/// Each keeps `pending` operations in the subject for `duration_ns`: a submitter adds its next one when one of its own
/// has run. With `from=outside` a submitter is a thread; with `from=inside` it is a family of operations, each of which
/// adds its successor. Counted is what started after every submitter had begun and before the time was up, from a log
/// that each operation has for itself.
struct SubmitterFairness: Workload {
  let name = BenchmarkName("priority", "submitter-fairness")
  let summary = "how evenly several submitters are served"
  let metrics = [Metric.jain, .minShare]
  let requirement = Capability.closures
  let repeats = RepeatPolicy.perProcess(30, seconds: 0.3)

  func parameterSets() -> [Parameters] { [parameters("4", from: "outside")] }
  func extendedParameterSets() -> [Parameters] {
    [parameters("4", from: "inside"), parameters("2", from: "outside"), parameters("8", from: "outside")]
  }

  private func parameters(_ submitters: String, from: String) -> Parameters {
    ["submitters": submitters, "from": from, "pending": "16", "work_ns": "1000", "duration_ns": "5000000"]
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let contest = try SubmitterContest<S>(setting)
    var operations = 0
    // How many operations there are is the result here; for the counts per operation one run tells.
    _ = try contest.run(&operations)
    return Trial(operationsPerRepeat: max(1, operations)) { repeats in
      var jain = 0.0
      var minShare = 0.0
      operations = 0
      for _ in 0..<repeats {
        let fairness = try contest.run(&operations)
        jain += fairness.jain
        minShare += fairness.minShare
      }
      return Value([
        Reading(.jain, jain / Double(repeats), count: operations),
        Reading(.minShare, minShare / Double(repeats), count: operations),
      ])
    }
  }
}

/// Submitters at work for a fixed time.
final class SubmitterContest<S: ClosureSubject>: @unchecked Sendable {
  // Everything is constant but the lanes, see there, and `deadline`, which is written before anything is submitted.
  private let subject: S
  private let isInside: Bool
  private let submitters: Int
  private let pending: Int
  private let rounds: Int
  private let duration: UInt64
  private let lanes: [Lane]
  private let team: ThreadTeam?
  private let finished = DispatchSemaphore(value: 0)
  private var deadline: UInt64 = 0

  init(_ setting: Setting) throws {
    subject = S(workers: setting.workers)
    switch setting.parameters["from"] {
    case "outside": isInside = false
    case "inside": isInside = true
    default: throw Complaint(.usage, "parameter 'from' is outside or inside, unlike in '\(setting.parameters)'")
    }
    submitters = max(1, try setting.integer("submitters"))
    pending = max(1, try setting.integer("pending"))
    duration = UInt64(try setting.integer("duration_ns"))
    let work = try setting.number("work_ns")
    rounds = setting.spin.rounds(nanoseconds: work)
    // No lane can start more than this in the time, unless the work is far shorter than it was said to be.
    let inARow = Int(Double(duration) / max(work, 100)) + 16
    let lanesEach = isInside ? pending : 1
    let capacity = isInside ? inARow : inARow * max(setting.workers, CPUs.available)
    let pendingEach = pending
    lanes = (0..<submitters * lanesEach).map { Lane(submitter: $0 / lanesEach, capacity: capacity, credit: pendingEach) }
    team = isInside ? nil : try ThreadTeam(count: submitters)
  }

  /// One contest; adds to `operations` how many were counted.
  func run(_ operations: inout Int) throws -> Fairness {
    for lane in lanes { lane.begin() }
    deadline = Clock.now() + duration
    if let team {
      team.run { [self] in submitFromOutside(lanes[$0]) }
    } else {
      for lane in lanes { subject.submit { [self] in executeAndContinue(lane) } }
      for _ in lanes { finished.wait() }
    }
    subject.drain()
    try checkEmpty(subject.unfinished ?? 0)
    for lane in lanes { try lane.check() }
    let served = served()
    operations += served.reduce(0, +)
    guard let fairness = Fairness(served) else {
      throw CheckFailed("no operation started between the first of every submitter and the end of the time")
    }
    return fairness
  }

  private func submitFromOutside(_ lane: Lane) {
    while Clock.now() < deadline, let index = lane.next() {
      lane.credit.wait()
      subject.submit { [self] in
        lane.log(index)
        Spin.run(rounds: rounds)
        lane.credit.signal()
      }
    }
  }

  private func executeAndContinue(_ lane: Lane) {
    if let index = lane.next() {
      lane.log(index)
      Spin.run(rounds: rounds)
      if Clock.now() < deadline { return subject.submit { [self] in executeAndContinue(lane) } }
    }
    finished.signal()
  }

  /// For each submitter how many of its operations started while all were at it.
  private func served() -> [Int] {
    var firsts = [UInt64](repeating: .max, count: submitters)
    var end = deadline
    for lane in lanes {
      let starts = lane.starts
      firsts[lane.submitter] = min(firsts[lane.submitter], starts.min() ?? .max)
      // A submitter whose log is full has stopped: what others got after that says nothing.
      if lane.isFull { end = min(end, starts.max() ?? 0) }
    }
    let begin = firsts.max() ?? .max
    var served = [Int](repeating: 0, count: submitters)
    for lane in lanes { served[lane.submitter] += lane.starts.count { $0 >= begin && $0 < end } }
    return served
  }
}

/// The operations that one submitter adds one after the other, each with a place of its own for the time it started.
private final class Lane: @unchecked Sendable {
  // `used` belongs to whoever adds the next operation, one at a time; each time is written by its own operation alone;
  // all are read when everything has run.
  let submitter: Int
  /// How many more the submitter may add now.
  let credit: DispatchSemaphore
  private let times: UnsafeMutablePointer<UInt64>
  private let capacity: Int
  private var used = 0
  private var hasDoubled = false

  init(submitter: Int, capacity: Int, credit: Int) {
    self.submitter = submitter
    self.capacity = capacity
    self.credit = DispatchSemaphore(value: 0)
    // A semaphore must not end below the value it was made with.
    for _ in 0..<credit { self.credit.signal() }
    times = .allocate(capacity: capacity)
    times.initialize(repeating: 0, count: capacity)
  }

  deinit { times.deallocate() }

  func begin() {
    times.update(repeating: 0, count: used)
    used = 0
  }

  /// The place of the next operation; nil when there is none left.
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
    guard missing == 0, !hasDoubled else {
      throw CheckFailed("\(missing) of \(used) operations of submitter \(submitter) did not run, or one ran twice")
    }
  }
}
