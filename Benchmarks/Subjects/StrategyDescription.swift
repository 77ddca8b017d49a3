import HarnessWords
import Operations

/// One decision in words, for `list` and for results.
public struct StrategyDescription: Sendable {
  public let name: String
  public let summary: String
  /// The choice of the default.
  public let usual: String
  public let choices: [(text: String, summary: String)]
  /// A choice to show how one is written.
  public let example: String

  init<Strategy>(_ decision: Decision<Strategy>) {
    name = decision.name
    summary = decision.summary
    usual = decision.usual
    example = decision.example
    choices = decision.choices.map { choice in
      let range = choice.range.map { " (N from \($0.lowerBound) to \($0.upperBound))" } ?? ""
      let rows = choice.givesUp.map(String.init).joined(separator: " and ")
      let cost = choice.givesUp.isEmpty ? "" : "; gives up row \(rows) of the contract"
      return (choice.text, choice.summary + range + cost)
    }
  }

  var facts: StrategyFacts {
    StrategyFacts(
      name: name, summary: summary, usual: usual,
      choices: choices.map { StrategyFacts.Choice(text: $0.text, summary: $0.summary) })
  }
}

extension SubjectVariant {
  /// The decisions of the pools of these subjects, by the subject without its strategy. Only of those whose strategy was
  /// chosen.
  package static func facts(of names: some Sequence<String>) -> [String: [StrategyFacts]] {
    let chosen = names.compactMap { try? SubjectVariant($0) }.filter { !$0.strategy.isEmpty }.map(\.subject)
    return Dictionary(
      Set(chosen).compactMap { subject in decisions(of: subject).map { (subject, $0.map(\.facts)) } },
      uniquingKeysWith: { first, _ in first })
  }
}
