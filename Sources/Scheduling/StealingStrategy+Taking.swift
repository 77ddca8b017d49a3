// Which job a worker takes next: its own, the successor of the last one, or another worker's.

extension StealingStrategy {
  /// Which of its own jobs a worker runs next.
  ///
  /// Newest first is the rule of Cilk, TBB and rayon, and of the one job that Go keeps in its "next" slot. The reason
  /// is that the data of a new job is still in the cache. Oldest first keeps the order in which operations were added.
  ///
  /// On two CPUs (`results/ablation`): newest first takes less time on `forkjoin/fib` and on `strategy/tree-peak`,
  /// where few operations stay pending. Adding takes a little longer.
  public enum OwnEnd: Hashable, Sendable {
    /// The oldest first.
    case fifo
    /// The newest first. Gives up row 20 within a level: jobs of one priority run in no order. Work that feeds itself
    /// may keep an older job waiting for ever.
    case lifo
    /// The newest first, but the oldest every `every`th time that the worker takes a job of its own: 2 or more. Gives
    /// up row 20 as `lifo` does.
    case lifoWithTurn(every: Int)

    /// Whether a worker takes its newest job this time.
    /// - Parameter turn: how many times the worker has taken a job of its own, this time included.
    @inlinable package func takesNewest(turn: UInt32) -> Bool {
      switch self {
      case .fifo: false
      case .lifo: true
      case .lifoWithTurn(let every): !turn.isMultiple(of: UInt32(max(1, every)))
      }
    }
  }

  /// Whether work that feeds itself may keep an older job waiting for ever. Other choices that give up row 20 take an
  /// old job now and then.
  package var mayStarve: Bool { ownEnd == .lifo }

  /// What happens to an operation that the end of another one made ready.
  ///
  /// That operation is the *successor*. Tokio (its "LIFO slot") and Taskflow (its "cache") run the successor at once. A
  /// queued successor can be stolen while the worker does something else.
  ///
  /// On two CPUs (`results/ablation`): with a wake for each successor, chains and graphs take longer. Without the wake,
  /// and with runs of one, they take a little longer.
  public enum Successor: Hashable, Sendable {
    /// The thread that made the successor ready runs it at once, for up to `runLength` operations in a row.
    case runs
    /// The worker adds the successor to its own jobs, and then takes its next job in the usual order. The worker wakes
    /// no thread. The monitor wakes a thread when its look finds the successor still queued and a place free.
    case queued
    /// The worker adds the successor to its own jobs, and wakes a sleeping thread as for any added job.
    case queuedAndWakes
  }

  /// How many jobs a worker takes from another worker at once.
  ///
  /// Half is the rule of Go and Tokio: many jobs of one worker are spread in few thefts. One is the rule of Cilk and
  /// rayon.
  ///
  /// On two CPUs (`results/ablation`) no difference on a family is sure. Half takes a little less time where one
  /// producer feeds the others.
  public enum StealAmount: Hashable, Sendable {
    /// One job.
    case one
    /// Half of the jobs that the other worker has, at least one and at most 128. The reason for 128 is that a thief
    /// runs no job while it moves jobs.
    case half
    /// At most this many: 1 or more.
    case upTo(Int)

    /// How many jobs to take from a worker that has `available` jobs.
    @inlinable package func count(of available: Int) -> Int {
      switch self {
      case .one: 1
      case .half: max(1, min((available + 1) / 2, 128))
      case .upTo(let most): max(1, min(most, available))
      }
    }
  }

  /// Which worker is robbed first. The thief visits the other workers after that, by their numbers, so that no job is
  /// overlooked.
  ///
  /// With two workers all choices are the same, and `results/ablation` finds no difference.
  public enum Victim: Hashable, Sendable {
    /// A random worker. Most work-stealing pools do this, because the running time then has proven bounds.
    case random
    /// The worker whose number follows that of the worker visited first in the last search.
    case roundRobin
    /// The worker at which the last theft succeeded.
    case lastSuccess
    /// The worker whose number follows the thief's: the nearest worker, where threads stay on their CPUs.
    case neighbour
    /// The worker with the most jobs, out of `of` random workers: 2 or more.
    case longest(of: Int)
    /// A random worker of the thief's group: `group` workers whose numbers follow each other, 2 or more. When all of
    /// them have been visited, a random one of all workers. A pool binds no thread to a CPU, so neighbours by number
    /// need not be neighbours on the machine.
    case near(group: Int)

    /// The index of the first worker to visit.
    /// - Parameters:
    ///   - thief: the index of the thief.
    ///   - count: the number of workers, 2 or more.
    ///   - memory: the index of a worker that the thief remembers for this decision.
    ///   - random: gives a random number below its argument.
    ///   - length: gives the number of jobs of a worker.
    @inlinable package func first(
      thief: Int, count: Int, memory: inout Int, random: (Int) -> Int, length: (Int) -> Int
    ) -> Int {
      switch self {
      case .random, .near: return random(count)
      case .roundRobin:
        memory = (memory + 1) % count
        return memory
      case .lastSuccess: return memory % count
      case .neighbour: return (thief + 1) % count
      case .longest(let tries):
        var best = random(count)
        var most = best == thief ? -1 : length(best)
        for _ in 1..<max(1, tries) {
          let other = random(count)
          let jobs = other == thief ? -1 : length(other)
          if jobs > most { (best, most) = (other, jobs) }
        }
        return best
      }
    }

    /// The workers that are visited before all others; nil for none.
    /// - Parameters:
    ///   - thief: the index of the thief.
    ///   - count: the number of workers, 2 or more.
    @inlinable package func neighbours(of thief: Int, count: Int) -> Range<Int>? {
      guard case .near(let size) = self, size < count else { return nil }
      let start = thief / size * size
      let end = min(count, start + size)
      return end - start > 1 ? start..<end : nil
    }

    /// What a thief remembers when a theft from `worker` has succeeded.
    @inlinable package func succeeded(at worker: Int, memory: inout Int) {
      if self == .lastSuccess { memory = worker }
    }
  }

  /// What a thief does when another thread took the job that it wanted.
  public enum LostRace: Hashable, Sendable {
    /// The thief tries the same worker again.
    case again
    /// The thief goes on to the next worker. A thief that lost a race at every worker does not sleep at once: the last
    /// searching thread first looks whether any job is left.
    case next
  }
}
