import Subjects
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Workloads

/// A subject whose order is known: one queue on the thread that drains, the oldest or the newest closure first.
final class OrderedSubject<Order: ClosureOrder>: ClosureSubject, @unchecked Sendable {
  static var name: String { "ordered" }
  static var summary: String { "one thread, a known order" }
  static var role: SubjectRole { .reference }
  static var workersAreAdjustable: Bool { false }
  static var abilities: Abilities { [] }

  // Only the thread of the test touches these.
  private var waiting: [@Sendable () -> Void] = []
  private var isRunning = false

  init(workers: Int) {}

  func submit(_ body: @escaping @Sendable () -> Void) {
    waiting.append(body)
    guard !isRunning else { return }
    isRunning = true
    while !waiting.isEmpty { (Order.isNewestFirst ? waiting.removeLast() : waiting.removeFirst())() }
    isRunning = false
  }

  func submit(_ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void) {
    for index in 0..<count { submit { body(index) } }
    submit(join)
  }

  func drain() {}
}

protocol ClosureOrder: Sendable { static var isNewestFirst: Bool { get } }
enum OldestFirst: ClosureOrder { static var isNewestFirst: Bool { false } }
enum NewestFirst: ClosureOrder { static var isNewestFirst: Bool { true } }

struct StrategyFamilyTests {
  func measure<Order: ClosureOrder>(
    _ workload: any Workload, _ parameters: Parameters, _ order: Order.Type
  ) throws -> Value {
    let setting = Setting(parameters: parameters, workers: 1, seed: 1, spin: Spin(roundsPerMicrosecond: 10))
    return try workload.prepare(closures: OrderedSubject<Order>.self, setting).measure(2)
  }

  func peak<Order: ClosureOrder>(levels: Int, _ order: Order.Type) throws -> Double {
    let value = try measure(TreePeak(), ["levels": "\(levels)"], order)
    return try #require(value.readings.first { $0.metric == .peakPending }).value
  }

  /// Across the tree, the lowest level is pending as a whole. Down the tree, one operation is pending per level above
  /// the lowest, and two there.
  @Test(arguments: [1, 2, 3, 10])
  func thePeakFollowsFromTheOrder(levels: Int) throws {
    #expect(try peak(levels: levels, OldestFirst.self) == Double(1 << (levels - 1)))
    #expect(try peak(levels: levels, NewestFirst.self) == Double(levels))
  }

  @Test func treesThatMakeNoSense() {
    for levels in [0, 25] {
      #expect(throws: Complaint.self) { try peak(levels: levels, NewestFirst.self) }
    }
  }

  @Test func theGaugeHoldsTheLargestNumberSinceTheLastAnswer() throws {
    let gauge = PendingGauge()
    #expect(try gauge.takePeak() == 0)
    for _ in 0..<3 { gauge.add() }
    for _ in 0..<2 { gauge.start() }
    gauge.add()
    for _ in 0..<2 { gauge.start() }
    #expect(try gauge.takePeak() == 3)
    gauge.add()
    gauge.start()
    #expect(try gauge.takePeak() == 1)
  }

  @Test func anOperationThatNeverStartedIsFound() throws {
    let gauge = PendingGauge()
    gauge.add()
    #expect(throws: CheckFailed.self) { try gauge.takePeak() }
    // The next run begins anew.
    #expect(try gauge.takePeak() == 0)
  }

  /// Threads that add and start at the same time lose nothing.
  @Test func theGaugeCountsOnSeveralThreads() throws {
    let gauge = PendingGauge()
    let team = try ThreadTeam(count: 4)
    team.run { _ in
      for _ in 0..<10_000 {
        gauge.add()
        gauge.start()
      }
    }
    #expect((1...4).contains(try gauge.takePeak()))
  }

  /// A tree may run again, whatever the order was, and one of a single operation is a tree too.
  @Test func aTreeRunsAgain() throws {
    let subject = OrderedSubject<NewestFirst>(workers: 1)
    for count in [1, 3, 127] {
      let flags = RunFlags(count: count)
      let tree = SpawnTree(subject, flags, gauge: nil)
      for _ in 0..<3 {
        tree.run()
        try flags.check()
      }
    }
  }

