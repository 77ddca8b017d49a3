import OperationJobs
import Primitives
import Scheduling
import Synchronization

extension ThreadPool {
  /// What the pool's lock guards.
  struct State: ~Copyable {
    var jobs: PriorityFIFO
    var workers: Int { didSet { showPlaces() } }
    var active = 0 {
      didSet {
        RunningThreads.change(from: oldValue - blocked, to: active - blocked)
        showPlaces()
      }
    }
    var live = 0
    /// Threads inside `whileBlocked`, and those that the monitor marked.
    var blocked = 0 {
      didSet {
        RunningThreads.change(from: active - oldValue, to: active - blocked)
        showPlaces()
      }
    }
    var bonus = BlockingMonitor.Bonus() { didSet { showPlaces() } }
    /// Threads of others that are in joins on this pool.
    var guests = 0 { didSet { showPlaces() } }
    /// A job came that found every place taken, one by a guest: the last guest looks for it.
    var lacksPlaceForJob = false
    /// Where the number of free places is shown to threads without the lock; nil when no thread looks.
    var shownPlaces: UnsafeMutablePointer<Atomic<Int>>?
    /// Sleeping threads; the latest sleeper is the last element.
    var sleeping: [PoolThread] = []
    var threads: [PoolThread] = []
    var stopping = false
    /// What the threads did that have ended.
    var ended = PoolStatistics.Worker()
    var wakes: UInt64 = 0
    var replacements: UInt64 = 0

    init(_ jobs: consuming PriorityFIFO, workers: Int) {
      self.jobs = jobs
      self.workers = workers
    }

    /// A guest takes the place of a worker, so that no more threads run than the pool has workers. One place is always
    /// left: a guest may wait for an operation of the pool in a way that the pool does not know.
    var allowed: Int { max(1, workers - guests) + blocked + bonus.places }

    /// Behind each change of the number of places, and before the look at the queued jobs that may follow.
    private func showPlaces() {
      if let shownPlaces { shownPlaces.pointee.store(allowed - active, ordering: .sequentiallyConsistent) }
    }

    /// For assertions.
    var isPossible: Bool { active >= 0 && blocked >= 0 && live >= active && live >= sleeping.count }
  }
}
