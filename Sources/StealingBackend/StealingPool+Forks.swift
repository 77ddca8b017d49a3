import OperationJobs
import Primitives
import Scheduling
import Synchronization

extension StealingPool: ForkHost {
  func beginForks() -> Bool {
    threads.checkNotForked()
    if currentWorker != nil { return false }
    if stopping.load(ordering: .relaxed) {
      fatalError("Operations: join was called on a work-stealing pool after shutdown()")
    }
    countGuest(1)
    return true
  }

  /// A guest takes the place of a worker, so that no more threads run than the pool has workers. One place is always
  /// left: a guest may wait for an operation of the pool in a way that the pool does not know.
  func countGuest(_ change: Int) {
    let after = guests.wrappingAdd(change, ordering: .relaxed).newValue
    guard max(after, after - change) < workerCount else { return }
    count(change > 0 ? SleepWord.oneLive : 0 &- SleepWord.oneLive)
    // The place is free for jobs that came meanwhile. Most guests leave nothing but tickets without forks.
    if change < 0, lacksPlaceForJob.load(ordering: .relaxed) {
      lacksPlaceForJob.store(false, ordering: .relaxed)
      if hasVisibleWork { react() }
    }
  }

  /// The places that are free, and the threads that search.
  var idlePlaces: Int {
    let now = sleepNow
    return max(0, activeLimit - now.active) + now.searching
  }

  func show(_ ticket: Job, wakes: Bool) -> Bool {
    threads.checkNotForked()
    if currentWorker == nil, stopping.load(ordering: .relaxed) { return false }
    show(ticket)
    switch wakes ? reaction(wanted: 1) : .busy {
    case .activate: activate()
    // The bodies that hold the places may block.
    case .busy: armMonitor()
    case .nothing: break
    }
    return true
  }

  func wakeForForks() {
    // A pool that ends runs what is left without further threads.
    if !stopping.load(ordering: .relaxed) { react() }
  }

  /// The pool has no thread any more: tickets without forks may be left, and can serve another pool.
  func dropTickets() {
    for list in 0..<rules.placeCount * Job.levels {
      var left = JobFIFO()
      _ = injectors[list].pointer.pointee.take(limit: .max, consumerCount: 1, into: &left)
      while case let job = left.popFirst(), job != 0 { _ = Job(word: job).dropIfVoid() }
    }
    multiQueue.dropTickets()
  }
}
