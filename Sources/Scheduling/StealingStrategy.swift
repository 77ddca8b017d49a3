/// How a work-stealing pool schedules: a value with one field for each decision.
///
/// A change of one field shows what that decision is worth, on the same code. The default is what `StealingBackend` does
/// without a strategy. Text such as `own=lifo;steal=half` names a strategy for `opbench run --backend`.
///
/// ```swift
/// var strategy = StealingStrategy()
/// strategy.ownEnd = .lifo
/// let backend = StealingBackend(workers: 4, strategy: strategy)
/// ```
public struct StealingStrategy: Hashable, Sendable {
  /// Which of its own jobs a worker runs next.
  public var ownEnd = OwnEnd.fifo
  /// What happens to an operation that the end of another one made ready.
  public var successor = Successor.runs
  /// How many operations a thread runs in a row in that way before other queued jobs have a turn: 1 or more.
  public var runLength = 61
  /// How many jobs a worker takes from another worker at once.
  public var stealAmount = StealAmount.one
  /// Which worker is robbed first.
  public var victim = Victim.random
  /// The fewest jobs for which a worker is robbed, until the thief would otherwise sleep: 1 or more. With more than 1, gives
  /// up row 20: an urgent job waits for a worker that has few.
  public var leastJobs = 1
  /// What a thief does when another thread took the job that it wanted.
  public var lostRace = LostRace.again
  /// Whether the jobs of urgent operations go first.
  public var priorities = Priorities.perWorker
  /// Where a job goes that comes from outside.
  public var outsidePlace = OutsidePlace.injector
  /// How many jobs a worker adds itself before it looks outside once: 1 or more.
  public var outsideInterval = 4
  /// The most jobs that a worker without work takes from outside at once: 1 or more.
  public var outsideBatch = 64
  /// How many threads are to search when jobs come in.
  public var waking = Waking.oneSearcher
  /// Which of the sleeping threads is woken.
  public var sleeper = Sleeper.lastAsleep
  /// How many threads may search at the same time.
  public var searchers = Searchers.half
  /// How long a thread without a job looks for one before it sleeps.
  public var search = Search.patient
  /// What a thread does that waits for an operation, inside of another operation.
  public var waiting = Waiting.helps

  /// The default strategy.
  public init() {}
}
