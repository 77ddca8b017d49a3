/// The abilities of a subject and the needs of a benchmark, with the same names on both sides. A subject declares its
/// own abilities once. A benchmark that needs more has an empty cell for that subject.
public struct Abilities: OptionSet, Hashable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Operations with dependencies and priorities: `OperationSubject`.
  public static let operations = Abilities(rawValue: 1)
  /// Closures that can be cancelled: `CancellableSubject`.
  public static let cancellation = Abilities(rawValue: 2)
  /// Threads of its own. Closures may wait for one another and for the thread that submits them.
  public static let threads = Abilities(rawValue: 4)
  /// The subject has `submitBarrier`.
  public static let barriers = Abilities(rawValue: 8)
  /// The subject has `setSuspended`.
  public static let suspension = Abilities(rawValue: 16)

  /// A number that weighs urgency against waiting. The subject has `init(workers:fairnessInterval:)`.
  public static let fairness = Abilities(rawValue: 32)

  /// A million operations at once, at the same cost per operation.
  public static let millions = Abilities(rawValue: 64)
  /// Several queues whose operations run on the same threads. The subject has `queues(_:workers:)`.
  public static let queues = Abilities(rawValue: 128)

  /// Forks that join: a call runs two closures, maybe at the same time, and returns when both have returned. The
  /// subject has `fork` and `forkFromOutside`.
  public static let forks = Abilities(rawValue: 256)
  /// Loops whose iterations may run at the same time. The subject has `perform`.
  public static let loops = Abilities(rawValue: 512)
  /// Loops over collections whose iterations may run at the same time. The subject has `map` and `sort`.
  public static let collections = Abilities(rawValue: 1_024)

  /// Tasks of Swift run on the subject. The subject has `taskExecutor`, `withActorExecutor`, `submitTask` and
  /// `runTasks`.
  public static let tasks = Abilities(rawValue: 2_048)
  /// Limits that hold for less urgent work alone. The subject has `setPlaces` and `submitTask(isUrgent:)`.
  public static let limits = Abilities(rawValue: 4_096)

  /// Operations that are made with their dependencies. The subject has `makeOperation(after:_:)`.
  public static let dependenciesAtOnce = Abilities(rawValue: 8_192)

  /// A task of Swift's default executor goes to the subject for one step. The subject has `hop`.
  public static let hops = Abilities(rawValue: 16_384)

  /// A number of workers that follows the CPUs which the process may use. The subject has `init(workers:)` with 0.
  public static let following = Abilities(rawValue: 65_536)

  /// Graphs that are made once and run often. The subject has `record`.
  public static let recordedGraphs = Abilities(rawValue: 32_768)

  private static let named: [(ability: Abilities, name: String, words: String)] = [
    (.operations, "operations", "operations with dependencies and priorities"),
    (.cancellation, "cancellation", "closures that can be cancelled"),
    (.threads, "threads", "threads of its own"),
    (.barriers, "barriers", "barriers"),
    (.suspension, "suspension", "way to be suspended"),
    (.fairness, "fairness", "adjustable fairness"),
    (.millions, "millions", "cost for a million operations at once that is known to stay small"),
    (.queues, "queues", "queues that share their threads"),
    (.forks, "forks", "call that forks and joins"),
    (.loops, "loops", "loop whose iterations may run at the same time"),
    (.collections, "collections", "map and sort over collections"),
    (.tasks, "tasks", "tasks of Swift that run on it"),
    (.hops, "hops", "way for a task to go there for one step"),
    (.limits, "limits", "limits that hold for less urgent work alone"),
    (.dependenciesAtOnce, "dependencies-at-once", "initializer that takes dependencies"),
    (.following, "following", "number of workers that follows the CPUs"),
    (.recordedGraphs, "recorded-graphs", "graph that is made once and run often"),
  ]

  /// The names of the abilities, one word each, the most telling ability first.
  public var names: [String] { Self.named.filter { contains($0.ability) }.map(\.name) }

  /// The most telling ability in words; nil without any ability.
  public var words: String? { Self.named.first { contains($0.ability) }?.words }
}
