import Glibc
import Subjects
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Workloads

/// A subject that does what a test tells it to do wrong. Otherwise it passes everything on to one of ours.
final class BrokenSubject<Fault: BrokenSubjectFault>: OperationSubject {
  static var name: String { "broken" }
  static var summary: String { "does it wrong" }
  static var role: SubjectRole { .reference }
  static var workersAreAdjustable: Bool { true }
  typealias Item = StealingSubject.Item
  typealias Cancellable = StealingSubject.Cancellable

  private let inner: StealingSubject

  init(workers: Int) { inner = StealingSubject(workers: workers) }

  static func queues(_ count: Int, workers: Int) -> [BrokenSubject] {
    (0..<count).map { _ in BrokenSubject(workers: workers) }
  }

  func submit(_ body: @escaping @Sendable () -> Void) {
    for _ in 0..<Fault.faults.timesRun { inner.submit(body) }
  }

  func drain() { inner.drain() }

  func submitCancellable(_ body: @escaping @Sendable (Cancellable) -> Void) -> Cancellable {
    inner.submitCancellable(body)
  }
  static func cancel(_ work: Cancellable) { StealingSubject.cancel(work) }
  static func isCancelled(_ work: Cancellable) -> Bool { StealingSubject.isCancelled(work) }

  static func makeOperation(_ body: @escaping @Sendable () -> Void) -> Item {
    let item = StealingSubject.makeOperation { for _ in 0..<Fault.faults.timesRun { body() } }
    if Fault.faults.leaks { _ = Unmanaged.passRetained(item) }
    return item
  }
  static func setPriority(_ level: PriorityLevel, of item: Item) { StealingSubject.setPriority(level, of: item) }
  static func addDependency(of item: Item, on dependency: Item) {
    if !Fault.faults.forgetsDependencies { StealingSubject.addDependency(of: item, on: dependency) }
  }
  static func setCompletion(_ block: @escaping @Sendable () -> Void, of item: Item) {
    StealingSubject.setCompletion({ for _ in 0..<Fault.faults.timesCompleted { block() } }, of: item)
  }
  static func isExecuting(_ item: Item) -> Bool { StealingSubject.isExecuting(item) }
  static func isFinished(_ item: Item) -> Bool { StealingSubject.isFinished(item) }
  static func isCancelled(_ item: Item) -> Bool { !Fault.faults.forgetsCancelling && StealingSubject.isCancelled(item) }
  static func cancel(_ item: Item) { StealingSubject.cancel(item) }
  static func start(_ item: Item) { if !Fault.faults.ignoresStart { StealingSubject.start(item) } }

  static func wait(for item: Item) { StealingSubject.wait(for: item) }

  func add(_ item: Item) { inner.add(item) }

  /// Without dependencies the order is this one's to choose: the last first, and then the others.
  func add(contentsOf items: [Item]) {
    guard Fault.faults.forgetsDependencies else { return inner.add(contentsOf: items) }
    for item in items.reversed() {
      inner.add(item)
      inner.drain()
    }
  }

  func cancelAll() { if !Fault.faults.ignoresCancelAll { inner.cancelAll() } }
  func setSuspended(_ suspended: Bool) { if !Fault.faults.ignoresSuspension { inner.setSuspended(suspended) } }
  func setLimit(_ count: Int) { if !Fault.faults.ignoresLimit { inner.setLimit(count) } }
  func submitBarrier(_ body: @escaping @Sendable () -> Void) {
    if Fault.faults.ignoresBarriers { inner.submit(body) } else { inner.submitBarrier(body) }
  }
  var remaining: Int { inner.remaining }
}

/// What a subject does wrong.
struct Faults: Sendable {
  var timesRun = 1
  var forgetsDependencies = false
  var ignoresCancelAll = false
  var timesCompleted = 1
  var forgetsCancelling = false
  var ignoresLimit = false
  var ignoresBarriers = false
  var ignoresSuspension = false
  var ignoresStart = false
  var leaks = false
}

protocol BrokenSubjectFault: Sendable {
  static var faults: Faults { get }
}

