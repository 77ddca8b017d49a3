import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Subjects
import Synchronization

/// Where forking begins to pay: the time over the plain recursion, against the length of a body and the number of
/// bodies.
///
/// A problem is a balanced tree whose leaves each spin for the length of a body. The plain recursion and the forks run
/// the same tree in one process, by turns. With `from=worker` a thread of the subject solves the problem again and
/// again, so nothing but the forks is added. With `from=outside` the main thread hands each problem over and waits.
///
/// With `pause_us` the thread that solves the problems is busy for that time behind each of them, so that the subject's
/// other threads fall asleep. The pauses are not counted. Without it, problems follow each other at once.
struct ForkBreakEven: Workload {
  let name = BenchmarkName("forkjoin", "break-even")
  let summary = "time over the plain recursion, by the length and the number of the bodies"
  let metrics = [Metric.timeOverSerial, .breakEven, .worstLoss]
  let headlines = [Metric.breakEven, .worstLoss]
  let needs = Abilities.forks
  let repeats = RepeatPolicy.samples(1, seconds: 1.5)
  /// Where forks cost much, a sweep takes ten times as long.
  let timeLimit: Double? = 120
  var problems = BreakEvenSweep.problems

  func extendedParameterSets() -> [Parameters] {
    ["worker", "outside"].flatMap { from in
      [["from": from], ["from": from, "pause_us": "100"], ["from": from, "pause_us": "10000"]]
    }
  }

  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    parameters["pause_us"] == nil ? repeats : .samples(1, seconds: 8)
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    let isOutside = try isOutside(setting)
    let sweep = BreakEvenSweep(try problems(setting), pause: try pause(setting), spin: setting.spin) { tree, turn in
      let forked = ForkedTree(tree, subject: subject)
      return isOutside ? turn.timed { forked.solve() } : forked.timedInside(turn)
    }
    let bodies = sweep.trees.reduce(0) { $0 + $1.tree.bodies }
    return Trial(operationsPerRepeat: bodies) { repeats in
      let points = try sweep.run(repeats)
      try checkEmpty(subject.unfinished ?? 0)
      return Value(BreakEven.readings(points))
    }
  }

  /// The program of the peer makes the sweep, with the same problems.
  func peerInput(_ setting: Setting) throws -> PeerInput {
    _ = try isOutside(setting)
    let limits = BreakEvenSweep.limits(try problems(setting), pause: try pause(setting))
    return PeerInput(fields: limits, derive: { try BreakEven.readings($0) }, isSweep: true)
  }

  /// The time between two problems, in nanoseconds.
  private func pause(_ setting: Setting) throws -> UInt64 {
    setting.parameters["pause_us"] == nil ? 0 : UInt64(try setting.number("pause_us") * 1_000)
  }

  /// With pauses a sweep takes long, so the large problems are left out: to wake a thread is little beside their work.
  private func problems(_ setting: Setting) throws -> [BreakEven.Problem] {
    try pause(setting) == 0
      ? problems : problems.filter { $0.bodies <= 16_384 && $0.body * Double($0.bodies) <= BreakEvenSweep.most / 10 }
  }

  private func isOutside(_ setting: Setting) throws -> Bool {
    switch setting.parameters["from"] {
    case "worker": return false
    case "outside": return true
    default: throw Complaint(.usage, "from is worker or outside, not as in '\(setting.parameters)'")
    }
  }
}

/// Bodies of one length, divided into halves down to a single body. Each body counts its ordinal.
struct HalvingTree: BinaryTree {
  struct Node: Sendable, BitwiseCopyable {
    let first: Int
    let bodies: Int
  }

  let bodies: Int
  /// The rounds of `Spin` in a body.
  let rounds: Int

  var root: Node { Node(first: 0, bodies: bodies) }
  var expected: Int { bodies * (bodies - 1) / 2 }

  @inline(__always)
  func value(of node: Node) -> Int {
    guard node.bodies == 1 else { return 0 }
    if rounds > 0 { Spin.run(rounds: rounds) }
    return node.first
  }
  func childCount(of node: Node) -> Int { node.bodies == 1 ? 0 : 2 }

  @inline(__always)
  func children(of node: Node) -> (Node, Node) {
    let half = node.bodies / 2
    return (Node(first: node.first, bodies: half), Node(first: node.first &+ half, bodies: node.bodies &- half))
  }

  func forkedSum<S: ClosureSubject>(of node: Node, on subject: S.Type) -> Int {
    if node.bodies == 1 { return value(of: node) }
    let (left, right) = children(of: node)
    let (first, second) = S.fork({ forkedSum(of: left, on: S.self) }, { forkedSum(of: right, on: S.self) })
    return first &+ second
  }
}

