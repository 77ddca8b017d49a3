import CPlatform
import OperationCore
import Primitives
import Synchronization

/// One thread of a thread pool.
final class PoolThread: Sendable {
  private let pool: ThreadPool
  let parker = Parker()
  private let threadID = Atomic<Int32>(0)
  /// Jobs begun.
  private let progress = Atomic<Int>(0)
  private let busy = Atomic<Bool>(false)

  init(_ pool: ThreadPool) {
    self.pool = pool
  }

  func run() {
    threadID.store(cplatform_thread_id(), ordering: .relaxed)
    WorkerLocal.become(self, of: pool) { OwedReferences.allowed { pool.work(self) } }
  }

  func begin() {
    progress.store(progress.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    busy.store(true, ordering: .relaxed)
  }

  func end() { busy.store(false, ordering: .relaxed) }

  /// For the monitor; reads the thread's state from the system only while it is busy.
  func add(to sample: inout BlockingMonitor.Sample) {
    sample.progress &+= progress.load(ordering: .relaxed)
    guard busy.load(ordering: .relaxed) else { return }
    sample.busy += 1
    if cplatform_thread_is_blocked(threadID.load(ordering: .relaxed)) { sample.blocked += 1 }
  }
}
