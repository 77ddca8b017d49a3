// Which job a worker takes next: its own, the successor of the last one, or another worker's.

extension StealingStrategy {
  /// Which of its own jobs a worker runs next.
  ///
  /// Newest first is the rule of Cilk, TBB, rayon and Go's next slot: the data of a new job is still in the cache. Oldest
  /// first keeps the order in which operations were added.
  public enum OwnEnd: Hashable, Sendable {
    /// The oldest first.
    case fifo
    /// The newest first. Gives up row 20 within a level: jobs of one priority run in no order.
    case lifo
    /// The newest first, and the oldest at every `every`th turn: 2 or more. Gives up the same as `lifo`.
    case lifoWithTurn(every: Int)

    /// Whether a worker takes its newest job at this turn.
    @inlinable public func takesNewest(turn: UInt32) -> Bool {
      switch self {
      case .fifo: false
      case .lifo: true
      case .lifoWithTurn(let every): !turn.isMultiple(of: UInt32(max(1, every)))
      }
    }
  }

  /// What happens to an operation that the end of another one made ready.
  ///
  /// Tokio's next slot and Taskflow's cache run the successor at once. A successor that is queued can be stolen while the
  /// worker does something else.
  public enum Successor: Hashable, Sendable {
    /// The same thread runs the successor at once, for up to `runLength` operations in a row.
    case runs
    /// The successor goes to the worker's own jobs, and the worker takes the next job by the order of its jobs. Nobody is
    /// woken at once. The monitor wakes a thread when the successor is still queued and a place is free.
    case queued
    /// The same, and a sleeping thread is woken as for a job that was added.
    case queuedAndWakes
  }

  /// How many jobs a worker takes from another worker at once.
  ///
  /// Half is the rule of Go and Tokio: it spreads a heap of jobs in few visits. One is the rule of Cilk and rayon.
  public enum StealAmount: Hashable, Sendable {
    /// One job.
    case one
    /// Half of the jobs that the other worker has, at least one and at most 128: a thief that moves jobs runs none.
    case half
    /// At most this many: 1 or more.
    case upTo(Int)

    /// How many jobs to take from a worker that has `available` jobs.
    @inlinable public func count(of available: Int) -> Int {
      switch self {
      case .one: 1
      case .half: max(1, min((available + 1) / 2, 128))
      case .upTo(let most): max(1, min(most, available))
      }
    }
  }

  /// Which worker is robbed first. The others follow in their order, so that no job is overlooked.
  public enum Victim: Hashable, Sendable {
    /// A random worker: the rule of most work-stealing pools, because it has bounds.
    case random
    /// The worker behind the one that was robbed first the last time.
    case roundRobin
    /// The worker at which the last theft succeeded.
    case lastSuccess
    /// The worker with the next number: the nearest, where threads stay on their CPUs.
    case neighbour
    /// Of `of` random workers the one with the most jobs: 2 or more.
    case longest(of: Int)

    /// The index of the first worker to visit.
    /// - Parameters:
    ///   - thief: the index of the thief, `count` the number of workers, 2 or more.
    ///   - memory: what the thief remembers for this decision; 0 at first.
    ///   - random: gives a random number below its argument.
    ///   - length: gives the number of jobs of a worker.
    @inlinable public func first(
      thief: Int, count: Int, memory: inout Int, random: (Int) -> Int, length: (Int) -> Int
    ) -> Int {
      switch self {
      case .random: return random(count)
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

    /// What a thief remembers when a theft from `worker` has succeeded.
    @inlinable public func succeeded(at worker: Int, memory: inout Int) {
      if self == .lastSuccess { memory = worker }
    }
  }

  /// What a thief does when another thread took the job that it wanted.
  public enum LostRace: Hashable, Sendable {
    /// Tries the same worker again.
    case again
    /// Goes on to the next worker. A thief that meets a race everywhere looks once more before it sleeps.
    case next
  }
}
