import CPlatform
import OperationJobs
import Primitives
import Scheduling

/// One thread of a thread pool.
final class PoolThread: PoolMember {
  private let pool: ThreadPool
  let parker = Parker()
  let watched = WatchedThread()
  /// What the thread has done. Only the thread counts.
  let counts = WorkerCounts()

  init(_ pool: ThreadPool) {
    self.pool = pool
  }

  var statistics: PoolStatistics.Worker { counts.now(jobs: watched.jobsBegun) }

  func run() {
    watched.begin()
    WorkerLocal.become(self, of: pool) { OwedReferences.allowed { pool.work(self) } }
  }
}
