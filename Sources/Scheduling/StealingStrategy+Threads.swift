// How many threads are awake, and what they do without a job.

extension StealingStrategy {
  /// How many threads are to search when jobs come in. Sleeping threads are woken until that number of threads
  /// searches.
  ///
  /// Waking a thread costs as much as some ten short jobs. A woken thread that finds a job wakes the next thread, when
  /// nobody else searches and jobs are left.
  ///
  /// On two CPUs (`results/ablation`) no difference is sure. With more workers than CPUs, handing over takes
  /// longer when all are woken.
  public enum Waking: Hashable, Sendable {
    /// One thread. For jobs that come together one more thread for every 8 jobs, up to 4 threads in all.
    case oneSearcher
    /// One thread, however many jobs come together.
    case onlyOne
    /// One thread for every `jobs` jobs that come together, up to the number of workers: 1 or more.
    case every(jobs: Int)
    /// As with `oneSearcher`, and one thread more for every `sleeping` threads that sleep: 1 or more. A job that comes
    /// alone wakes one thread.
    case share(sleeping: Int)
    /// As many threads as there are workers.
    case all

    /// How many searching threads are enough for `jobs` jobs that come together.
    /// - Parameter sleeping: how many threads sleep.
    @inlinable package func searchersWanted(jobs: Int, workers: Int, sleeping: @autoclosure () -> Int) -> Int {
      switch self {
      case .oneSearcher: min(1 + jobs / 8, 4)
      case .share(let each): min(1 + jobs / 8, 4) + sleeping() / max(1, each)
      case .onlyOne: 1
      case .every(let each): max(1, min((jobs + max(1, each) - 1) / max(1, each), workers))
      case .all: workers
      }
    }
  }

  /// How a search is passed on that has found a job.
  ///
  /// A woken thread runs some 10 or 20 microseconds after the call that wakes it. When one thread wakes the next, 256
  /// threads start one after another. When each wakes two, eight such times pass until all run.
  ///
  /// A pool with four workers or fewer starts one thread after another in any case: with four on two CPUs, adding from
  /// outside takes more CPU time when two are woken at once.
  public enum Passing: Hashable, Sendable {
    /// The last searching thread wakes one other, when jobs are left.
    case lastSearcher
    /// Each thread that found a job wakes at most `threads` other threads, 1 or more. At most one thread searches for
    /// each job that can be seen. With fewer than `fewPlaces` free places as `lastSearcher`.
    case upTo(threads: Int)

    /// How many threads a thread wakes at most. The last searching thread wakes one thread more.
    /// - Parameter places: how many places are free.
    @inlinable package func threads(places: Int) -> Int {
      if case .upTo(let threads) = self, places >= Self.fewPlaces { min(threads, places) } else { 0 }
    }

    /// With fewer free places one thread is woken after another.
    @inlinable package static var fewPlaces: Int { 4 }
  }

  /// Which of the sleeping threads is woken.
  public enum Sleeper: Hashable, Sendable {
    /// The thread that fell asleep last: its caches are the warmest. Surplus threads that sleep for a second end.
    case lastAsleep
    /// The thread that has slept longest.
    case firstAsleep
  }

  /// How many threads may search at the same time. One thread always may. The limit is for threads that run out of
  /// jobs. A woken thread searches in any case.
  public enum Searchers: Hashable, Sendable {
    /// Half as many threads as there are workers, rounded up: nearly the rule of Go and Tokio.
    case half
    /// One thread.
    case one
    /// All threads.
    case all
    /// A number that changes: one more after each search that found a job, one less after each that found none. At
    /// least one, at most the number of workers.
    case adaptive

    /// Whether one more thread may search.
    /// - Parameters:
    ///   - searching: how many threads search now.
    ///   - workers: the number of workers.
    ///   - adapted: the number that `adapted(_:found:workers:)` gave last.
    @inlinable package func allows(searching: Int, workers: Int, adapted: Int = 1) -> Bool {
      switch self {
      case .half: searching == 0 || 2 * searching < workers
      case .one: searching == 0
      case .all: true
      case .adaptive: searching < max(1, adapted)
      }
    }

    /// How many threads may search with `adaptive` after a search has ended.
    /// - Parameters:
    ///   - before: how many threads might search until then.
    ///   - found: whether the search found a job.
    ///   - workers: the number of workers.
    @inlinable package static func adapted(_ before: Int, found: Bool, workers: Int) -> Int {
      found ? min(before + 1, workers) : max(before - 1, 1)
    }
  }

  /// What a thread does while the operation that it runs waits for another operation.
  ///
  /// On two CPUs (`results/ablation`) giving the place takes longer where each parent waits for its children.
  public enum Waiting: Hashable, Sendable {
    /// The thread runs the awaited operation, or an operation on which the awaited one depends, on its own stack. When
    /// no such operation may run here, another thread takes the place of the waiting thread.
    ///
    /// Gives up row 28 (sentence 28.7): what runs during the wait has all that belongs to the waiting thread. The
    /// thread-local and task-local values of the waiting body are seen. A recursive lock that the waiting body holds
    /// lets the other body in: two operations are in one critical section. A lock that is not recursive waits for
    /// itself for ever. The thread's priority, name and rounding mode, and the used part of the stack, are shared too.
    case helps
    /// Another thread takes the place of the waiting thread at once. So a wait means what it means on Foundation. When
    /// the pool can have no other thread, the waiting thread helps: then all that `helps` says holds.
    case givesPlace
  }
}
