/// A decision of a strategy, with what can be chosen. `X.env.json` has those of the subjects whose strategy was chosen, so
/// that the report can say what a change does.
package struct StrategyFacts: Codable, Hashable, Sendable {
  package struct Choice: Codable, Hashable, Sendable {
    /// Such as `lifo`, or `lifo:N` for a choice with a number.
    package let text: String
    package let summary: String

    package init(text: String, summary: String) {
      self.text = text
      self.summary = summary
    }
  }

  package let name: String
  package let summary: String
  /// The choice of the default.
  package let usual: String
  package let choices: [Choice]

  package init(name: String, summary: String, usual: String, choices: [Choice]) {
    self.name = name
    self.summary = summary
    self.usual = usual
    self.choices = choices
  }
}
