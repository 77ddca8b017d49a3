/// One decision of a strategy, as users see it: its name, what it is about, and what can be chosen.
///
/// A strategy is any value that has a default: one of this library's pools, or the choices for a scheduler of another
/// language.
package struct Decision<Strategy: StrategyValue>: Sendable {
  /// A short word, such as `own`.
  package let name: String
  /// What is decided, in a few words.
  package let summary: String
  /// What can be chosen. The default mostly stands first.
  package let choices: [Choice]
  /// Gives the text of the choice that a strategy has made.
  let read: @Sendable (Strategy) -> String

  package init(
    name: String, summary: String, choices: [Choice], read: @escaping @Sendable (Strategy) -> String
  ) {
    self.name = name
    self.summary = summary
    self.choices = choices
    self.read = read
  }

  /// One thing that can be chosen.
  package struct Choice: Sendable {
    /// The word of the choice, such as `lifo`. A choice with a number is such as `upto:N`.
    package let text: String
    /// What the choice does, in a few words.
    package let summary: String
    /// The rows of the contract that the choice gives up.
    package let givesUp: [Int]
    /// The numbers that may stand for N; nil for a choice without a number.
    package let range: ClosedRange<Int>?
    /// The numbers for N that a study of single changes, such as `opbench ablate`, tries.
    package let tried: [Int]
    let choose: @Sendable (inout Strategy, Int) -> Void

    package init(
      _ text: String, _ summary: String, givesUp: [Int] = [], range: ClosedRange<Int>? = nil, tried: [Int] = [],
      _ choose: @escaping @Sendable (inout Strategy, Int) -> Void
    ) {
      self.text = text
      self.summary = summary
      self.givesUp = givesUp
      self.range = range
      self.tried = tried
      self.choose = choose
    }

    /// The number in a text that names this choice, 0 for a choice without a number; nil when the text names another
    /// choice.
    func number(in given: Substring) -> Int? {
      guard range != nil else { return given == text ? 0 : nil }
      let words = text.dropLast()
      guard given.hasPrefix(words) else { return nil }
      return Int(given.dropFirst(words.count))
    }
  }

  /// The text of the choice that a strategy has made, such as `lifo` or `upto:8`.
  package func choice(of strategy: Strategy) -> String { read(strategy) }

  /// The text of the choice of the default.
  package var usual: String { read(Strategy()) }

  /// A choice that is not the default, as an example of what can be written.
  package var example: String {
    let numbers: (Choice) -> [Int] = { choice in choice.range.map { [min(max(8, $0.lowerBound), $0.upperBound)] } ?? []
    }
    return singleChanges(numbers: numbers).first.map(read) ?? usual
  }

  /// Every strategy that differs from the default in this decision. A choice with a number is there once for each
  /// number that `numbers` gives. When `numbers` gives none, it is there for the two lowest numbers of its range and
  /// for the highest.
  func singleChanges(numbers: (Choice) -> [Int]) -> [Strategy] {
    choices.flatMap { choice -> [Strategy] in
      let values = choice.range.map { range in
        let wanted = numbers(choice).filter(range.contains)
        return wanted.isEmpty
          ? [range.lowerBound, min(range.lowerBound + 1, range.upperBound), range.upperBound] : wanted
      }
      return (values ?? [0]).map { value in
        var strategy = Strategy()
        choice.choose(&strategy, value)
        return strategy
      }
    }.filter { $0 != Strategy() }
  }

  /// What can be written behind `name=`, such as `fifo, lifo or lifo:N (N from 2 to 1000)`.
  private var words: String {
    let all = choices.map { choice in
      choice.range.map { "\(choice.text) (N from \($0.lowerBound) to \($0.upperBound))" } ?? choice.text
    }
    return all.count == 1 ? all[0] : all.dropLast().joined(separator: ", ") + " or " + all[all.count - 1]
  }

  private func make(_ text: Substring, in strategy: inout Strategy) throws(StrategyMistake) {
    for choice in choices {
      guard let number = choice.number(in: text) else { continue }
      if let range = choice.range, !range.contains(number) {
        throw StrategyMistake(
          "'\(name)=\(text)' is out of range: N is from \(range.lowerBound) to \(range.upperBound)")
      }
      return choice.choose(&strategy, number)
    }
    throw StrategyMistake("'\(name)' has no choice '\(text)': it takes \(words)")
  }
}

