import OperationBackends

// The single changes of a strategy, for an ablation.

extension SubjectVariant {
  /// The subjects that an ablation takes.
  public static let subjects = [StealingChoice.name, ThreadPoolChoice.name]

  /// Every single change that a study of a subject's strategy tries, with its decision; nil when the subject has no
  /// strategy.
  public static func changes(of subject: String) -> [(decision: String, text: String)]? {
    func texts<Strategy: PoolStrategy>(_ type: Strategy.Type) -> [(decision: String, text: String)] {
      Strategy.studiedChanges.map { ($0.decision, $0.strategy.description) }
    }
    switch subject {
    case StealingChoice.name: return texts(StealingStrategy.self)
    case ThreadPoolChoice.name: return texts(ThreadPoolStrategy.self)
    default: return nil
    }
  }

  /// Whether two changes, such as `own=lifo` and `own=lifo:8`, are of one decision.
  public static func isSameDecision(_ first: String, _ second: String) -> Bool {
    first.prefix { $0 != "=" } == second.prefix { $0 != "=" }
  }
}
