/// How a work-stealing pool schedules: a value with one field for each decision.
///
/// A change of one field shows what that decision is worth, because all other code stays the same. The default is what
/// `StealingBackend` does without a strategy. Text such as `own=lifo;steal=half` names a strategy for
/// `opbench run --backend`.
///
/// The decisions use these words:
///
/// * **job**: a piece of work that a queue gives to a pool, mostly one operation.
/// * **level**: one of the five priorities of a job.
/// * **worker**: the owner of lists of jobs, with one thread at a time.
/// * **place**: the right of a thread to run jobs. A pool that is made with four workers has four places. A thread that
///   blocks gives its place up, and another thread may take the place.
/// * **outside**: every thread that is not of the pool. Jobs from outside wait in lists called *injectors*.
/// * **to search**: to look for a job in all lists. A thread that has no job searches, and sleeps when it finds none.
/// * **to rob**, or to steal: to take a job from the lists of another worker. The robber is the *thief*.
/// * **successor**: an operation that the end of another operation made ready.
/// * **monitor**: a thread that looks at the pool while jobs wait that no other thread is on its way to. The monitor
///   finds out which threads block.
/// * **row 20**: a row of the contract. By this row the most urgent ready operation starts first, and the oldest among
///   equals.
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
  /// How many operations a thread runs in a row, each the successor of the one before: 1 or more. After that other
  /// queued jobs go first. The default is long enough that a look at the queued jobs costs nothing, and a prime, so
  /// that the run keeps no step with periodic work.
  public var runLength = 61
  /// How many jobs a worker takes from another worker at once.
  public var stealAmount = StealAmount.one
  /// Which worker is robbed first.
  public var victim = Victim.random
  /// A thief leaves a worker alone that has fewer jobs than this: 1 or more. A thief that would otherwise sleep robs
  /// every worker. A number above 1 gives up row 20: an urgent job of a worker with few jobs waits for that worker.
  public var leastJobs = 1
  /// What a thief does when another thread took the job that it wanted.
  public var lostRace = LostRace.again
  /// Whether the jobs of urgent operations go first.
  public var priorities = Priorities.perWorker
  /// In which list a job from outside waits.
  public var outsidePlace = OutsidePlace.injector
  /// How many jobs a worker adds before it looks once at the jobs from outside: 1 or more. On two CPUs
  /// (`results/ablation`) with 64 a burst from outside onto a busy pool takes several times as long.
  public var outsideInterval = 4
  /// The most jobs from outside that a worker without jobs takes at once: 1 or more. On two CPUs (`results/ablation`)
  /// adding takes longer with one job at once.
  public var outsideBatch = 64
  /// How many threads are to search when jobs come in. Sleeping threads are woken until that number of threads
  /// searches.
  public var waking = Waking.oneSearcher
  /// How a search is passed on that has found a job.
  public var passing = Passing.upTo(threads: 2)
  /// Which of the sleeping threads is woken.
  public var sleeper = Sleeper.lastAsleep
  /// How many threads may search at the same time.
  public var searchers = Searchers.half
  /// How long a thread without a job looks for one before it sleeps.
  public var search = Search.patient
  /// What a thread does while the operation that it runs waits for another operation.
  public var waiting = Waiting.givesPlace
  /// When a fork of a `join` becomes visible to other threads.
  public var forks = Forks.idle

  /// The default strategy.
  public init() {}
}