enum NoFault: BrokenSubjectFault { static let faults = Faults() }
enum RunsNothing: BrokenSubjectFault { static let faults = Faults(timesRun: 0) }
enum RunsTwice: BrokenSubjectFault { static let faults = Faults(timesRun: 2) }
enum ForgetsDependencies: BrokenSubjectFault { static let faults = Faults(forgetsDependencies: true) }
enum IgnoresCancelAll: BrokenSubjectFault { static let faults = Faults(ignoresCancelAll: true) }
enum CompletesNever: BrokenSubjectFault { static let faults = Faults(timesCompleted: 0) }
enum CompletesTwice: BrokenSubjectFault { static let faults = Faults(timesCompleted: 2) }
enum ForgetsCancelling: BrokenSubjectFault { static let faults = Faults(forgetsCancelling: true) }
enum IgnoresLimit: BrokenSubjectFault { static let faults = Faults(ignoresLimit: true) }
enum IgnoresBarriers: BrokenSubjectFault { static let faults = Faults(ignoresBarriers: true) }
enum IgnoresSuspension: BrokenSubjectFault { static let faults = Faults(ignoresSuspension: true) }
enum IgnoresStart: BrokenSubjectFault { static let faults = Faults(ignoresStart: true) }
enum Leaks: BrokenSubjectFault { static let faults = Faults(leaks: true) }

/// Runs everything on the thread that submits it, and stands still at the first.
final class PausingSubject: ClosureSubject, @unchecked Sendable {
  static var name: String { "pausing" }
  static var summary: String { "stands still once" }
  static var role: SubjectRole { .reference }
  static var workersAreAdjustable: Bool { false }

  // Only the thread that submits touches it.
  private var hasPaused = false

  init(workers: Int) {}

  func submit(_ body: @escaping @Sendable () -> Void) {
    if !hasPaused { Pacer.sleep(nanoseconds: 30_000_000) }
    hasPaused = true
    body()
  }

  func submit(_ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void) {
    for index in 0..<count { body(index) }
    join()
  }

  func drain() {}
}

/// A subject that does it wrong gets no number.
struct BrokenSubjectTests {
  func trial<Fault: BrokenSubjectFault>(
    _ workload: any Workload, _ parameters: Parameters, _ fault: Fault.Type
  ) throws -> Trial {
    let setting = Setting(
      parameters: parameters, workers: 2, seed: 1, spin: Spin(roundsPerMicrosecond: 10), serviceTime: 20_000)
    return try workload.prepare(operations: BrokenSubject<Fault>.self, setting)
  }

  func measure<Fault: BrokenSubjectFault>(
    _ workload: any Workload, _ parameters: Parameters, _ fault: Fault.Type
  ) throws -> Value {
    try trial(workload, parameters, fault).measure(1)
  }

