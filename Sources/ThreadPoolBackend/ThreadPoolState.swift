import OperationCore
import Primitives
import Scheduling
import Synchronization

extension ThreadPool {
  /// What the pool's lock guards.
  struct State: ~Copyable {
    var jobs: PriorityFIFO
    let workerCount: Int
    var active = 0 { didSet { showPlaces() } }
    var live = 0
    /// Threads inside `whileBlocked`, and those that the monitor marked.
    var blocked = 0 { didSet { showPlaces() } }
    var bonus = BlockingMonitor.Bonus() { didSet { showPlaces() } }
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

    init(_ jobs: consuming PriorityFIFO, workerCount: Int) {
      self.jobs = jobs
      self.workerCount = workerCount
    }

    var allowed: Int { workerCount + blocked + bonus.places }

    /// Behind each change of the number of places, and before the look at the queued jobs that may follow.
    private func showPlaces() {
      if let shownPlaces { shownPlaces.pointee.store(allowed - active, ordering: .sequentiallyConsistent) }
    }

    /// For assertions.
    var isPossible: Bool { active >= 0 && blocked >= 0 && live >= active && live >= sleeping.count }
  }
}
