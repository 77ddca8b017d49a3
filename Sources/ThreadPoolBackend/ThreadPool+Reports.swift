import OperationJobs
import Primitives
import Scheduling

// What the pool tells of itself: to users, to diagnoses, and to the monitor.

extension ThreadPool {
  var report: BackendReport {
    lock.withLock {
      BackendReport(
        queued: queuedCount, threads: lock.state.threads.map { $0.watched.report }, shortage: threads.shortage)
    }
  }

  var statistics: PoolStatistics {
    lock.withLock {
      let ended = lock.state.ended
      return PoolStatistics(
        workers: lock.state.threads.map(\.statistics) + (ended == .init() ? [] : [ended]), wakes: lock.state.wakes,
        threadsStarted: threads.startedCount, replacements: lock.state.replacements)
    }
  }
}

// What `MonitoredPool` and `ListPool` ask.
extension ThreadPool {
  var workerNumber: WorkerNumber { threads.workers }
  var monitor: BlockingMonitor { threads.monitor }
  func lockPool() { lock.lock() }
  func unlockPool() { lock.unlock() }

  var members: [PoolThread] { lock.state.threads }
  var occupancy: (active: Int, blocked: Int) {
    (lock.state.active - lock.state.blocked, lock.state.blocked)
  }
  func countBlocked(_ change: Int) {
    if change > 0 { lock.state.replacements += UInt64(change) }
    lock.state.blocked += change
  }
  var bonus: BlockingMonitor.Bonus {
    get { lock.state.bonus }
    set { lock.state.bonus = newValue }
  }
  func showPlaces() { lock.state.workers = workerNumber.withCPU }
  var hasQueuedJobs: Bool { queuedCount > 0 }
  /// With a lock for each level, a job may be taken before it is counted.
  var queuedCount: Int { max(0, queued.pointer.pointee.load(ordering: .sequentiallyConsistent)) }
  func hasJob(above level: Int) -> Bool {
    levels.isUsed ? levels.hasJob(above: level) : lock.state.jobs.hasJob(above: level)
  }
  func unlockAndUsePlaces() { unlockAndActivate(queuedCount) }

  func unlockAfterLook(hasQueuedJobs: Bool) -> Bool {
    if hasQueuedJobs { unlockAndActivate(queuedCount, mayInsist: false) } else { lock.unlock() }
    return false
  }
}
