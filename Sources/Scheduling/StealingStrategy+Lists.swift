// In which lists jobs wait, and in which order they leave.

extension StealingStrategy {
  /// Whether the jobs of urgent operations go first, and in which lists jobs wait.
  ///
  /// A strict order needs lists that all workers share. A relaxed order is less exact, so that fewer threads meet at
  /// the same list.
  ///
  /// On two CPUs (`results/ablation`): adding, and fork and join, take longer with shared lists. With a multi-queue
  /// adding takes longer still. Without priorities an urgent operation behind a backlog waits many times as long, and
  /// nothing is surely faster.
  public enum Priorities: Hashable, Sendable {
    /// Each worker has a list for each level. All workers share a *hint*: one bit for each level, set while some list
    /// may have a job of that level. A worker takes a job of the most urgent level that the hint or its own lists name.
    case perWorker
    /// All workers share one list for each level. A worker takes one job at a time, from the most urgent list that has
    /// jobs. No worker has jobs of its own. So `ownEnd`, `stealAmount`, `victim`, `leastJobs`, `lostRace`,
    /// `outsideInterval` and `outsideBatch` change nothing.
    case strict
    /// Each worker has one list for jobs of every priority. Gives up row 20: an urgent operation waits like any other.
    case ignored
    /// A relaxed multi-queue (Rihani, Sanders and Dementiev 2015): `listsPerWorker` lists for each worker, 1 or more.
    /// All workers share all lists. A job goes to a random list. A worker looks at the first job of two random lists
    /// and takes the more urgent one. Among equals it takes from the longer list. Gives up row 20: the order holds
    /// nearly.
    case multiQueue(listsPerWorker: Int)
    /// The multi-queue with two lists for each worker. A worker keeps its random choice of lists for this number of
    /// jobs: 1 or more (Williams, Sanders and Dementiev 2021).
    case stickyMultiQueue(jobs: Int)

    /// How many lists of a multi-queue there are for each worker; 0 without a multi-queue.
    @inlinable package var listsPerWorker: Int {
      switch self {
      case .perWorker, .strict, .ignored: 0
      case .multiQueue(let lists): lists
      case .stickyMultiQueue: 2
      }
    }

    /// For how many jobs a worker keeps its choice of lists.
    @inlinable package var stickiness: Int { if case .stickyMultiQueue(let jobs) = self { jobs } else { 1 } }

    /// From which of two lists of a multi-queue a worker takes a job: from the more urgent one, and from the longer one
    /// among equals.
    /// - Parameters:
    ///   - first: of one list, the level of its most urgent job (-1 for an empty list), and its number of jobs.
    ///   - second: the same of the other list.
    /// - Returns: whether to take from the first list.
    @inlinable
    package static func takesFirst(_ first: (level: Int, jobs: Int), _ second: (level: Int, jobs: Int)) -> Bool {
      first.level != second.level ? first.level > second.level : first.jobs >= second.jobs
    }
  }

  /// In which list a job from outside of the pool waits.
  ///
  /// With one list for each worker, fewer threads outside meet at the same list. A worker without jobs looks into the
  /// lists of the other workers too, so that no job is overlooked. Lists for each worker give up row 20: jobs of
  /// several lists are taken in no order.
  ///
  /// On two CPUs (`results/ablation`): adding takes a little longer with lists in turn, and much longer with the list
  /// of the fewest jobs. The reason is probably that each job reads the clock for a random number, and counts that
  /// other threads write.
  public enum OutsidePlace: Hashable, Sendable {
    /// In a list that all workers share, one list for each level.
    case injector
    /// In the lists of the workers, one after another.
    case roundRobin
    /// In the list of the worker with the fewest jobs, out of `of` random workers: 1 or more.
    case leastLoaded(of: Int)

    /// The number of the list for a job. There are as many lists as workers.
    /// - Parameters:
    ///   - lists: the number of lists.
    ///   - turn: how many jobs came before.
    ///   - random: gives a random number below its argument.
    ///   - length: gives the number of jobs that wait for the worker of a list.
    @inlinable package func list(of lists: Int, turn: Int, random: (Int) -> Int, length: (Int) -> Int) -> Int {
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
