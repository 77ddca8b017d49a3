import HarnessWords

/// Visits each subject under the most capable of the three protocols to which the subject conforms.
public protocol SubjectVisitor {
  mutating func visit<S: ClosureSubject>(_ subject: S.Type)
  mutating func visit<S: CancellableSubject>(_ subject: S.Type)
  mutating func visit<S: OperationSubject>(_ subject: S.Type)
}

/// All subjects: one line each.
public enum SubjectRegistry {
  /// Inlinable, so that what a visitor does with a subject is compiled for that subject.
  @inlinable
  public static func visitAll<Visitor: SubjectVisitor>(_ visitor: inout Visitor) {
    OwnBackends.visitAll(&visitor)
    visitor.visit(FoundationSubject.self)
    visitor.visit(RawDispatchSubject.self)
    visitor.visit(TaskGroupSubject.self)
    visitor.visit(StealingDefaultSubject.self)
    visitor.visit(NIOSubject.self)
    visitor.visit(NIOLoopSubject.self)
    visitor.visit(SerialSubject.self)
    visitor.visit(ThreadsSubject.self)
    visitor.visit(ControlSubject.self)
    visitor.visit(EmptySubject.self)
  }

  /// The subjects that this program measures in processes of its own, and after them the peers, which are other
  /// programs.
  public static var all: [SubjectInfo] { inProcess + Peer.all.map(\.info) }

  /// The subjects of this program. Controls are in no plan, so they are left out.
  public static let inProcess: [SubjectInfo] = {
    var collector = Collector()
    visitAll(&collector)
    return collector.subjects.filter { $0.role != .control }
  }()

  /// The references that run beside any measured backend.
  public static let references = all.filter { $0.role == .standingReference }.map(\.name)

  private struct Collector: SubjectVisitor {
    var subjects: [SubjectInfo] = []

    mutating func visit<S: ClosureSubject>(_ subject: S.Type) { add(S.self) }
    mutating func visit<S: CancellableSubject>(_ subject: S.Type) { add(S.self) }
    mutating func visit<S: OperationSubject>(_ subject: S.Type) { add(S.self) }

    private mutating func add<S: ClosureSubject>(_ subject: S.Type) {
      subjects.append(
        SubjectInfo(
          name: S.name, summary: S.summary, role: S.role, abilities: S.abilities,
          workersAreAdjustable: S.workersAreAdjustable, benchmarks: nil))
    }
  }
}

/// The facts that the plan needs of a subject, without an instance of the subject.
public struct SubjectInfo: Hashable, Sendable {
  public let name: String
  /// What the subject is, in one line.
  public let summary: String
  public let role: SubjectRole
  public let abilities: Abilities
  public let workersAreAdjustable: Bool
  /// The benchmarks that the subject has programs for, as `family/benchmark`; nil: all that its abilities allow.
  public let benchmarks: Set<String>?
  /// The reason why a benchmark is not among them, where the subject has one of its own.
  public var reasons: [String: String] = [:]
  /// The parameters of which the subject's programs know some values only.
  public var onlyParameters: [String: [String]] = [:]
  /// The rows of the contract that the strategy of the subject gives up.
  public var givesUp: [Int] = []
  /// Whether with the strategy of the subject an operation may wait for ever while others add others.
  public var mayStarve = false

  package var facts: SubjectFacts { SubjectFacts(name, role: role, summary: summary, givesUp: givesUp) }
}
