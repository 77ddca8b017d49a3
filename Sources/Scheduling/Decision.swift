/// One decision of a strategy, as users see it: its name, what it is about, and what can be chosen.
public struct Decision<Strategy: Hashable & Sendable>: Sendable {
  /// A short word, such as `own`.
  public let name: String
  /// What is decided, in a few words.
  public let summary: String
  /// What can be chosen. The default mostly stands first.
  public let choices: [Choice]
  /// The text of the choice that a strategy has made.
  let read: @Sendable (Strategy) -> String

  /// One thing that can be chosen.
  public struct Choice: Sendable {
    /// The word of the choice, such as `lifo`. A choice with a number is such as `upto:N`.
    public let text: String
    /// What the choice does, in a few words.
    public let summary: String
    /// The rows of the contract that the choice gives up.
    public let givesUp: [Int]
    /// The numbers that may stand for N; nil for a choice without a number.
    public let range: ClosedRange<Int>?
    /// The numbers for N that a study of single changes, such as `opbench ablate`, tries.
    public let tried: [Int]
    let choose: @Sendable (inout Strategy, Int) -> Void

    init(
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
    /// one.
    func number(in given: Substring) -> Int? {
      guard range != nil else { return given == text ? 0 : nil }
      let words = text.dropLast()
      guard given.hasPrefix(words) else { return nil }
      return Int(given.dropFirst(words.count))
    }
  }

  /// The text of the choice that a strategy has made, such as `lifo` or `upto:8`.
  public func choice(of strategy: Strategy) -> String { read(strategy) }

  /// What can be written behind `name=`, such as `fifo, lifo or lifo:N (N from 2 to 1000)`.
  var words: String {
    let all = choices.map { choice in
      choice.range.map { "\(choice.text) (N from \($0.lowerBound) to \($0.upperBound))" } ?? choice.text
    }
    return all.count == 1 ? all[0] : all.dropLast().joined(separator: ", ") + " or " + all[all.count - 1]
  }
}

/// What is wrong with the text of a strategy, in one line that says what would be right.
public struct StrategyMistake: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line.
  public let description: String

  /// A mistake with its line.
  public init(_ description: String) { self.description = description }
}

/// A strategy that can be written as text. The text has the decisions that differ from the default, such as
/// `own=lifo;steal=half`.
public protocol TextualStrategy: Hashable, Sendable, CustomStringConvertible {
  /// The default strategy.
  init()
  /// All decisions, in the order in which they are written.
  static var decisions: [Decision<Self>] { get }
}

extension TextualStrategy {
  /// The decisions that differ from the default. Empty for the default.
  public var description: String {
    let usual = Self()
    return Self.decisions.filter { $0.read(self) != $0.read(usual) }.map { "\($0.name)=\($0.read(self))" }
      .joined(separator: ";")
  }

  /// Reads the text of a strategy: `name=choice`, with `;` between two decisions. A decision that the text does not
  /// name is that of the default.
  public init(_ text: String) throws(StrategyMistake) {
    self.init()
    var named: Set<String> = []
    for part in text.split(separator: ";", omittingEmptySubsequences: false) where !text.isEmpty {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2 else {
        throw StrategyMistake("'\(part)' is no decision: it takes name=choice, with ; between, such as \(Self.example)")
      }
      guard let decision = Self.decisions.first(where: { $0.name == sides[0] }) else {
        let names = Self.decisions.map(\.name).joined(separator: ", ")
        throw StrategyMistake("there is no decision '\(sides[0])': there are \(names)")
      }
      guard named.insert(decision.name).inserted else {
        throw StrategyMistake("'\(decision.name)' is given twice: it takes one choice")
      }
      try decision.make(sides[1], in: &self)
    }
  }

  /// The name of a backend with this strategy: the backend's own name, and the decisions that differ from the default.
  public func name(of backend: String) -> String { self == Self() ? backend : "\(backend)(\(self))" }

  /// The same strategy. Traps when a number is out of the range of its choice.
  public var checked: Self {
    do {
      _ = try Self(description)
    } catch {
      fatalError("Operations: a strategy cannot be used: \(error)")
    }
    return self
  }

  /// The rows of the contract that the strategy gives up, in order.
  public var givenUpRows: [Int] {
    let usual = Self()
    let rows = Self.decisions.filter { $0.read(self) != $0.read(usual) }.flatMap { decision in
      decision.choices.first { $0.number(in: decision.read(self)[...]) != nil }?.givesUp ?? []
    }
    return Array(Set(rows)).sorted()
  }

  /// Every strategy that differs from the default in one decision. A choice with a number is there once for each number
  /// that `numbers` gives. When `numbers` gives none, it is there for the two lowest numbers of its range and for the
  /// highest.
  public static func singleChanges(numbers: (Decision<Self>.Choice) -> [Int] = { _ in [] }) -> [Self] {
    decisions.flatMap { singleChanges(of: $0, numbers: numbers) }
  }

  private static func singleChanges(of decision: Decision<Self>, numbers: (Decision<Self>.Choice) -> [Int]) -> [Self] {
    decision.choices.flatMap { choice -> [Self] in
      let values = choice.range.map { range in
        let own = numbers(choice).filter(range.contains)
        return own.isEmpty ? [range.lowerBound, min(range.lowerBound + 1, range.upperBound), range.upperBound] : own
      }
      return (values ?? [0]).map { value in
        var strategy = Self()
        choice.choose(&strategy, value)
        return strategy
      }
    }.filter { $0 != Self() }
  }

  /// The single changes that a study tries, each with the name of its decision.
  public static var studiedChanges: [(decision: String, strategy: Self)] {
    decisions.flatMap { decision in
      singleChanges(of: decision) { $0.tried }.map { (decision.name, $0) }
    }
  }

  private static var example: String { singleChanges().prefix(1).map(\.description).joined() }
}

extension Decision {
  fileprivate func make(_ text: Substring, in strategy: inout Strategy) throws(StrategyMistake) {
    for choice in choices {
      guard let number = choice.number(in: text) else { continue }
      guard choice.range?.contains(number) ?? true else {
        let range = choice.range!
        throw StrategyMistake(
          "'\(name)=\(text)' is out of range: \(choice.text) takes N from \(range.lowerBound) to \(range.upperBound)")
      }
      return choice.choose(&strategy, number)
    }
    throw StrategyMistake("'\(name)' has no choice '\(text)': it takes \(words)")
  }
}
