/// `family/benchmark`, stable for ever.
public struct BenchmarkName: Hashable, Sendable, CustomStringConvertible {
  public let family: String
  public let benchmark: String

  public init(_ family: String, _ benchmark: String) {
    self.family = family
    self.benchmark = benchmark
  }

  public var description: String { "\(family)/\(benchmark)" }
}
