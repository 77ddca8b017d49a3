// How many threads are awake, and what they do without a job.

extension StealingStrategy {
  /// How many threads are to search when jobs come in.
  ///
  /// Waking costs as much as some ten short jobs. A woken thread that finds a job passes the search on.
  public enum Waking: Hashable, Sendable {
    /// One while nobody searches; for jobs that come together one more for every 8, up to 4.
    case oneSearcher
    /// One while nobody searches, however many jobs come.
    case onlyOne
    /// One for every `jobs` jobs that come together, without a limit: 1 or more.
    case every(jobs: Int)
    /// As many as there are workers.
    case all

    /// How many searching threads are enough for jobs that are submitted together.
    @inlinable public func searchersWanted(jobs: Int, workers: Int) -> Int {
      switch self {
      case .oneSearcher: min(1 + jobs / 8, 4)
      case .onlyOne: 1
      case .every(let each): max(1, min((jobs + max(1, each) - 1) / max(1, each), workers))
      case .all: workers
      }
    }
  }

  /// Which of the sleeping threads is woken.
  public enum Sleeper: Hashable, Sendable {
    /// The one that fell asleep last: its caches are the warmest, and the others may end.
    case lastAsleep
    /// The one that has slept longest.
    case firstAsleep
  }

  /// How many threads may search at the same time. One thread always may.
  public enum Searchers: Hashable, Sendable {
    /// At most half of the workers: the rule of Go and Tokio.
    case half
    /// One.
    case one
    /// All.
    case all
    /// One more after each search that found a job, one less after each that found none; at least one.
    case adaptive

    /// Whether one more thread may search.
    /// - Parameter adapted: the number that `adapted(_:found:workers:)` gave last.
    @inlinable public func allows(searching: Int, workers: Int, adapted: Int = 1) -> Bool {
      switch self {
      case .half: searching == 0 || 2 * searching < workers
      case .one: searching == 0
      case .all: true
      case .adaptive: searching < max(1, adapted)
      }
    }

    /// How many threads may search with `adaptive` after a search has ended.
    @inlinable public static func adapted(_ before: Int, found: Bool, workers: Int) -> Int {
      found ? min(before + 1, workers) : max(before - 1, 1)
    }
  }

  /// What a thread does that waits for an operation, inside of another operation.
  public enum Waiting: Hashable, Sendable {
    /// The thread runs that operation itself, or an operation that it waits for. When there is none that may run here,
    /// another thread takes the place of the waiting one.
    case helps
    /// Another thread takes its place at once. When there can be no other thread, it helps.
    case givesPlace
  }
}
