import CPlatform
import OperationJobs
import Primitives
import Scheduling
import Synchronization

// Bodies that block. If a body announces that it blocks, another thread takes its place at once. The monitor notices
// the other bodies that block.

extension StealingPool {
  func whileBlocked(_ body: () -> Void) {
    guard let worker = currentWorker?.takeUnretainedValue(), worker.watched.announce() else { return body() }
    if worker.watched.takeMark() { count(0 &- SleepWord.oneBlocked) }
    let now = count(SleepWord.oneBlocked)
    replacements.wrappingAdd(1, ordering: .relaxed)
    // The jobs in this worker's deques must not wait until this worker wakes. Later submits see a free place by
    // themselves.
    if now.searching == 0, hasVisibleWork { activate() }
    body()
    count(0 &- SleepWord.oneBlocked)
    worker.watched.retract()
  }

  /// - Returns: false when no monitor will look.
  @discardableResult
  func armMonitor() -> Bool { threads.monitor.isArmed || startMonitor() }

  var report: BackendReport {
    var queued = 0
    for list in 0..<rules.placeCount * Job.levels where !injectors[list].pointer.pointee.isEmpty {
      queued += max(1, injectors[list].pointer.pointee.approximateCount)
    }
    queued += multiQueue.jobCount
    let members = members
    for worker in members { queued += worker.queuedCount }
    return BackendReport(
      queued: queued, threads: members.filter { $0.watched.threadID != 0 }.map { $0.watched.report },
      shortage: threads.shortage)
  }
}

extension StealingPool {
  /// Nobody could take the place of a thread that blocks.
  var lacksThreads: Bool { threads.shortage.isFull || threads.shortage.isRefused }

  var statistics: PoolStatistics {
    PoolStatistics(
      workers: members.map(\.statistics), wakes: wakes.load(ordering: .relaxed),
      threadsStarted: threads.startedCount, replacements: replacements.load(ordering: .relaxed))
  }
}

// What `MonitoredPool` asks.
extension StealingPool: MonitoredPool {
  var workerNumber: WorkerNumber { threads.workers }
  var monitor: BlockingMonitor { threads.monitor }
  func lockPool() { sleepLock.lock() }
  func unlockPool() { sleepLock.unlock() }

  var members: [Worker] {
    (0..<workersMade).map { workers[$0].takeUnretainedValue() }
  }
  var occupancy: (active: Int, blocked: Int) {
    let now = sleepNow
    return (now.active, now.blocked)
  }
  func countBlocked(_ change: Int) {
    if change > 0 { replacements.wrappingAdd(UInt64(change), ordering: .relaxed) }
    count(UInt64(bitPattern: Int64(change)) &* SleepWord.oneBlocked)
  }
  var bonus: BlockingMonitor.Bonus {
    get { sleepLock.state.bonus }
    set {
      sleepLock.state.bonus = newValue
      placeCount.store(workerCount + newValue.places, ordering: .relaxed)
    }
  }
  func showPlaces() { withheld.store(workerNumber.withheld, ordering: .relaxed) }
  var hasQueuedJobs: Bool { hasVisibleWork }

  /// Each thread that finds work passes the search on, so that as many threads start as there is work for.
  func unlockAfterLook(hasQueuedJobs: Bool) -> Bool {
    sleepLock.unlock()
    if hasQueuedJobs, sleepNow.reaction(limit: activeLimit) == .activate {
      activate(mayInsist: false)
    }
    return false
  }
}