  @Test func aBurstEndsWithItsLastOperation() throws {
    let countdown = BurstCountdown(count: 3, rounds: 0)
    for order in [[0, 1, 2], [2, 0, 1]] {
      countdown.begin()
      let start = Clock.now()
      for index in order { countdown.execute(index) }
      #expect(try countdown.end() >= start)
    }
    // One ran twice in the place of another.
    countdown.begin()
    for index in [0, 1, 1] { countdown.execute(index) }
    #expect(throws: CheckFailed.self) { try countdown.end() }
  }

  @Test func burstsAmongOthersHaveATimeEach() throws { try Self.checkBursts("busy") }

  /// - Parameter state: what the workers do when a burst comes. Nothing, only in a process without other tests.
  static func checkBursts(_ state: String) throws {
    let parameters: Parameters = ["ops": "8", "work_ns": "100", "state": state, "load_ns": "1000"]
    let value = try #require(try WorkloadTests.trial(Burst(), parameters, "stealing")).measure(5)
    #expect(value.samples.map(\.prefix) == ["burst"] && value.samples[0].nanoseconds.count == 5)
    let mean = Double(value.samples[0].nanoseconds.reduce(0, +)) / 40
    #expect(value.readings.first { $0.metric == .nsPerOp }?.value == mean)
    // What busy workers take is not the burst's.
    #expect(value.readings.contains { $0.metric == .cpuNsPerOp } == (state == "idle"))
  }

  @Test func aBurstComesToIdleOrBusyWorkers() {
    #expect(throws: Complaint.self) {
      try WorkloadTests.trial(Burst(), ["ops": "8", "work_ns": "100", "state": "asleep"], "stealing")
    }
  }

  /// More places than items, one place, and one stage.
  @Test(arguments: [(items: 5, stages: 3, depth: 9), (5, 3, 1), (5, 1, 2), (1, 1, 1)])
  func pipelinesOfEveryShape(_ shape: (items: Int, stages: Int, depth: Int)) throws {
    let parameters: Parameters = [
      "items": "\(shape.items)", "stages": "\(shape.stages)", "depth": "\(shape.depth)", "work_ns": "100",
    ]
    for value in [
      try measure(Pipeline(), parameters, OldestFirst.self), try measure(Pipeline(), parameters, NewestFirst.self),
    ] {
      #expect(value.readings.first { $0.metric == .nsPerOp }?.count == 2 * shape.items * shape.stages)
    }
  }

  @Test func aLockThatLetsInTwoIsFound() throws {
    let visits = LockedCount()
    for _ in 0..<3 { visits.visit(rounds: 1) }
    try visits.check(3)
    visits.visit(rounds: 1)
    #expect(throws: CheckFailed.self) { try visits.check(2) }
    try visits.check(0)
  }

  /// A node for each child of a parent, down to the last level.
  @Test(arguments: [(children: 3, depth: 0, operations: 1), (3, 2, 13), (1, 4, 5), (2, 3, 15)])
  func theTreeOfWaitingParents(_ shape: (children: Int, depth: Int, operations: Int)) throws {
    let parameters: Parameters = ["children": "\(shape.children)", "depth": "\(shape.depth)", "work_ns": "0"]
    let trial = try #require(try WorkloadTests.trial(WaitingParents(), parameters, "stealing"))
    #expect(trial.operationsPerRepeat == shape.operations)
    #expect(try !trial.measure(1).readings.isEmpty)
  }

  /// Each of them serves to compare strategies, so each has the one time that stands for it.
  @Test func everyBenchmarkOfTheFamilyHasATimeThatStandsForIt() throws {
    let family = try Catalogue(graphs: [], seed: 1).workloads.filter { $0.name.family == "strategy" }
    #expect(family.count == 7)
    for workload in family {
      #expect(Metric.primaryTime(of: workload.metrics) != nil, "\(workload.name)")
      #expect(workload.parameterSets().isEmpty && !workload.extendedParameterSets().isEmpty)
    }
    #expect(Metric.peakPending.better == .less)
  }
}
