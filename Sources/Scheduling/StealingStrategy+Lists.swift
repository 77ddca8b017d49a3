// In which lists jobs wait, and in which order they leave.

extension StealingStrategy {
  /// Whether the jobs of urgent operations go first, and in which lists jobs wait.
  ///
  /// A strict order needs lists that all workers share. Relaxed orders give up some of it, so that workers meet less often.
  public enum Priorities: Hashable, Sendable {
    /// Each worker has a list for each level. The most urgent level that any worker may have jobs of goes first, as a hint
    /// says.
    case perWorker
    /// All workers share one list for each level. A job is taken from the most urgent list, one job at a time. Nothing is
    /// stolen, so `ownEnd`, `stealAmount`, `victim`, `leastJobs` and `lostRace` change nothing.
    case strict
    /// Each worker has one list. Gives up row 20: an urgent operation waits like any other.
    case ignored
    /// A relaxed multi-queue (Rihani, Sanders and Dementiev 2015): `listsPerWorker` lists for each worker, 1 or more. A job
    /// goes to a random list. A worker looks at two random lists and takes the more urgent job, or from the longer list
    /// among equals. Gives up row 20: the order holds nearly.
    case multiQueue(listsPerWorker: Int)
    /// The multi-queue with two lists for each worker. A thread keeps its choice of lists for this number of jobs: 1 or
    /// more (Williams, Sanders and Dementiev 2021).
    case stickyMultiQueue(jobs: Int)

    /// The lists of a multi-queue for each worker; 0 without a multi-queue.
    @inlinable public var listsPerWorker: Int {
      switch self {
      case .perWorker, .strict, .ignored: 0
      case .multiQueue(let lists): lists
      case .stickyMultiQueue: 2
      }
    }

    /// For how many jobs a thread keeps its choice of lists.
    @inlinable public var stickiness: Int { if case .stickyMultiQueue(let jobs) = self { jobs } else { 1 } }

    /// Which of two lists of a multi-queue a worker takes from: the more urgent one, and the longer one among equals.
    /// - Parameters:
    ///   - first: the level of the most urgent job of a list, -1 for an empty list, and the number of its jobs.
    ///   - second: the same of the other list.
    /// - Returns: whether to take from the first list.
    @inlinable
    public static func takesFirst(_ first: (level: Int, jobs: Int), _ second: (level: Int, jobs: Int)) -> Bool {
      first.level != second.level ? first.level > second.level : first.jobs >= second.jobs
    }
  }

  /// Where a job goes that comes from outside of the pool.
  ///
  /// With one list for each worker, threads outside meet less often. A worker that has nothing looks into the lists of the
  /// others too, so that no job is overlooked. Gives up row 20: jobs of several lists are taken in no order.
  public enum OutsidePlace: Hashable, Sendable {
    /// To a list that all workers share, one for each level.
    case injector
    /// To the lists of the workers in turn.
    case roundRobin
    /// Of `of` random workers to the one with the fewest jobs: 1 or more.
    case leastLoaded(of: Int)

    /// The number of the list, with as many lists as workers.
    /// - Parameters:
    ///   - lists: the number of lists.
    ///   - turn: how many jobs came before.
    ///   - random: gives a random number below its argument.
    ///   - length: gives the number of jobs that wait for a worker.
    @inlinable public func list(of lists: Int, turn: Int, random: (Int) -> Int, length: (Int) -> Int) -> Int {
      switch self {
      case .injector: return 0
      case .roundRobin: return turn % lists
      case .leastLoaded(let tries):
        var best = random(lists)
        var fewest = length(best)
        for _ in stride(from: 1, to: tries, by: 1) {
          let other = random(lists)
          let jobs = length(other)
          if jobs < fewest { (best, fewest) = (other, jobs) }
        }
        return best
      }
    }
  }
}
