/// What a subject can do and what a benchmark needs: the same names on both sides. A subject says its own once; a benchmark
/// whose needs are not among them has an empty cell there.
public struct Abilities: OptionSet, Hashable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Operations with dependencies and priorities: `OperationSubject`.
  public static let operations = Abilities(rawValue: 1)
  /// Closures that can be cancelled: `CancellableSubject`.
  public static let cancellation = Abilities(rawValue: 2)
  /// Threads of its own: closures may wait for one another and for the thread that submits them.
  public static let threads = Abilities(rawValue: 4)
  /// `submitBarrier`.
  public static let barriers = Abilities(rawValue: 8)
  /// `setSuspended`.
  public static let suspension = Abilities(rawValue: 16)

  /// A number that weighs urgency against waiting: `init(workers:fairnessInterval:)`.
  public static let fairness = Abilities(rawValue: 32)

  /// A million operations at once at the same cost for each.
  public static let millions = Abilities(rawValue: 64)
  /// Several queues whose operations run on the same threads: `queues(_:workers:)`.
  public static let queues = Abilities(rawValue: 128)

  private static let named: [(ability: Abilities, name: String, words: String)] = [
    (.operations, "operations", "operations with dependencies and priorities"),
    (.cancellation, "cancellation", "closures that can be cancelled"),
    (.threads, "threads", "threads of its own"),
    (.barriers, "barriers", "barriers"),
    (.suspension, "suspension", "way to be suspended"),
    (.fairness, "fairness", "adjustable fairness"),
    (.millions, "millions", "cost for a million operations at once that is known to stay small"),
    (.queues, "queues", "queues that share their threads"),
  ]

  /// One word each, the most telling first.
  public var names: [String] { Self.named.filter { contains($0.ability) }.map(\.name) }

  /// What the most telling of them is, in words; nil for none.
  public var words: String? { Self.named.first { contains($0.ability) }?.words }
}
