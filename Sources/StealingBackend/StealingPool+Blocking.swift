import CPlatform
import OperationCore
import Primitives
import Synchronization

// Bodies that block. If a body announces that it blocks, another thread takes its place at once. The monitor notices
// the other bodies that block.

extension StealingPool {
  func whileBlocked(_ body: () -> Void) {
    guard let worker = currentWorker?.takeUnretainedValue(), worker.watched.announce() else { return body() }
    if worker.watched.takeMark() { count(0 &- SleepWord.oneBlocked) }
    let now = count(SleepWord.oneBlocked)
    // The jobs in this worker's deques must not wait until this worker wakes. Later submits see a free place by
    // themselves.
    if now.searching == 0, hasVisibleWork { activate() }
    body()
    count(0 &- SleepWord.oneBlocked)
    worker.watched.retract()
  }

  /// - Returns: false when nobody will look.
  @discardableResult
  func armMonitor() -> Bool {
    threads.monitor.isArmed || threads.monitor.arm { [weak self] recheck in self?.look(recheck: recheck) }
  }

  /// The monitor's look: gives away the places of threads that block without saying so.
  private func look(recheck: Bool) -> BlockingMonitor.Look {
    let isAllBlocked = sleepLock.withLock { sleepers.pointee.bonus.isAllBlocked }
    var survey = BlockingMonitor.Survey(atFirstSight: isAllBlocked, recheck: recheck)
    let made = workersMade.load(ordering: .acquiring)
    for index in 0..<made {
      workers[index]._withUnsafeGuaranteedRef { survey.observe($0.watched) }
    }
    let isNeeded = hasVisibleWork
    sleepLock.lock()
    var marks = 0
    for index in 0..<made {
      workers[index]._withUnsafeGuaranteedRef { worker in
        switch survey.confirm(worker.watched) {
        case .uncounted, .computing, .asleep: break
        case .blocked:
          count(SleepWord.oneBlocked)
          worker.watched.mark()
          marks += 1
        case .resumed:
          count(0 &- SleepWord.oneBlocked)
          marks -= 1
        }
      }
    }
    let before = sleepers.pointee.bonus.places
    let counted = sleepNow
    sleepers.pointee.bonus.look(
      active: counted.active, blocked: counted.blocked, isNeeded: isNeeded, workerCount: workerCount,
      asleep: survey.asleep)
    let bonus = sleepers.pointee.bonus.places
    activeLimit.store(workerCount + bonus, ordering: .relaxed)
    sleepLock.unlock()
    let added = marks + bonus - before
    if added > 0, cplatform_is_tracing() { TraceProbe.addsSpares(added) }
    // Each thread that finds work passes the search on, so that as many threads start as there is work for.
    if isNeeded, sleepNow.reaction(limit: activeLimit.load(ordering: .relaxed)) == .activate {
      activate(mayInsist: false)
    }
    return BlockingMonitor.Look(isNeeded: isNeeded, hasChanged: added != 0)
  }

  var report: BackendReport {
    var report = BackendReport()
    for level in 0..<Job.levels where !injectors[level].pointer.pointee.isEmpty {
      report.queued += max(1, injectors[level].pointer.pointee.approximateCount)
    }
    for index in 0..<workersMade.load(ordering: .acquiring) {
      workers[index]._withUnsafeGuaranteedRef { worker in
        report.queued += worker.queuedCount
        if worker.watched.threadID != 0 { report.threads.append(worker.watched.report) }
      }
    }
    report.isRefused = threads.shortage.isRefused
    report.isFull = threads.shortage.isFull
    return report
  }
}
