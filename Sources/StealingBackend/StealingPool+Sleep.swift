import CPlatform
import OperationForks
import OperationJobs
import OperationTraceEvents
import Primitives
import Scheduling
import Synchronization

// Which workers sleep and which are woken. The protocol is in README.md here.

/// Workers without a thread that is awake. Touched under `sleepLock`.
struct Sleepers: ~Copyable {
  /// Sleeping workers; the latest sleeper is the last element.
  var stack: [Worker] = []
  /// Workers whose thread has ended.
  var retired: [Worker] = []
  var bonus = BlockingMonitor.Bonus()
}

extension SleepWord {
  /// For assertions: no field has been counted below 0. A pool has far fewer threads than half of what a field can
  /// count. A thread sleeps, blocks or works only while it lives.
  fileprivate var isPossible: Bool {
    let most = Int(UInt16.max / 2)
    return searching <= most && sleeping <= live && blocked <= most && live <= most
  }
}

extension StealingPool {
  enum WokenOrEnded { case woken, end }

  /// Adds to a field of the sleep word (or subtracts: two's complement).
  /// - Returns: the word after the change.
  @discardableResult
  func count(_ change: UInt64) -> SleepWord {
    let now = SleepWord(
      bits: sleepWord.pointer.pointee.wrappingAdd(change, ordering: .sequentiallyConsistent).newValue)
    assert(now.isPossible, "more threads were counted out of a part of the pool than were in")
    RunningThreads.change(from: SleepWord(bits: now.bits &- change).active, to: now.active)
    return now
  }

  func tryStartSearching() -> Bool {
    var old = sleepNow
    let adapted = adaptedSearchers.load(ordering: .relaxed)
    while old.maySearch(strategy.searchers, workerCount: workersWithCPU, adapted: adapted) {
      let result = sleepWord.pointer.pointee.compareExchange(
        expected: old.bits, desired: old.bits &+ SleepWord.oneSearching, ordering: .sequentiallyConsistent)
      if result.exchanged { return true }
      old = SleepWord(bits: result.original)
    }
    return false
  }

  /// A searching worker found a job. The last searching worker looks whether there is more work, and passes the
  /// search on.
  func stopSearching() {
    let now = count(0 &- SleepWord.oneSearching)
    var places = activeLimit - now.active
    if now.searching == 0 {
      guard hasVisibleWork else { return }
      react()
      places -= 1
    }
    if places >= StealingStrategy.Passing.fewPlaces, rules.passesOn {
      passSearchOn(searching: now.searching, places: places)
    }
  }

  /// Makes one more thread active, unless enough threads are searching by now: the latest sleeper, or a new thread.
  /// - Parameters:
  ///   - wanted: how many searching threads are enough.
  ///   - mayInsist: whether to wait a little for a thread that nobody else would try to start again.
  func activate(wanted: Int = 1, mayInsist: Bool = true) {
    sleepLock.lock()
    let now = sleepNow
    switch now.reaction(limit: activeLimit, wanted: wanted) {
    case .activate: break
    case .nothing: return sleepLock.unlock()
    case .busy:
      // After the caller looked, a blocked thread has come back and taken the place. That thread may block again,
      // unnoticed.
      sleepLock.unlock()
      lacksPlace()
      return
    }
    if let worker = nextSleeper() {
      // The search is counted here, not by the sleeper, so that the next submits see that a thread searches.
      count(SleepWord.oneSearching &- SleepWord.oneSleeping)
      sleepLock.unlock()
      wakes.wrappingAdd(1, ordering: .relaxed)
      if cplatform_is_tracing() { TraceProbe.wakes(worker.watched.threadID) }
      worker.parker.unpark()
      return
    }
    guard let worker = newWorker() else {
      sleepLock.unlock()
      threads.shortage.reachLimit(threads.limit)
      armMonitor()
      return
    }
    count(SleepWord.oneSearching &+ SleepWord.oneLive)
    sleepLock.unlock()
    if startThread(worker) { return }
    // Submits that came meanwhile saw a searching thread: the monitor looks for their jobs as well.
    guard !armMonitor(), mayInsist, threads.isEmpty else { return }
    ThreadShortage.insist { retryThreads(mayInsist: false) }
  }

  /// Called under `sleepLock`. The sleeper to wake; nil when nobody sleeps.
  private func nextSleeper() -> Worker? {
    switch strategy.sleeper {
    case .lastAsleep: sleepLock.state.stack.popLast()
    case .firstAsleep: sleepLock.state.stack.isEmpty ? nil : sleepLock.state.stack.removeFirst()
    }
  }

  /// Called under `sleepLock`. A worker whose thread has ended, or a new worker; nil at the limit of threads.
  private func newWorker() -> Worker? {
    assert(sleepLock.isHeld)
    if let worker = sleepLock.state.retired.popLast() { return worker }
    let index = madeCount.load(ordering: .relaxed)
    guard index < threads.limit else { return nil }
    let worker = Worker(index: index, fairnessInterval: fairnessInterval, strategy: strategy)
    (workers + index).initialize(to: Unmanaged.passRetained(worker))
    madeCount.store(index + 1, ordering: .releasing)
    return worker
  }

