import OperationCore
import Primitives
import Synchronization

// The end: nothing new from outside, what is queued still runs, then every thread ends.

extension StealingPool {
  /// Begins it. Threads that find nothing to do end; those asleep are woken to find that out.
  func stop() {
    stopping.store(true, ordering: .sequentiallyConsistent)
    while true {
      let worker: Worker? = sleepLock.withLock {
        guard let worker = sleepers.pointee.stack.popLast() else { return nil }
        count(SleepWord.oneSearching &- SleepWord.oneSleeping)
        return worker
      }
      guard let worker else { break }
      worker.parker.unpark()
    }
    threads.monitor.stop()
  }

  /// Returns when every thread has ended.
  func join() { threads.join(isOwnThread: currentWorker != nil) }
}
