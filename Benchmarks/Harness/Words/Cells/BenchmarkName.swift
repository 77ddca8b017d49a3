/// `family/benchmark`, stable for ever.
public struct BenchmarkName: Hashable, Sendable, CustomStringConvertible {
  public let family: String
  public let benchmark: String

  public init(_ family: String, _ benchmark: String) {
    self.family = family
    self.benchmark = benchmark
  }

  /// Reads the text that `description` wrote; nil when no `/` stands in the text.
  package init?(_ text: String) {
    guard let slash = text.firstIndex(of: "/") else { return nil }
    self.init(String(text[..<slash]), String(text[text.index(after: slash)...]))
  }

  public var description: String { "\(family)/\(benchmark)" }
}
