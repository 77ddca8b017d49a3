import Subjects
import Testing

@testable import Harness
@testable import Workloads

/// A subject that does what a test tells it to do wrong. Otherwise it passes everything on to one of ours.
final class BrokenSubject<Fault: BrokenSubjectFault>: OperationSubject {
  static var name: String { "broken" }
  static var workersAreAdjustable: Bool { true }
  typealias Item = StealingSubject.Item
  typealias Cancellable = StealingSubject.Cancellable

  private let inner: StealingSubject

  init(workers: Int) { inner = StealingSubject(workers: workers) }

  func submit(_ body: @escaping @Sendable () -> Void) {
    for _ in 0..<Fault.timesRun { inner.submit(body) }
  }

  func drain() { inner.drain() }

  func submitCancellable(_ body: @escaping @Sendable (Cancellable) -> Void) -> Cancellable {
    inner.submitCancellable(body)
  }
  static func cancel(_ work: Cancellable) { StealingSubject.cancel(work) }
  static func isCancelled(_ work: Cancellable) -> Bool { StealingSubject.isCancelled(work) }

  static func makeOperation(_ body: @escaping @Sendable () -> Void) -> Item { StealingSubject.makeOperation(body) }
  static func setPriority(_ level: PriorityLevel, of item: Item) { StealingSubject.setPriority(level, of: item) }
  static func addDependency(of item: Item, on dependency: Item) {
    if !Fault.forgetsDependencies { StealingSubject.addDependency(of: item, on: dependency) }
  }
  static func isExecuting(_ item: Item) -> Bool { StealingSubject.isExecuting(item) }

  func add(_ item: Item) { inner.add(item) }

  /// Without dependencies the order is this one's to choose: the last first, and then the others.
  func add(contentsOf items: [Item]) {
    guard Fault.forgetsDependencies else { return inner.add(contentsOf: items) }
    for item in items.reversed() {
      inner.add(item)
      inner.drain()
    }
  }

  func cancelAll() { if !Fault.ignoresCancelAll { inner.cancelAll() } }
  func setSuspended(_ suspended: Bool) { inner.setSuspended(suspended) }
  var remaining: Int { inner.remaining }
}

protocol BrokenSubjectFault: Sendable {
  static var timesRun: Int { get }
  static var forgetsDependencies: Bool { get }
  static var ignoresCancelAll: Bool { get }
}

extension BrokenSubjectFault {
  static var timesRun: Int { 1 }
  static var forgetsDependencies: Bool { false }
  static var ignoresCancelAll: Bool { false }
}

enum NoFault: BrokenSubjectFault {}
enum RunsNothing: BrokenSubjectFault { static var timesRun: Int { 0 } }
enum RunsTwice: BrokenSubjectFault { static var timesRun: Int { 2 } }
enum ForgetsDependencies: BrokenSubjectFault { static var forgetsDependencies: Bool { true } }
enum IgnoresCancelAll: BrokenSubjectFault { static var ignoresCancelAll: Bool { true } }

/// A subject that does it wrong gets no number.
struct BrokenSubjectTests {
  func measure<Fault>(_ workload: some Workload, _ parameters: Parameters, _ fault: Fault.Type) throws -> Value
  where Fault: BrokenSubjectFault {
    let setting = Setting(parameters: parameters, workers: 2, seed: 1, spin: Spin(roundsPerMicrosecond: 10))
    return try workload.prepare(operations: BrokenSubject<Fault>.self, setting).measure(1)
  }

  func late<Fault: BrokenSubjectFault>(_ fault: Fault.Type, links: String) throws -> Double? {
    try measure(LateStarts(), ["ops": "64", "work_ns": "1000", "links": links], fault).readings.first?.value
  }

  @Test func withoutAFaultThereIsANumber() throws {
    #expect(try measure(ExternalAdd(), ["ops": "50"], NoFault.self).readings.count == 3)
    #expect(try measure(Chain(), ["length": "50"], NoFault.self).readings.count == 4)
    #expect(try late(NoFault.self, links: "chain") == 0)
  }

  @Test func operationsThatDoNotRunOnce() {
    #expect(throws: CheckFailed.self) { try measure(ExternalAdd(), ["ops": "50"], RunsNothing.self) }
    #expect(throws: CheckFailed.self) { try measure(ExternalAdd(), ["ops": "50"], RunsTwice.self) }
  }

  @Test func dependenciesThatDoNotHold() {
    #expect(throws: CheckFailed.self) { try measure(Chain(), ["length": "50"], ForgetsDependencies.self) }
    #expect(throws: CheckFailed.self) { try measure(FanIn(), ["width": "50"], ForgetsDependencies.self) }
    #expect(throws: CheckFailed.self) {
      try measure(
        GraphPatterns(), ["pattern": "no_comm", "width": "4", "steps": "4", "work_ns": "0", "imbalance": "0"],
        ForgetsDependencies.self)
    }
  }

  @Test(arguments: ["none", "chain"])
  func operationsThatStartAfterTheCall(links: String) throws {
    // At least half of the 64 are pending at the call, and nobody stops them.
    #expect(try #require(try late(IgnoresCancelAll.self, links: links)) >= 28)
  }

  @Test func cancelledOperationsThatRun() {
    #expect(throws: CheckFailed.self) {
      try measure(CancelAllPending(), ["pending": "50", "held": "suspension"], IgnoresCancelAll.self)
    }
  }
}
