import OperationJobs
import Primitives
import Scheduling
import Synchronization

extension ThreadPool: ForkHost {
  func beginForks() -> Bool {
    threads.checkNotForked()
    if isCurrentWorker { return false }
    lock.lock()
    defer { lock.unlock() }
    if lock.state.stopping { fatalError("Operations: join was called on a thread pool after shutdown()") }
    lock.state.guests += 1
    return true
  }

  func countGuest(_ change: Int) {
    lock.lock()
    lock.state.guests += change
    // The place is free for jobs that came meanwhile. Most guests leave nothing but tickets without forks.
    guard change < 0, lock.state.lacksPlaceForJob else { return lock.unlock() }
    lock.state.lacksPlaceForJob = false
    unlockAndActivate(queuedCount)
  }

  /// The places that are free.
  var idlePlaces: Int { lock.withLock { max(0, lock.state.allowed - lock.state.active) } }

  func show(_ ticket: Job, wakes: Bool) -> Bool {
    threads.checkNotForked()
    lock.lock()
    if lock.state.stopping, !isCurrentWorker {
      lock.unlock()
      return false
    }
    if levels.isUsed {
      lock.unlock()
      levels.append(ticket.word)
      queued.pointer.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
      if wakes { wakeForForks() } else { armMonitor() }
      return true
    }
    lock.state.jobs.append(ticket.word)
    queued.pointer.pointee.store(lock.state.jobs.count, ordering: .relaxed)
    if wakes, lock.state.allowed > lock.state.active {
      unlockAndActivate(1)
    } else {
      lock.unlock()
      // The bodies that hold the places may block.
      armMonitor()
    }
    return true
  }

  func wakeForForks() {
    lock.lock()
    unlockAndActivate(queuedCount)
  }
}
