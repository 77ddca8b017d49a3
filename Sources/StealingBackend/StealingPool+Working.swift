import CPlatform
import OperationForks
import OperationJobs
import OperationTraceEvents
import Primitives
import Scheduling
import Synchronization

// A worker's life: find, run, sleep.

extension StealingPool {
  /// The body of a thread. The thread that started it has counted it as live and searching.
  func work(_ worker: Worker) {
    worker.watched.begin()
    if cplatform_is_tracing() { TraceProbe.threadBegins(isSpare: sleepNow.live > workerCount) }
    var searching = true
    var patience = Patience(Patience.Times(strategy.search.times))
    while true {
      if withheld.load(ordering: .relaxed) > 0, sleepNow.active > activeLimit {
        if OwedReferences.isOwing { settle(&searching) }
        switch stepBack(worker, searching: searching) {
        case .woken: searching = true
        case .end: return threadEnds()
        case nil: break
        }
      }
      var job = nextJob(worker)
      if job == 0 {
        if !searching { searching = tryStartSearching() }
        if searching { job = search(worker, &patience) }
      }
      if job != 0 {
        if searching {
          stopSearching()
          searching = false
          if strategy.searchers == .adaptive { adapt(found: true) }
        }
        run(job, on: worker)
        continue
      }
      if searching {
        failed(worker)
        if Forks.uncover(for: self) { continue }
      }
      if OwedReferences.isOwing {
        settle(&searching)
        // The end of a queue has added operations here.
        if worker.withMemory({ $0.ownLevels }) != 0 { continue }
      }
      switch sleep(worker, searching: searching) {
      case .woken: searching = true
      case .end: return threadEnds()
      }
    }
  }

  private func threadEnds() {
    if cplatform_is_tracing() { TraceProbe.threadEnds() }
  }

  /// A search has found nothing.
  @inline(never)
  private func failed(_ worker: Worker) {
    worker.counts.failedSearches.count()
    if strategy.searchers == .adaptive { adapt(found: false) }
  }

  /// Gives back what the thread owes. The end of a queue may run code of users, which may block: nobody may rely on
  /// this thread's search meanwhile, so the search ends first.
  @inline(never)
  private func settle(_ searching: inout Bool) {
    if searching {
      stopSearching()
      searching = false
    }
    OwedReferences.settle()
  }

  private func run(_ job: UInt, on worker: Worker) {
    worker.watched.becomeBusy(true)
    var next: Job? = Job(word: job)
    var successors = SuccessorRun(length: rules.strategy.runLength)
    while let job = next {
      worker.watched.beginJob()
      next = job.run()
      if worker.watched.takeMark() { count(0 &- SleepWord.oneBlocked) }
      guard let following = next else { break }
      guard rules.runsSuccessors else {
        queue(following)
        break
      }
      let isQueued = successors.isQueued(
        hasOthers: hasVisibleWork, isOutranked: Levels.highest(hintedLevels) > level(of: following))
      if isQueued {
        submit(following)
        break
      }
    }
    worker.watched.becomeBusy(false)
  }
}
