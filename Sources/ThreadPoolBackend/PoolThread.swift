import CPlatform
import OperationCore
import Primitives

/// One thread of a thread pool.
final class PoolThread: PoolMember {
  private let pool: ThreadPool
  let parker = Parker()
  let watched = WatchedThread()

  init(_ pool: ThreadPool) {
    self.pool = pool
  }

  func run() {
    watched.begin()
    WorkerLocal.become(self, of: pool) { OwedReferences.allowed { pool.work(self) } }
  }
}
