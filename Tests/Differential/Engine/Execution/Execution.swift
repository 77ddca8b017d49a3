import DeterministicOperations
import Glibc
import Operations
import TestSupport

/// Why a program failed.
public struct ProgramFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// Short; the shrinker keeps programs that fail in the same category.
  public let category: String
  public let text: String
  /// The events up to the failure.
  public internal(set) var journal: [String] = []

  init(category: String, text: String) {
    self.category = category
    self.text = text
  }

  public var description: String { "\(category): \(text)" }
}

/// The controlling thread of one program: performs its statements, and compares what it sees with the model.
final class Execution {
  let program: Program
  let state: ExecutionState
  var model: Model
  /// How long a settled state may take to come.
  let patience: Double
  var tokens: [OperationObservation] = []
  var observed: Set<String> = []
  private(set) var slowestSettle = 0.0
  private var looks = 0
  /// What the controlling thread is doing, for the report of a hang.
  let position: Monitor<String>

  init(
    _ program: Program, features: Features, isOrdered: Bool, backends: [any Backend], helper: Helper, patience: Double,
    position: Monitor<String>, schedule: DeterministicBackend? = nil
  ) {
    self.program = program
    state = ExecutionState(program, backends: backends, helper: helper, schedule: schedule)
    model = Model(program, features: features, isOrdered: isOrdered)
    self.patience = patience
    self.position = position
  }

  var journal: Journal { state.journal }

  /// Runs the program and ends everything that it leaves behind.
  func run() throws {
    for (number, statement) in program.statements.enumerated() {
      position.with { $0 = "statement \(number): \(statement.text)" }
      perform(statement)
      state.schedule?.yield()
      if statement == .settle { try settle() } else { try drain() }
    }
    position.with { $0 = "the end" }
    try windDown()
  }

  /// Takes the events that are there.
  func drain() throws {
    for event in journal.events(from: model.now) { model.take(event) }
    if let violation = model.violations.first {
      throw ProgramFailure(category: violation.category, text: violation.text)
    }
  }

  // MARK: - Settling

  /// Waits until the model says that nothing more can happen, and compares everything.
  func settle() throws {
    let start = ContinuousClock.now
    var pause: UInt32 = 0
    looks = 0
    while true {
      // Afterwards nothing more can happen: what is missing then is missing for good.
      state.schedule?.run()
      askAboutUnclear()
      try drain()
      let moves = model.pendingMoves
      let differences = moves.isEmpty ? self.differences() : []
      if moves.isEmpty, differences.isEmpty, journal.events(from: model.now).isEmpty { break }
      let elapsed = seconds(since: start)
      if elapsed > patience || state.schedule != nil && !mayLookAgain() {
        if let move = moves.first {
          throw ProgramFailure(category: "hang", text: "\(move), but nothing happens\n\(diagnosis)")
        }
        if let difference = differences.first { throw ProgramFailure(category: "state", text: difference) }
      }
      if state.schedule != nil { continue }
      if moves.isEmpty || !model.unclear.isEmpty {
        if pause > 0 { usleep(pause) } else { sched_yield() }
        pause = min(1_000, pause + 5)
      } else {
        _ = journal.wait(beyond: model.now, seconds: patience - elapsed + 0.1)
      }
    }
    slowestSettle = max(slowestSettle, seconds(since: start))
    journal.append(.settled(isQuiet: waitUntilQuiet()))
    try drain()
  }

  /// With a schedule: whether this settling has not looked twice yet. What is unclear is asked about one look later.
  private func mayLookAgain() -> Bool {
    looks += 1
    return looks < 3
  }

  /// A thread that has finished an operation may still have its dependents in hand, which look ready by then.
  /// - Returns: false when threads remain busy outside of bodies, for example in observers that wait.
  private func waitUntilQuiet() -> Bool {
    if state.schedule != nil { return true }
    for pause: UInt32 in 0..<100 {
      if !state.hasThreadsOutsideBodies { return true }
      usleep(pause * 10)
    }
    return false
  }

  private var diagnosis: String {
    program.queues.indices.compactMap { state.queue($0)?.diagnosis().description }.joined(separator: "\n")
  }

  private func seconds(since start: ContinuousClock.Instant) -> Double {
    let elapsed = start.duration(to: .now).components
    return Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
  }

  private func askAboutUnclear() {
    for event in journal.events(from: model.now) { model.take(event) }
    let answers = model.unclear.compactMap { index in
      state.operation(index).map { (index, $0.isFinished, $0.isExecuting, $0.isCancelled) }
    }
    // An answer may be older than what happened meanwhile: the next round asks again.
    guard journal.events(from: model.now).isEmpty else { return }
    for (index, isFinished, isExecuting, isCancelled) in answers {
      model.learn(index, isFinished: isFinished, isExecuting: isExecuting, isCancelled: isCancelled)
    }
  }

  /// What does not look as the model says.
  private func differences() -> [String] {
    var complaints: [String] = []
    func compare<Value: Equatable>(_ what: String, _ seen: Value, _ expected: Value) {
      if seen != expected { complaints.append("\(what) is \(seen), and should be \(expected)") }
    }
    let objects = state.objects.value.operations
    func number(_ operation: Operation) -> Int { objects.firstIndex { $0 === operation } ?? -1 }
    for (index, operation) in objects.enumerated() {
      guard let operation else { continue }
      let facts = model.facts(of: index)
      compare("isFinished of \(index)", operation.isFinished, facts.isFinished)
      compare("isExecuting of \(index)", operation.isExecuting, facts.isExecuting)
      if let isCancelled = facts.isCancelled { compare("isCancelled of \(index)", operation.isCancelled, isCancelled) }
      if let isReady = facts.isReady { compare("isReady of \(index)", operation.isReady, isReady) }
      if let dependencies = facts.dependencies {
        compare("dependencies of \(index)", operation.dependencies.map(number), dependencies)
      }
    }
    for index in program.queues.indices {
      guard let queue = state.queue(index) else { continue }
      let (listed, isOrdered) = model.listed(in: index)
      compare("operationCount of queue \(index)", queue.operationCount, listed.count)
      // Nobody has the objects of closures.
      let seen = queue.operations.map(number)
      let expected = listed.map { objects[$0] == nil ? -1 : $0 }
      compare(
        "operations of queue \(index)", isOrdered ? seen : seen.sorted(), isOrdered ? expected : expected.sorted())
    }
    return complaints
  }
}