// A strategy as text: `name=choice`, with `;` between two decisions.

extension Decision {
  /// Reads the text of a strategy. A decision that the text does not name is that of the default.
  package static func read(_ text: String, of decisions: [Decision]) throws(StrategyMistake) -> Strategy {
    var strategy = Strategy()
    var named: Set<String> = []
    for part in text.split(separator: ";", omittingEmptySubsequences: false) where !text.isEmpty {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2 else {
        let example = decisions.prefix(1).map { "\($0.name)=\($0.example)" }.joined()
        throw StrategyMistake("'\(part)' is no decision: it takes name=choice, with ; between, such as \(example)")
      }
      guard let decision = decisions.first(where: { $0.name == sides[0] }) else {
        let names = decisions.map(\.name).joined(separator: ", ")
        throw StrategyMistake("there is no decision '\(sides[0])': there are \(names)")
      }
      guard named.insert(decision.name).inserted else {
        throw StrategyMistake("'\(decision.name)' is given twice: it takes one choice")
      }
      try decision.make(sides[1], in: &strategy)
    }
    return strategy
  }

  /// The decisions of a strategy that differ from the default, in the order of `decisions`. Empty for the default.
  package static func text(of strategy: Strategy, _ decisions: [Decision]) -> String {
    decisions.filter { $0.differs(strategy) }.map { "\($0.name)=\($0.read(strategy))" }.joined(separator: ";")
  }

  /// The rows of the contract that a strategy gives up, in order.
  static func givenUpRows(of strategy: Strategy, _ decisions: [Decision]) -> [Int] {
    let rows = decisions.filter { $0.differs(strategy) }.flatMap { decision in
      decision.choices.first { $0.number(in: decision.read(strategy)[...]) != nil }?.givesUp ?? []
    }
    return Array(Set(rows)).sorted()
  }

  /// Whether the strategy differs from the default in this decision.
  private func differs(_ strategy: Strategy) -> Bool { read(strategy) != usual }
}

/// A value that says how a scheduler schedules.
package protocol StrategyValue: Hashable, Sendable {
  /// Makes the default strategy.
  init()
}

/// The strategy of a pool of this library.
package protocol PoolStrategy: StrategyValue, CustomStringConvertible {
  /// Reads the text of a strategy.
  init(_ text: String) throws(StrategyMistake)
  /// All decisions, in the order in which they are written.
  static var decisions: [Decision<Self>] { get }
}

extension PoolStrategy {
  /// The name of a backend with this strategy: the backend's own name, and the decisions that differ from the default.
  package func name(of backend: String) -> String {
    self == Self() ? backend : "\(backend)(\(self))"
  }

  /// Gives the strategy back. Traps when a number is out of the range of its choice.
  package var checked: Self {
    do {
      return try Self(description)
    } catch {
      fatalError("Operations: a strategy cannot be used: \(error)")
    }
  }

  /// Every strategy that differs from the default in one decision. `numbers` says which numbers a choice with a number
  /// has. When `numbers` gives none, they are the two lowest of its range and the highest.
  package static func singleChanges(numbers: (Decision<Self>.Choice) -> [Int] = { _ in [] }) -> [Self] {
    decisions.flatMap { $0.singleChanges(numbers: numbers) }
  }

  /// The single changes that a study tries, each with the name of its decision.
  package static var studiedChanges: [(decision: String, strategy: Self)] {
    decisions.flatMap { decision in
      decision.singleChanges { $0.tried }.map { (decision.name, $0) }
    }
  }
}
