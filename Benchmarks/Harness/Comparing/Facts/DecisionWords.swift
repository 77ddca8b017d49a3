import HarnessResults
import HarnessWords

/// The decisions of strategies in words, as the results say them.
struct DecisionWords {
  private struct Key: Hashable {
    let subject: String
    let decision: String
  }

  private var facts: [Key: StrategyFacts] = [:]
  private(set) var all: [AblationFacts.Decision] = []

  init(_ records: [RunRecord]) {
    for record in records {
      for (subject, decisions) in record.strategies.sorted(by: { $0.key < $1.key }) {
        for decision in decisions {
          let key = Key(subject: subject, decision: decision.name)
          guard facts[key] == nil else { continue }
          facts[key] = decision
          all.append(
            AblationFacts.Decision(
              subject: subject, name: decision.name, summary: decision.summary, usual: decision.usual,
              usualWords: meaning(of: decision.usual, decision: decision.name, subject: subject)))
        }
      }
    }
  }

  /// What a choice does; empty where nothing says it. A choice such as `upto:N` stands for every number.
  func meaning(of choice: String, decision: String, subject: String) -> String {
    for one in facts[Key(subject: subject, decision: decision)]?.choices ?? [] {
      if one.text == choice { return one.summary }
      guard one.text.hasSuffix("N"), choice.hasPrefix(one.text.dropLast()) else { continue }
      let number = String(choice.dropFirst(one.text.count - 1))
      guard !number.isEmpty, number.allSatisfy(\.isNumber) else { continue }
      return one.summary.replacing(/\bN(th)?\b/) { match in match.1 == nil ? number : Self.ordinal(number) }
    }
    return ""
  }

  private static func ordinal(_ number: String) -> String {
    let isTeen = number.dropLast().last == "1"
    let ending = isTeen ? "th" : ["1": "st", "2": "nd", "3": "rd"][String(number.suffix(1))] ?? "th"
    return number + ending
  }
}
