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

/// A benchmark with its parameters: what the subjects are compared on, and what is calibrated once for all of them.
public struct Scenario: Hashable, Sendable, CustomStringConvertible {
  public let name: BenchmarkName
  public let parameters: Parameters

  public init(_ name: BenchmarkName, _ parameters: Parameters) {
    self.name = name
    self.parameters = parameters
  }

  public var description: String { parameters.isEmpty ? "\(name)" : "\(name) \(parameters)" }
}

/// A subject at a worker count: a column of the comparison.
public struct Arm: Hashable, Sendable, CustomStringConvertible {
  public let subject: String
  /// The number asked for, or for a subject whose width cannot be set the number the system gives it.
  public let workers: Int

  public init(subject: String, workers: Int) {
    self.subject = subject
    self.workers = workers
  }

  public var description: String { "\(subject)@\(workers)" }

  /// The arm of the reference that another is compared with: the one with as many workers, or else the widest.
  public static func reference(_ name: String, for arm: Arm, among arms: some Sequence<Arm>) -> Arm? {
    let candidates = arms.filter { $0.subject == name || $0.description == name }
    return candidates.first { $0.workers == arm.workers } ?? candidates.max { $0.workers < $1.workers }
  }
}

/// What one process measures.
public struct CellKey: Hashable, Sendable, CustomStringConvertible {
  public let scenario: Scenario
  public let arm: Arm

  public init(_ scenario: Scenario, _ arm: Arm) {
    self.scenario = scenario
    self.arm = arm
  }

  public var description: String {
    scenario.parameters.isEmpty ? "\(scenario.name) on \(arm)" : "\(scenario.name) on \(arm) (\(scenario.parameters))"
  }
}