  /// Starts a thread for a worker. The caller has counted the thread as live and searching.
  /// - Returns: false when the system has no thread; the thread is then not counted any more.
  private func startThread(_ worker: Worker) -> Bool {
    threads.start(
      name: "steal-\(worker.index)",
      undo: {
        sleepLock.withLock {
          count(0 &- SleepWord.oneSearching &- SleepWord.oneLive)
          sleepLock.state.retired.append(worker)
        }
      },
      retry: { [weak self] in self.map { !$0.retryThreads(mayInsist: false) } ?? false },
      {
        WorkerLocal.become(worker, of: self) { OwedReferences.allowed { self.work(worker) } }
        self.threads.ended()
      })
  }

  /// Starts a thread if the queued jobs call for one.
  /// - Returns: whether no thread was refused by the system.
  private func retryThreads(mayInsist: Bool) -> Bool {
    guard hasVisibleWork else {
      threads.shortage.end()
      return true
    }
    activate(mayInsist: mayInsist)
    return !threads.shortage.isRefused
  }

  /// A worker found nothing and goes to sleep. The last searching worker looks once more before it parks.
  func sleep(_ worker: Worker, searching: Bool) -> WokenOrEnded {
    sleepLock.lock()
    // A thread without a job is not blocked.
    if worker.watched.takeMark() { count(0 &- SleepWord.oneBlocked) }
    let change = SleepWord.oneSleeping &- (searching ? SleepWord.oneSearching : 0)
    let now = count(change)
    if stopping.load(ordering: .relaxed), !hasVisibleWork {
      return retire(worker)
    }
    sleepLock.state.stack.append(worker)
    let surplus = now.hasSurplus(workerCount: workerCount)
    sleepLock.unlock()
    threads.shortage.leaveLimit()
    if now.searching == 0, hasVisibleWork {
      switch now.reaction(limit: activeLimit) {
      case .nothing: break
      case .activate: if wakeSelf(worker) { return .woken }
      case .busy: armMonitor()
      }
    }
    // A guest or a worker may have made a fork while this thread still had its place, and shown it to nobody.
    if !stopping.load(ordering: .relaxed) {
      Forks.ask(of: self)
      if Forks.areKept(for: self), wakeSelf(worker) { return .woken }
    }
    return park(worker, isSurplus: surplus)
  }

  /// Sleeps until another thread wakes the worker. A surplus thread ends after a while, unless it has jobs.
  private func park(_ worker: Worker, isSurplus: Bool) -> WokenOrEnded {
    worker.counts.sleeps.count()
    if cplatform_is_tracing() { TraceProbe.parks() }
    while !worker.parker.park(timeoutNanoseconds: isSurplus ? PoolThreads.surplusLifetime : -1) {
      sleepLock.lock()
      let isWanted = sleepNow.hasSurplus(workerCount: workerCount) || stopping.load(ordering: .relaxed)
      if isWanted, worker.queuedCount == 0, removeFromStack(worker) { return retire(worker) }
      sleepLock.unlock()
    }
    if cplatform_is_tracing() { TraceProbe.unparks() }
    return .woken
  }

  /// A worker for which there is no CPU any more goes to sleep between two jobs. Others steal what it has queued.
  /// - Returns: nil when the worker has a place after all. It has not slept then.
  func stepBack(_ worker: Worker, searching: Bool) -> WokenOrEnded? {
    sleepLock.lock()
    if worker.watched.takeMark() { count(0 &- SleepWord.oneBlocked) }
    // Under the lock: of two workers one steps back when one place is missing.
    guard sleepNow.active > activeLimit, !stopping.load(ordering: .relaxed) else {
      sleepLock.unlock()
      return nil
    }
    let now = count(SleepWord.oneSleeping &- (searching ? SleepWord.oneSearching : 0))
    sleepLock.state.stack.append(worker)
    let surplus = now.hasSurplus(workerCount: workerCount)
    sleepLock.unlock()
    // A submit that saw this thread search relies on it, and the other threads may have blocked meanwhile.
    if now.searching == 0, hasVisibleWork { react() }
    return park(worker, isSurplus: surplus)
  }

  /// - Returns: false when another thread woke the worker meanwhile. The worker must then take that thread's token.
  private func wakeSelf(_ worker: Worker) -> Bool {
    sleepLock.withLock {
      guard removeFromStack(worker) else { return false }
      count(SleepWord.oneSearching &- SleepWord.oneSleeping)
      return true
    }
  }

  /// Called under `sleepLock`.
  private func removeFromStack(_ worker: Worker) -> Bool {
    guard let index = sleepLock.state.stack.lastIndex(where: { $0 === worker }) else { return false }
    sleepLock.state.stack.remove(at: index)
    return true
  }

  /// Called under `sleepLock`; gives `sleepLock` up. Ends a sleeping worker's thread. The worker's deques are empty.
  /// When the pool is stopping, the next sleeper is woken: that sleeper may have gone to sleep after `stop` had woken
  /// all.
  private func retire(_ worker: Worker) -> WokenOrEnded {
    assert(worker.queuedCount == 0, "a worker ends that has jobs")
    count(0 &- SleepWord.oneSleeping &- SleepWord.oneLive)
    sleepLock.state.retired.append(worker)
    let next = stopping.load(ordering: .relaxed) ? sleepLock.state.stack.popLast() : nil
    if next != nil { count(SleepWord.oneSearching &- SleepWord.oneSleeping) }
    sleepLock.unlock()
    next?.parker.unpark()
    return .end
  }
}
