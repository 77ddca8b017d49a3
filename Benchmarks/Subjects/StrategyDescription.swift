import HarnessWords
import OperationBackends

/// One decision of a pool or of a peer, for `list` and for results.
public struct StrategyDescription: Sendable {
  package let facts: StrategyFacts
  /// A choice to show how one is written.
  package let example: String

  init<Strategy>(_ decision: Decision<Strategy>) {
    example = decision.example
    facts = StrategyFacts(
      name: decision.name, summary: decision.summary, usual: decision.usual,
      choices: decision.choices.map {
        StrategyFacts.Choice(text: $0.text, summary: $0.summary, range: $0.range, givesUp: $0.givesUp)
      })
  }
}

extension SubjectVariant {
  /// The decisions of the pools of these subjects, by the subject without its strategy. Only of those whose strategy
  /// was chosen.
  package static func facts(of names: some Sequence<String>) -> [String: [StrategyFacts]] {
    let chosen = names.compactMap { try? SubjectVariant($0) }.filter { !$0.strategy.isEmpty }.map(\.subject)
    return Dictionary(
      Set(chosen).compactMap { subject in decisions(of: subject).map { (subject, $0.map(\.facts)) } },
      uniquingKeysWith: { first, _ in first })
  }
}
