import CPlatform
import OperationCore
import Primitives
import Synchronization

// Bodies that block: one thread takes the place of one that says so at once, others are noticed by the monitor.

extension StealingPool {
  func whileBlocked(_ body: () -> Void) {
    guard currentWorker != nil else { return body() }
    let now = count(SleepWord.oneBlocked)
    // What waits in this worker's deques must not wait for its wake-up. Later submits see a free place by themselves.
    if now.searching == 0, hasVisibleWork { activate() }
    body()
    count(0 &- SleepWord.oneBlocked)
  }

  func armMonitor() {
    monitor.arm(
      sample: { [weak self] in self?.sample() },
      addSpares: { [weak self] in self?.addSpares($0) })
  }

  private func sample() -> BlockingMonitor.Sample {
    var sample = BlockingMonitor.Sample(
      queued: 0, progress: created.load(ordering: .relaxed), busy: 0, blocked: 0,
      live: sleepNow.live - sleepNow.sleeping)
    for level in 0..<Job.levels where !injectors[level].pointer.pointee.isEmpty {
      sample.queued += max(1, injectors[level].pointer.pointee.approximateCount)
    }
    for index in 0..<workersMade.load(ordering: .acquiring) {
      workers[index]._withUnsafeGuaranteedRef {
        $0.add(to: &sample)
        sample.queued += $0.queuedCount
      }
    }
    return sample
  }

  /// - Parameter count: 0: the ones added are surplus again, and sleep when they find nothing.
  private func addSpares(_ count: Int) {
    if count == 0 {
      activeLimit.store(workerCount, ordering: .relaxed)
      return
    }
    if cplatform_is_tracing() { TraceProbe.addsSpares(count) }
    activeLimit.wrappingAdd(count, ordering: .relaxed)
    // Each one that finds work passes the search on, so that as many start as there is work for.
    activate()
  }
}
