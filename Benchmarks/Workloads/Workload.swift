import Harness
import Subjects

/// A benchmark. It is one file: what it is called, which parameters it runs with, and one generic function per kind
/// of subject that makes it ready to be timed.
///
/// A benchmark implements `prepare` for the least capable kind of subject on which it means something, and for a more
/// capable one where that kind has its own way. What `prepare` returns is specialised for the subject.
package protocol Workload: Sendable {
  var name: BenchmarkName { get }
  /// One line for `list`.
  var summary: String { get }
  /// Everything it reports.
  var metrics: [Metric] { get }
  /// What the table shows of it.
  var headlines: [Metric] { get }
  /// What a subject must be able to do beyond running closures: see `Abilities`.
  var needs: Abilities { get }
  /// The needs with these parameters, where they depend on them.
  func needs(_ parameters: Parameters) -> Abilities
  var repeats: RepeatPolicy { get }
  /// The policy for these parameters, where it depends on them.
  func repeats(_ parameters: Parameters) -> RepeatPolicy
  /// What a process works at least before its first value, in nanoseconds, where the age of its threads tells; a quick run
  /// does not wait for that.
  var leadIn: UInt64 { get }
  /// After how many seconds a process counts as hung; nil: from the estimate of the plan.
  var timeLimit: Double? { get }
  /// Whether allocations per operation are counted, in a process of their own.
  var countsAllocations: Bool { get }

  /// Everything the default run measures; the same for every subject.
  func parameterSets() -> [Parameters]
  /// What a run measures besides with `--variants`: sizes and shapes that take too long to come unasked.
  func extendedParameterSets() -> [Parameters]
  /// What a reader of the table should know of these parameters, beside the numbers.
  func notes(_ parameters: Parameters, workers: Int) -> [String]

  func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial
  func prepare<S: CancellableSubject>(cancellable subject: S.Type, _ setting: Setting) throws -> Trial
  func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial

  /// What the program of a peer needs beyond the parameters.
  func peerInput(_ setting: Setting) throws -> PeerInput

  /// The trial for the subject of that name; nil when there is none.
  func prepare(subject: String, _ setting: Setting) throws -> Trial?
}

extension Workload {
  package func peerInput(_ setting: Setting) throws -> PeerInput { PeerInput() }
  package var needs: Abilities { [] }
  package var countsAllocations: Bool { false }
  package var headlines: [Metric] { metrics }
  package var timeLimit: Double? { nil }
  package var leadIn: UInt64 { 0 }
  package func needs(_ parameters: Parameters) -> Abilities { needs }
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

  /// In each workload's own conformance `Self` is known, so the whole path from here to the timed loop is
  /// specialised.
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

  /// Nothing is prepared for a subject that lacks something: what it would call there is missing, or it would never end.
  private func check<S: ClosureSubject>(_ type: S.Type) throws {
    guard let missing = workload.needs(setting.parameters).subtracting(S.abilities).words else { return }
    throw CheckFailed("\(workload.name) means nothing on \(S.name), which has no \(missing)")
  }
}
