import Primitives
import Synchronization

// The end: no new jobs come from outside, the queued jobs still run, then every thread ends.

extension StealingPool {
  /// Begins the end. Threads that find nothing to do end; sleeping threads are woken to find that out.
  func stop() {
    stopping.store(true, ordering: .sequentiallyConsistent)
    while true {
      let worker: Worker? = sleepLock.withLock {
        guard let worker = sleepLock.state.stack.popLast() else { return nil }
        count(SleepWord.oneSearching &- SleepWord.oneSleeping)
        return worker
      }
      guard let worker else { break }
      worker.parker.unpark()
    }
    threads.stopMonitorAtEnd()
  }

  /// Returns when every thread has ended.
  func join() { threads.join(isOwnThread: currentWorker != nil) }
}
