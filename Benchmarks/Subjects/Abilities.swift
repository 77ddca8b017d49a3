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

  private static let named: [(ability: Abilities, name: String, words: String)] = [
    (.operations, "operations", "operations with dependencies and priorities"),
    (.cancellation, "cancellation", "closures that can be cancelled"),
    (.threads, "threads", "threads of its own"),
    (.barriers, "barriers", "barriers"),
    (.suspension, "suspension", "way to be suspended"),
    (.fairness, "fairness", "adjustable fairness"),
  ]

  /// One word each, the most telling first.
  public var names: [String] { Self.named.filter { contains($0.ability) }.map(\.name) }

  /// What the most telling of them is, in words; nil for none.
  public var words: String? { Self.named.first { contains($0.ability) }?.words }
}
