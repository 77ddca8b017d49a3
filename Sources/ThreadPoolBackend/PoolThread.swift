import CPlatform
import OperationCore
import Primitives
import Synchronization

/// One thread of a thread pool.
final class PoolThread: Sendable {
  private let pool: ThreadPool
  let parker = Parker()
  private let threadWord = Atomic<Int32>(0)
  /// Jobs begun.
  private let progress = Atomic<Int>(0)
  private let busy = Atomic<Bool>(false)

  init(_ pool: ThreadPool) {
    self.pool = pool
  }

  func run() {
    threadWord.store(cplatform_thread_id(), ordering: .relaxed)
    WorkerLocal.become(self, of: pool) { OwedReferences.allowed { pool.work(self) } }
  }

  /// 0 until it runs.
  var threadID: Int32 { threadWord.load(ordering: .relaxed) }

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
    if cplatform_thread_is_blocked(threadID) { sample.blocked += 1 }
  }
}
