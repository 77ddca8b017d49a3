/// A decision of a strategy, with what can be chosen. `X.env.json` has those of the subjects whose strategy was chosen,
/// so that the report can say what a change does.
package struct StrategyFacts: Codable, Hashable, Sendable {
  package struct Choice: Codable, Hashable, Sendable {
    /// Such as `lifo`, or `lifo:N` for a choice with a number.
    package let text: String
    package let summary: String
    /// The numbers that may stand for N; nil for a choice without a number.
    package let range: ClosedRange<Int>?
    /// The rows of the contract that the choice gives up.
    package let givesUp: [Int]

    package init(text: String, summary: String, range: ClosedRange<Int>? = nil, givesUp: [Int] = []) {
      (self.text, self.summary, self.range, self.givesUp) = (text, summary, range, givesUp)
    }

    /// The summary, with the range and with what the choice gives up.
    package var words: String {
      summary + (range.map { " (N from \($0.lowerBound) to \($0.upperBound))" } ?? "")
        + (ContractRows.words(givesUp).map { "; \($0)" } ?? "")
    }
  }

  package let name: String
  package let summary: String
  /// The choice of the default.
  package let usual: String
  package let choices: [Choice]

  package init(name: String, summary: String, usual: String, choices: [Choice]) {
    (self.name, self.summary, self.usual, self.choices) = (name, summary, usual, choices)
  }
}
