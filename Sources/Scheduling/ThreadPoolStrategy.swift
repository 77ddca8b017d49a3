/// How the thread pool schedules: a value with one field for each decision. `StealingStrategy` explains the words.
///
/// ```swift
/// var strategy = ThreadPoolStrategy()
/// strategy.order = .fifo
/// let backend = ThreadPoolBackend(workers: 4, strategy: strategy)
/// ```
public struct ThreadPoolStrategy: Hashable, Sendable {
  /// Which of the queued jobs goes first.
  public var order = Order.priority
  /// What guards the queued jobs.
  public var locks = Locks.one
  /// What happens to an operation that the end of another one made ready.
  public var successor = StealingStrategy.Successor.runs
  /// How many operations a thread runs in a row, each the successor of the one before: 1 or more. After that other
  /// queued jobs go first. The default is long enough that a look at the queued jobs costs nothing, and a prime, so
  /// that the run keeps no step with periodic work.
  public var runLength = 61
  /// How many sleeping threads are woken when jobs come in.
  public var waking = Waking.onePerJob
  /// Which of the sleeping threads is woken.
  public var sleeper = StealingStrategy.Sleeper.lastAsleep
  /// How long a thread without a job looks for one before it sleeps.
  public var search = StealingStrategy.Search.patient
  /// What a thread does while the operation that it runs waits for another operation.
  public var waiting = StealingStrategy.Waiting.givesPlace
  /// When a fork of a `join` becomes visible to other threads.
  public var forks = StealingStrategy.Forks.idle

  /// The default strategy.
  public init() {}

  /// Which of the queued jobs goes first.
  public enum Order: Hashable, Sendable {
    /// The most urgent, and the oldest among equals.
    case priority
    /// The oldest. Gives up row 20: an urgent operation waits like any other.
    case fifo
    /// The newest: its data is still in the cache. Gives up row 20: neither urgent nor old operations go first. While
    /// operations add operations, an old one may wait for ever.
    case lifo
  }

  /// Whether work that feeds itself may keep an older job waiting for ever.
  package var mayStarve: Bool { order == .lifo }

  /// What guards the queued jobs.
  public enum Locks: Hashable, Sendable {
    /// The pool's lock guards all jobs, and the counts of threads.
    case one
    /// Each level has a list of jobs, with a lock of its own. The pool's lock guards the counts of threads alone: a
    /// thread takes that lock to wake threads, to sleep and to say that it blocks.
    case perLevel
  }

  /// How many sleeping threads are woken when jobs come in. No more are woken than have a place.
  public enum Waking: Hashable, Sendable {
    /// One thread for each job.
    case onePerJob
    /// One thread. A thread that takes a job while other jobs are left wakes the next thread.
    case passedOn
    /// As many threads as there are free places.
    case all

    /// How many threads to wake. The pool wakes fewer when fewer places are free.
    /// - Parameters:
    ///   - jobs: how many jobs came together, 1 or more.
    ///   - places: how many places are free.
    @inlinable package func count(jobs: Int, places: Int) -> Int {
      switch self {
      case .onePerJob: jobs
      case .passedOn: 1
      case .all: max(jobs, places)
      }
    }
  }
}
