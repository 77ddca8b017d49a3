/// What is wrong with the text of a strategy, in one line that says what would be right.
public struct StrategyMistake: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line.
  public let description: String

  package init(_ description: String) { self.description = description }
}

extension StealingStrategy: CustomStringConvertible {
  /// The decisions that differ from the default, such as `own=lifo;steal=half`. Empty for the default.
  public var description: String { Decision.text(of: self, Self.decisions) }

  /// Reads the text of a strategy: `name=choice`, with `;` between two decisions. A decision that the text does not
  /// name is that of the default. `opbench list stealing` names the decisions and their choices.
  public init(_ text: String) throws(StrategyMistake) { self = try Decision.read(text, of: Self.decisions) }

  /// The rows of the contract that the strategy gives up, in order.
  public var givenUpRows: [Int] { Decision.givenUpRows(of: self, Self.decisions) }
}

extension ThreadPoolStrategy: CustomStringConvertible {
  /// The decisions that differ from the default, such as `order=fifo;waking=all`. Empty for the default.
  public var description: String { Decision.text(of: self, Self.decisions) }

  /// Reads the text of a strategy: `name=choice`, with `;` between two decisions. A decision that the text does not
  /// name is that of the default. `opbench list threadpool` names the decisions and their choices.
  public init(_ text: String) throws(StrategyMistake) { self = try Decision.read(text, of: Self.decisions) }

  /// The rows of the contract that the strategy gives up, in order.
  public var givenUpRows: [Int] { Decision.givenUpRows(of: self, Self.decisions) }
}