/// The problems, and how often each runs.
struct BreakEvenSweep {
  static let bodies = [2, 4, 16, 128, 1_024, 16_384, 1_000_000]
  /// The lengths of a body, in nanoseconds.
  static let lengths: [Double] = [0, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
  /// The most work of a problem, in nanoseconds. A larger problem shows nothing more.
  static let most = 12e6
  /// A problem is solved as often as it takes to fill this time, in nanoseconds.
  static let least = 100_000.0
  /// How often the plain recursion and the forks take turns. The median counts.
  static let turns = 3
  /// For how long a turn may pause, in nanoseconds.
  static let mostPaused: UInt64 = 20_000_000

  static let problems = bodies.flatMap { count in
    lengths.filter { $0 * Double(count) <= most }.map { BreakEven.Problem(bodies: count, body: $0) }
  }

  /// The problems, for the program of a peer, which makes the sweep itself.
  static func limits(_ problems: [BreakEven.Problem], pause: UInt64) -> [(key: String, value: String)] {
    [
      (key: "sweep_problems", value: problems.map { "\($0.bodies):\(CSV.number($0.body))" }.joined(separator: ",")),
      (key: "sweep_least", value: CSV.number(least)), (key: "sweep_turns", value: "\(turns)"),
      (key: "sweep_pause", value: "\(pause)"), (key: "sweep_most", value: "\(mostTimes(pause: pause))"),
    ]
  }

  /// How often a problem is solved in a turn at most.
  static func mostTimes(pause: UInt64) -> Int { pause == 0 ? 10_000_000 : max(1, Int(mostPaused / pause)) }

  /// How often to solve a problem, and how long to be busy behind each solution, in nanoseconds.
  struct Turn {
    let times: Int
    let pause: UInt64

    @inline(__always)
    func timed(_ solve: () -> Int) -> Timed {
      var (sum, paused) = (0, 0 as UInt64)
      let start = Clock.now()
      for _ in 0..<times {
        sum &+= solve()
        if pause > 0 { paused += idle() }
      }
      return (Clock.now() - start - paused, sum)
    }

    /// - Returns: the nanoseconds that the pause took.
    private func idle() -> UInt64 {
      let start = Clock.now()
      while Clock.now() - start < pause {}
      return Clock.now() - start
    }
  }

  /// What solving a problem some times took, in nanoseconds, and the sum of all results.
  typealias Timed = (nanoseconds: UInt64, sum: Int)

  let trees: [(problem: BreakEven.Problem, tree: HalvingTree)]
  private let pause: UInt64
  private let forked: (HalvingTree, Turn) -> Timed

  init(
    _ problems: [BreakEven.Problem], pause: UInt64 = 0, spin: Spin, forked: @escaping (HalvingTree, Turn) -> Timed
  ) {
    trees = problems.map { ($0, HalvingTree(bodies: $0.bodies, rounds: spin.rounds(nanoseconds: $0.body))) }
    self.pause = pause
    self.forked = forked
  }

  /// The points of all problems, from `sweeps` times as many turns.
  func run(_ sweeps: Int) throws -> [BreakEven.Point] {
    try trees.map { problem, tree in
      let plain = try times(tree, Self.serial)
      let many = try times(tree, forked)
      var (serial, forks): ([Double], [Double]) = ([], [])
      for _ in 0..<Self.turns * sweeps {
        serial.append(try time(tree, plain, Self.serial))
        forks.append(try time(tree, many, forked))
      }
      return BreakEven.Point(problem, serial: Statistics.median(serial), forked: Statistics.median(forks))
    }
  }

  /// How often to solve a problem, so that the time is filled. At most ten times as often as in the attempt before.
  private func times(_ tree: HalvingTree, _ solve: (HalvingTree, Turn) -> Timed) throws -> Int {
    let most = Self.mostTimes(pause: pause)
    var times = 1
    while true {
      let each = try time(tree, times, solve)
      let needed = min(most, Int((Self.least / each).rounded(.up)))
      if needed <= times { return max(1, needed) }
      times = min(needed, times * 10)
    }
  }

  /// The nanoseconds of one solution.
  private func time(_ tree: HalvingTree, _ times: Int, _ solve: (HalvingTree, Turn) -> Timed) throws -> Double {
    let (nanoseconds, sum) = solve(tree, Turn(times: times, pause: pause))
    guard sum == tree.expected * times else {
      throw CheckFailed("\(times) problems of \(tree.bodies) bodies gave \(sum), not \(tree.expected * times)")
    }
    return Double(max(nanoseconds, 1)) / Double(times)
  }

  private static func serial(_ tree: HalvingTree, _ turn: Turn) -> Timed {
    turn.timed { tree.serial(ForkJoinTrial<HalvingTree>.opaque(tree.root)) }
  }
}

extension ForkedTree where Tree == HalvingTree {
  /// Solves all problems on a thread of the subject, or on the thread that the subject works on.
  func timedInside(_ turn: BreakEvenSweep.Turn) -> BreakEvenSweep.Timed {
    let timed = Timing()
    let tree = tree
    subject.submit {
      let (nanoseconds, sum) = turn.timed {
        tree.forkedSum(of: ForkJoinTrial<HalvingTree>.opaque(tree.root), on: S.self)
      }
      timed.nanoseconds.store(nanoseconds, ordering: .relaxed)
      timed.sum.store(sum, ordering: .relaxed)
    }
    subject.drain()
    return (timed.nanoseconds.load(ordering: .relaxed), timed.sum.load(ordering: .relaxed))
  }
}

/// What a thread of the subject has timed; `drain` orders the stores before the loads.
private final class Timing: Sendable {
  let nanoseconds = Atomic<UInt64>(0)
  let sum = Atomic<Int>(0)
}
