import OperationBackends
import Synchronization

/// A subject on a strategy of its own: `stealing(own=lifo;steal=half)`, `starpu(sched=eager)`, or a subject as it is.
public struct SubjectVariant: Hashable, Sendable {
  /// The subject without its strategy.
  public let subject: String
  /// The decisions that differ from the default, in their own order; empty for the subject as it is.
  public let strategy: String

  /// The pools that have strategies, by the name of their subject.
  private enum Pool { case stealing, threadPool }
  private static let pools: [String: Pool] = [
    StealingChoice.name: .stealing, StealingChoice.name + "-bare": .stealing, ThreadPoolChoice.name: .threadPool,
    ThreadPoolChoice.name + "-bare": .threadPool,
  ]

  /// Reads a name. Throws when there is a strategy that the subject does not have.
  public init(_ name: String) throws(StrategyMistake) {
    guard let opening = name.firstIndex(of: "("), name.hasSuffix(")") else {
      (subject, strategy) = (name, "")
      return
    }
    subject = String(name[..<opening])
    let text = String(name[name.index(after: opening)...].dropLast())
    switch Self.pools[subject] {
    case .stealing: strategy = try StealingStrategy(text).description
    case .threadPool: strategy = try ThreadPoolStrategy(text).description
    case nil:
      guard let peer = Peer.named(subject), !peer.decisions.isEmpty else {
        let peers = Peer.all.filter { !$0.decisions.isEmpty }.map(\.name)
        let names = (Self.pools.keys + peers).sorted().joined(separator: ", ")
        throw StrategyMistake("'\(subject)' has no strategy to choose: \(names) have")
      }
      strategy = PeerDecision.text(of: try PeerDecision.read(text, of: peer.decisions), peer.decisions)
    }
  }

  /// The subject in a name, without its strategy, which may be any.
  public static func subject(of name: String) -> String {
    name.hasSuffix(")") ? String(name.prefix { $0 != "(" }) : name
  }

  /// The name in results: the decisions in their own order, and those that are as in the default left out.
  public var name: String { strategy.isEmpty ? subject : "\(subject)(\(strategy))" }

  /// The names in a list with commas, some of them with strategies.
  public static func names(in list: String) -> [String] {
    var names = [""]
    var depth = 0
    for character in list {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      if character == ",", depth <= 0 { names.append("") } else { names[names.count - 1].append(character) }
    }
    return names.map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty }
  }

  /// The decisions of a subject's pool or of a peer, for users; nil when the subject has none.
  public static func decisions(of subject: String) -> [StrategyDescription]? {
    switch pools[subject] {
    case .stealing: StealingStrategy.decisions.map(StrategyDescription.init)
    case .threadPool: ThreadPoolStrategy.decisions.map(StrategyDescription.init)
    case nil:
      Peer.named(subject).map(\.decisions).flatMap { decisions in
        decisions.isEmpty ? nil : decisions.map(StrategyDescription.init)
      }
    }
  }

  /// The rows of the contract that the strategy gives up.
  var givesUp: [Int] {
    switch Self.pools[subject] {
    case .stealing: (try? StealingStrategy(strategy))?.givenUpRows ?? []
    case .threadPool: (try? ThreadPoolStrategy(strategy))?.givenUpRows ?? []
    case nil: []
    }
  }

  /// Whether work that feeds itself may keep an older operation waiting for ever.
  var mayStarve: Bool {
    switch Self.pools[subject] {
    case .stealing: (try? StealingStrategy(strategy))?.mayStarve ?? false
    case .threadPool: (try? ThreadPoolStrategy(strategy))?.mayStarve ?? false
    case nil: false
    }
  }

  /// The strategies of the backends that this process makes. A measuring process measures one subject, and chooses
  /// before it makes the first backend.
  private static let chosen = Mutex((stealing: StealingStrategy(), threadPool: ThreadPoolStrategy()))

  static var stealing: StealingStrategy { chosen.withLock { $0.stealing } }
  static var threadPool: ThreadPoolStrategy { chosen.withLock { $0.threadPool } }

  /// Has the backends of this process made with this strategy from now on.
  public func choose() throws(StrategyMistake) {
    switch Self.pools[subject] {
    case .stealing:
      let strategy = try StealingStrategy(strategy)
      Self.chosen.withLock { $0.stealing = strategy }
    case .threadPool:
      let strategy = try ThreadPoolStrategy(strategy)
      Self.chosen.withLock { $0.threadPool = strategy }
    case nil: break
    }
  }
}

extension SubjectInfo {
  /// Makes a copy of the subject with a strategy.
  func with(_ variant: SubjectVariant) -> SubjectInfo {
    guard !variant.strategy.isEmpty else { return self }
    return SubjectInfo(
      name: variant.name, summary: "\(summary), with \(variant.strategy)", role: role, abilities: abilities,
      workersAreAdjustable: workersAreAdjustable, benchmarks: benchmarks, reasons: reasons,
      onlyParameters: onlyParameters, givesUp: variant.givesUp, mayStarve: variant.mayStarve)
  }
}

extension SubjectRegistry {
  /// The subject of a name such as `stealing` or `stealing(own=lifo)`; nil when there is none. Throws when there is a
  /// strategy that the subject does not have.
  public static func subject(_ name: String) throws(StrategyMistake) -> SubjectInfo? {
    let variant = try SubjectVariant(name)
    return all.first { $0.name == variant.subject }?.with(variant)
  }
}
