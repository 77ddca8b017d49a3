import HarnessMeasuring
import HarnessWords
import Subjects

/// A benchmark. Each benchmark is one file: its name, the parameters with which it runs, and one generic function per
/// kind of subject that prepares the timed part.
///
/// A benchmark implements `prepare` for the least capable kind of subject on which the benchmark means something, and
/// for a more capable kind when that kind has its own way. The trial that `prepare` returns is specialised for the
/// subject.
package protocol Workload: Sendable {
  var name: BenchmarkName { get }
  /// One line for `list` that says what the benchmark measures.
  var summary: String { get }
  /// All metrics that the benchmark reports.
  var metrics: [Metric] { get }
  /// The metrics that the table shows.
  var headlines: [Metric] { get }
  /// The abilities that a subject needs beyond running closures: see `Abilities`.
  var needs: Abilities { get }
  /// The needs with these parameters, for a benchmark whose needs depend on the parameters.
  func needs(_ parameters: Parameters) -> Abilities
  /// Whether the benchmark ends only when some operations have had their turn, while others add operations all the
  /// time. On a strategy that may leave an old operation waiting for ever it would not end.
  func needsTurns(_ parameters: Parameters) -> Bool
  var repeats: RepeatPolicy { get }
  /// The policy for these parameters, for a benchmark whose policy depends on the parameters.
  func repeats(_ parameters: Parameters) -> RepeatPolicy
  /// The least time that a process works before its first value, in nanoseconds, for a benchmark whose result depends
  /// on the age of the threads. A quick run ignores this minimum.
  var leadIn: UInt64 { get }
  /// After how many seconds a process counts as hung; nil: the limit comes from the estimate of the plan.
  var timeLimit: Double? { get }

  /// The parameters of the default run, the same for every subject. A benchmark without any is no part of that run, and
  /// runs with its `extendedParameterSets` when the user names it.
  func parameterSets() -> [Parameters]
  /// The additional parameters of a run with `--variants`: sizes and shapes that take too long to run unasked.
  func extendedParameterSets() -> [Parameters]
  /// Notes on these parameters for the reader of the table, beside the numbers.
  func notes(_ parameters: Parameters, workers: Int) -> [String]

  func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial
  func prepare<S: CancellableSubject>(cancellable subject: S.Type, _ setting: Setting) throws -> Trial
  func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial

  /// The input that the program of a peer needs beyond the parameters.
  func peerInput(_ setting: Setting) throws -> PeerInput

  /// The trial for the subject of that name; nil when there is none.
  func prepare(subject: String, _ setting: Setting) throws -> Trial?
}

extension Workload {
  package func peerInput(_ setting: Setting) throws -> PeerInput { PeerInput() }
  package var needs: Abilities { [] }
  /// Whether allocations per operation are counted, in a process of their own.
  package var countsAllocations: Bool { metrics.contains(.allocationsPerOp) }
  package var repeats: RepeatPolicy { .calibrated() }
  package func parameterSets() -> [Parameters] { [] }
  package var headlines: [Metric] { metrics }
  package var timeLimit: Double? { nil }
  package var leadIn: UInt64 { 0 }
  package func needs(_ parameters: Parameters) -> Abilities { needs }
  package func needsTurns(_ parameters: Parameters) -> Bool { false }
  package func repeats(_ parameters: Parameters) -> RepeatPolicy { repeats }
  package func extendedParameterSets() -> [Parameters] { [] }
  package func notes(_ parameters: Parameters, workers: Int) -> [String] { [] }

  package func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial {
    throw CheckFailed("\(name) means nothing on \(S.name)")
  }

  package func prepare<S: CancellableSubject>(cancellable subject: S.Type, _ setting: Setting) throws -> Trial {
    try prepare(closures: subject, setting)
  }

  package func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial {
    try prepare(cancellable: subject, setting)
  }

  /// `Self` is known in each workload's own conformance, so the whole path from here to the timed loop is specialised.
  package func prepare(subject: String, _ setting: Setting) throws -> Trial? {
    var selection = SubjectSelection(workload: self, subject: subject, setting: setting)
    SubjectRegistry.visitAll(&selection)
    return try selection.trial?.get()
  }
}

/// Prepares a workload for the one subject of a given name.
private struct SubjectSelection<W: Workload>: SubjectVisitor {
  let workload: W
  let subject: String
  let setting: Setting
  var trial: Result<Trial, any Error>?

  mutating func visit<S: ClosureSubject>(_ type: S.Type) {
    guard S.name == subject else { return }
    trial = Result {
      try check(type)
      return try workload.prepare(closures: type, setting)
    }
  }

  mutating func visit<S: CancellableSubject>(_ type: S.Type) {
    guard S.name == subject else { return }
    trial = Result {
      try check(type)
      return try workload.prepare(cancellable: type, setting)
    }
  }

  mutating func visit<S: OperationSubject>(_ type: S.Type) {
    guard S.name == subject else { return }
    trial = Result {
      try check(type)
      return try workload.prepare(operations: type, setting)
    }
  }

  /// Refuses a subject that lacks an ability. Otherwise the subject would lack a function that the benchmark calls, or
  /// the benchmark would never end.
  private func check<S: ClosureSubject>(_ type: S.Type) throws {
    guard let missing = workload.needs(setting.parameters).subtracting(S.abilities).words else { return }
    throw CheckFailed("\(workload.name) means nothing on \(S.name), which has no \(missing)")
  }
}