  /// No number comes of any of these faults.
  func expectFound(
    _ faults: any BrokenSubjectFault.Type..., by workload: any Workload, _ parameters: Parameters,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for fault in faults {
      #expect(throws: CheckFailed.self, "\(fault)", sourceLocation: sourceLocation) {
        try measure(workload, parameters, fault)
      }
    }
  }

  func late<Fault: BrokenSubjectFault>(_ fault: Fault.Type, links: String) throws -> Double? {
    try measure(LateStarts(), ["ops": "64", "work_ns": "1000", "links": links], fault).readings.first?.value
  }

  @Test func withoutAFaultThereIsANumber() throws {
    #expect(try measure(ExternalAdd(), ["ops": "50"], NoFault.self).readings.count == 4)
    #expect(try measure(Chain(), ["length": "50"], NoFault.self).readings.count == 5)
    #expect(try late(NoFault.self, links: "chain") == 0)
  }

  @Test func operationsThatDoNotRunOnce() {
    expectFound(RunsNothing.self, RunsTwice.self, by: ExternalAdd(), ["ops": "50"])
  }

  @Test func dependenciesThatDoNotHold() {
    let graph: Parameters = ["pattern": "no_comm", "width": "4", "steps": "4", "work_ns": "0", "imbalance": "0"]
    let sweep: Parameters = ["pattern": "stencil_1d", "width": "4", "steps": "4", "imbalance": "0"]
    let all: [(any Workload, Parameters)] = [
      (Chain(), ["length": "50"]), (FanIn(), ["width": "50"]), (GraphPatterns(), graph), (MinimumGranularity(), sweep),
    ]
    for (workload, parameters) in all {
      expectFound(ForgetsDependencies.self, by: workload, parameters)
    }
  }

  @Test(arguments: ["none", "chain"])
  func operationsThatStartAfterTheCall(links: String) throws {
    // At least half of the 64 are pending at the call, and nobody stops them.
    #expect(try #require(try late(IgnoresCancelAll.self, links: links)) >= 28)
  }

  @Test func whatDoesNotRunOnce() {
    let trees: Parameters = [
      "join": "dependency", "n": "6", "leaves": "10", "tree": "T1", "depth": "4", "cutoff": "2",
    ]
    let served: Parameters = [
      "service": "fixed", "arrivals": "exponential", "mean_us": "1", "long": "same", "samples": "50", "load": "50",
    ]
    let all: [(any Workload, Parameters)] = [
      (WakeIdle(), [:]), (IdleCPU(), ["period_ms": "1"]), (Sleepers(), ["bodies": "2", "sleep_ms": "1"]),
      (OpenLoop(), ["load": "50", "arrivals": "fixed", "work_ns": "0"]), (Fib(), trees), (Skynet(), trees),
      (Capacity(), served), (Capacity(isCurve: true), served),
      (NQueens(), trees), (UnbalancedTreeSearch(), trees),
      (NestedWait(), ["outer": "2", "depth": "1", "work_ns": "0"]),
      (WaitingParents(), ["children": "2", "depth": "1", "work_ns": "0"]),
      (Urgent(), ["backlog": "20", "work_ns": "0", "urgent": "2", "interval_us": "10"]),
    ]
    for (workload, parameters) in all {
      expectFound(RunsNothing.self, RunsTwice.self, by: workload, parameters)
    }
  }

  @Test func cancelledOperationsThatRun() {
    expectFound(IgnoresCancelAll.self, by: CancelAllPending(), ["pending": "50", "held": "suspension"])
  }

  /// Every workload whose operations may run a wrong number of times without taking the benchmark along.
  static let countingWorkloads: [(any Workload, Parameters)] = [
    (ExternalBatch(), ["ops": "50", "batch": "20"]), (WithPriority(), ["ops": "50"]), (WithCompletion(), ["ops": "50"]),
    (Limited(), ["ops": "50", "max": "1"]), (ManyQueues(), ["ops": "50", "queues": "3"]),
    (ManualStart(), ["ops": "50"]),
    (ContendedAdd(), ["ops": "50", "producers": "3"]), (Barrier(), ["batches": "3", "width": "10"]),
    (FanOut(), ["width": "50"]), (Diamond(), ["width": "3", "diamonds": "5"]), (Tree(), ["leaves": "16"]),
    (RandomDAG(), ["tasks": "40", "layers": "4", "probability": "0.5"]),
    (ThroughChain(), ["cancel": "head", "length": "20"]), (ThroughTree(), ["cancel": "head", "tasks": "20"]),
  ]

  @Test(arguments: countingWorkloads.indices)
  func everyNewCheckCounts(index: Int) throws {
    let (workload, parameters) = Self.countingWorkloads[index]
    let value = try measure(workload, parameters, NoFault.self)
    #expect(!value.readings.isEmpty)
    expectFound(RunsNothing.self, RunsTwice.self, by: workload, parameters)
    if workload is any ShapeWorkload { expectFound(ForgetsDependencies.self, by: workload, parameters) }
  }

  @Test func completionBlocksThatDoNotRunOnce() {
    expectFound(CompletesNever.self, by: WithCompletion(patience: 1_000_000), ["ops": "50"])
    expectFound(CompletesTwice.self, by: WithCompletion(), ["ops": "50"])
  }

  @Test func operationsThatOutliveTheirLastReferenceOrDoNotStart() {
    expectFound(Leaks.self, by: Construct(), ["ops": "50"])
    expectFound(IgnoresStart.self, by: ManualStart(), ["ops": "50"])
  }

  /// Runs operations and barriers in an order of the test's choice: batches of two, `nil` is a barrier.
  func checkBarriers(_ order: [Int?], batches: Int = 2) throws {
    let flags = RunFlags(count: 2 * batches)
    let phases = BarrierPhases()
    var closed = 0
    for index in order {
      if let index {
        phases.visit(flags.slot(index), of: index / 2)
      } else {
        phases.close(closed, flags, width: 2)
        closed += 1
      }
    }
    try phases.check(batches: batches)
  }

  @Test func barriersThatDoNotHold() throws {
    try checkBarriers([0, 1, nil, 3, 2, nil])
    for bad: [Int?] in [
      [2, 0, 1, nil, 3, nil],  // before the barrier in front of it
      [0, nil, 1, 2, 3, nil],  // after its own
      [0, 1, nil, 2, 3],  // the last barrier never
      [nil, 0, 1, nil, 2, 3],
    ] {
      #expect(throws: CheckFailed.self) { try checkBarriers(bad) }
    }
  }

  @Test func moreAtOnceThanTheLimit() throws {
    let gauge = ConcurrencyGauge()
    for _ in 0..<2 {
      gauge.enter(limit: 1)
      gauge.leave()
    }
    try gauge.check(limit: 1)
    gauge.enter(limit: 1)
    gauge.enter(limit: 1)
    #expect(throws: CheckFailed.self) { try gauge.check(limit: 1) }
  }

  /// The gauge looks at a real queue: without the limit, bodies that meet each other are seen.
  @Test func aLimitThatIsIgnored() throws {
    func run<Fault: BrokenSubjectFault>(_ fault: Fault.Type) throws {
      let subject = BrokenSubject<Fault>(workers: 2)
      subject.setLimit(1)
      let gauge = ConcurrencyGauge()
      for _ in 0..<20 {
        subject.submit {
          gauge.enter(limit: 1)
          usleep(1_000)
          gauge.leave()
        }
      }
      subject.drain()
      try gauge.check(limit: 1)
    }
    try run(NoFault.self)
    #expect(throws: CheckFailed.self) { try run(IgnoresLimit.self) }
  }

  @Test func operationsThatRunThoughSuspended() throws {
    func pend(_ fault: (some BrokenSubjectFault).Type) throws -> Int {
      let pend = try #require(try trial(ExternalAdd(), ["ops": "50"], fault).pend)
      return try pend { usleep(100_000) }
    }
    #expect(try pend(NoFault.self) == 50)
    #expect(throws: CheckFailed.self) { try pend(IgnoresSuspension.self) }
    #expect(throws: CheckFailed.self) { try pend(RunsTwice.self) }
  }

  @Test func cancellationThatIsForgotten() {
    expectFound(
      ForgetsCancelling.self, ForgetsDependencies.self, by: ThroughChain(), ["cancel": "head", "length": "20"])
    expectFound(ForgetsCancelling.self, by: ThroughTree(), ["cancel": "all", "tasks": "20"])
  }

  @Test func stormsInWhichSomethingIsLostOrDoubled() throws {
    let parameters: Parameters = ["ops": "400", "adders": "2", "cancellers": "1", "work_ns": "500"]
    let value = try measure(Storm(), parameters, NoFault.self)
    let sum = value.readings.filter { [.executed, .cancelled].contains($0.metric) }.reduce(0) { $0 + $1.value }
    #expect(sum == 400)
    expectFound(ForgetsCancelling.self, by: Storm(), parameters)
    // Those that are cancelled first hide it, so there are none to cancel all.
    let calm: Parameters = ["ops": "400", "adders": "2", "cancellers": "0", "work_ns": "500"]
    expectFound(RunsTwice.self, RunsNothing.self, by: Storm(), calm)
  }

  @Test(arguments: ["inside", "outside"])
  func submittersAreServed(from: String) throws {
    let parameters: Parameters = [
      "submitters": "2", "from": from, "pending": "1", "work_ns": "1000", "duration_ns": "1000000",
    ]
    let readings = try measure(SubmitterFairness(), parameters, NoFault.self).readings
    #expect(readings.map(\.metric) == [.jain, .minShare])
    #expect(readings.allSatisfy { $0.value >= 0 && $0.value <= 1 })
  }

  @Test func submittersWhoseOperationsRunTwice() {
    let parameters: Parameters = [
      "submitters": "2", "from": "outside", "pending": "4", "work_ns": "1000", "duration_ns": "1000000",
    ]
    expectFound(RunsTwice.self, by: SubmitterFairness(), parameters)
  }
}
