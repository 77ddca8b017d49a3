import CPlatform
import OperationForks
import OperationJobs
import OperationTraceEvents
import Primitives
import Scheduling
import Synchronization

/// The pool itself, kept alive by its threads.
///
/// Everything is under `lock`, but for the jobs when each level has a lock of its own. A thread is *active* from when
/// it is started or woken until it goes to sleep. The waker counts the thread as active, so a burst of submits wakes
/// each sleeper once. At most `allowed` threads are active: the workers, one for each blocked thread (the thread
/// announced that it blocks, or the monitor marked it), and the monitor's bonus. A surplus thread sleeps as soon as it
/// has finished a job. `README.md` has the protocol, and why no job is left lying.
final class ThreadPool: ListPool, @unchecked Sendable {
  // Sendable: the fields are constants, atomics, or guarded by `lock`.

  let threads: PoolThreads
  private let strategy: ThreadPoolStrategy
  let lock: Locked<State>
  /// The queued jobs, when each level has a lock of its own; not used otherwise.
  let levels: LevelLists
  /// Jobs in all queues, for spinning threads.
  let queued = PaddedPointer(Atomic<Int>(0))

  init(workers: WorkerNumber, fairnessInterval: Int, threadLimit: Int, strategy: ThreadPoolStrategy) {
    self.strategy = strategy
    threads = PoolThreads(
      poolName: "thread", monitorName: "pool-monitor", workers: workers, limit: threadLimit)
    lock = Locked(
      State(
        PriorityFIFO(
          fairnessInterval: fairnessInterval, hasLevels: strategy.order == .priority,
          newestFirst: strategy.order == .lifo), workers: workers.now))
    levels = LevelLists(strategy, fairnessInterval: fairnessInterval)
    if levels.isUsed {
      lock.withLock {
        levels.places.pointer.pointee.store(workers.now, ordering: .relaxed)
        lock.state.shownPlaces = levels.places.pointer
      }
    }
  }

  /// Whether the calling thread is one of this pool's.
  var isCurrentWorker: Bool { WorkerLocal.current(of: self, as: PoolThread.self) != nil }

  var threadsCreated: Int { threads.createdCount }

  // MARK: - Submitting

  func submit(_ job: UInt) {
    var list = JobFIFO()
    list.append(job)
    submit(list)
  }

  func submit(_ jobs: consuming JobFIFO) {
    threads.checkNotForked()
    if levels.isUsed { return submitByLevel(jobs) }
    lock.lock()
    if lock.state.stopping, isRefused {
      lock.unlock()
      return refuse(jobs)
    }
    let count = jobs.count
    lock.state.jobs.append(contentsOf: jobs)
    queued.pointer.pointee.store(lock.state.jobs.count, ordering: .relaxed)
    unlockAndActivate(count)
  }

  /// With a lock for each level: the pool's lock is taken only when a place is free.
  @inline(never)
  private func submitByLevel(_ jobs: consuming JobFIFO) {
    if levels.isStopping.load(ordering: .relaxed), isRefused { return refuse(jobs) }
    let count = jobs.count
    levels.append(jobs)
    queued.pointer.pointee.wrappingAdd(count, ordering: .sequentiallyConsistent)
    // A thread that gives its place up shows the place first, and looks at `queued` afterwards.
    guard levels.places.pointer.pointee.load(ordering: .sequentiallyConsistent) > 0 else {
      armMonitor()
      return
    }
    lock.lock()
    unlockAndActivate(count)
  }

  /// After `shutdown()`: whether the calling thread may add no jobs, because it is none of the pool's, and nothing is
  /// going on any more.
  private var isRefused: Bool { !isCurrentWorker && threads.isOver }

  /// After `shutdown()`: traps, unless the jobs have nothing to do.
  private func refuse(_ jobs: consuming JobFIFO) {
    while case let job = jobs.popFirst(), job != 0 {
      if Job(word: job).dropIfVoid() { continue }
      threads.refuseAfterShutdown()
    }
  }

  private var allowed: Int { lock.state.allowed }

  /// Called under `lock`; gives `lock` up. Wakes or starts threads for `jobs` jobs, as many as are allowed. If more are
  /// wanted, the monitor looks whether the active threads block.
  /// - Parameter mayInsist: whether to wait a little for a thread that nobody else would try to start again.
  func unlockAndActivate(_ jobs: Int, mayInsist: Bool = true) {
    assert(lock.state.isPossible, "more threads were counted out of a part of the pool than were in")
    let places = allowed - lock.state.active
    let count = jobs > 0 ? strategy.waking.count(jobs: jobs, places: places) : 0
    let lacksPlaces = count > places
    if lacksPlaces, lock.state.guests > 0 { lock.state.lacksPlaceForJob = true }
    var wanted = min(count, places)
    guard wanted > 0 else {
      lock.unlock()
      if count > 0 { armMonitor() }
      return
    }
    var woken: [PoolThread] = []
    while wanted > 0, let thread = nextSleeper() {
      woken.append(thread)
      wanted -= 1
    }
    let starting = max(0, min(wanted, threads.limit - lock.state.live))
    lock.state.wakes += UInt64(woken.count)
    lock.state.active += woken.count + starting
    lock.state.live += starting
    lock.unlock()
    for thread in woken {
      if cplatform_is_tracing() { TraceProbe.wakes(thread.watched.threadID) }
      thread.parker.unpark()
    }
    var refused = 0
    for _ in 0..<starting where !startThread() { refused += 1 }
    if starting < wanted { threads.shortage.reachLimit(threads.limit) }
    // Whatever keeps a wanted thread from running, the monitor looks again.
    let isWatched = lacksPlaces || starting < wanted || refused > 0 ? armMonitor() : true
    guard refused > 0, !isWatched, mayInsist, threads.isEmpty else { return }
    ThreadShortage.insist { retryThreads(mayInsist: false) }
  }

  /// Called under `lock`. The sleeper to wake; nil when nobody sleeps.
  private func nextSleeper() -> PoolThread? {
    switch strategy.sleeper {
    case .lastAsleep: lock.state.sleeping.popLast()
    case .firstAsleep: lock.state.sleeping.isEmpty ? nil : lock.state.sleeping.removeFirst()
    }
  }

  /// Starts a thread. The caller has counted the thread as live and active.
  /// - Returns: false when the system has no thread; the thread is then not counted any more.
  private func startThread() -> Bool {
    let thread = PoolThread(self)
    return threads.start(
      name: "pool-worker",
      undo: {
        lock.withLock {
          lock.state.active -= 1
          lock.state.live -= 1
        }
      },
      retry: { [weak self] in self.map { !$0.retryThreads(mayInsist: false) } ?? false },
      {
        thread.run()
        self.threads.ended()
      })
  }

  /// Starts the threads that the queued jobs call for.
  /// - Returns: whether no thread was refused by the system.
  private func retryThreads(mayInsist: Bool) -> Bool {
    let count = queuedCount
    guard count > 0 else {
      threads.shortage.end()
      return true
    }
    lock.lock()
    unlockAndActivate(count, mayInsist: mayInsist)
    return !threads.shortage.isRefused
  }

  /// Nobody could take the place of a thread that blocks.
  var lacksThreads: Bool { threads.shortage.isFull || threads.shortage.isRefused }

  // MARK: - A thread's life

  func work(_ thread: PoolThread) {
    let isSpare = lock.withLock {
      lock.state.threads.append(thread)
      return lock.state.live > workerCount
    }
    if cplatform_is_tracing() { TraceProbe.threadBegins(isSpare: isSpare) }
    var patience = Patience(Patience.Times(strategy.search.times))
    while true {
      let job = nextJob(thread, &patience)
      if job != 0 {
        run(job, on: thread)
      } else if !sleep(thread) {
        if cplatform_is_tracing() { TraceProbe.threadEnds() }
        return
      }
    }
  }

  /// The most urgent job; 0 when there is none, or when too many threads are active. The thread spins a little before
  /// it gives up.
  private func nextJob(_ thread: PoolThread, _ patience: inout Patience) -> UInt {
    if case let job = look(thread), job != 0 { return job }
    let job = patience.search { look(thread) }
    if job != 0 { return job }
    OwedReferences.settle()
    return 0
  }

  private func look(_ thread: PoolThread) -> UInt {
    guard queued.pointer.pointee.load(ordering: .relaxed) > 0 else { return 0 }
    let job = levels.isUsed ? popByLevel(thread) : popUnderLock(thread)
    if job != 0, strategy.waking == .passedOn { passOn() }
    return job
  }

  @inline(__always)
  private func popUnderLock(_ thread: PoolThread) -> UInt {
    lock.withLock {
      takeMark(of: thread.watched)
      return lock.state.active > allowed ? 0 : pop()
    }
  }

  @inline(never)
  private func popByLevel(_ thread: PoolThread) -> UInt {
    if thread.watched.takeMark() { lock.withLock { lock.state.blocked -= 1 } }
    if levels.places.pointer.pointee.load(ordering: .relaxed) < 0 { return 0 }
    let job = levels.popFirst()
    if job != 0 { queued.pointer.pointee.wrappingSubtract(1, ordering: .relaxed) }
    return job
  }

  /// A thread has taken a job and others are left: one more thread is wanted, or the monitor looks.
  @inline(never)
  private func passOn() {
    guard queuedCount > 0 else { return }
    lock.lock()
    unlockAndActivate(queuedCount)
  }

  private func pop() -> UInt {
    let job = lock.state.jobs.popFirst()
    queued.pointer.pointee.store(lock.state.jobs.count, ordering: .relaxed)
    return job
  }

  private func run(_ job: UInt, on thread: PoolThread) {
    var next: Job? = Job(word: job)
    var successors = SuccessorRun(length: strategy.runLength)
    thread.watched.becomeBusy(true)
    while let job = next {
      thread.watched.beginJob()
      next = job.run()
      if thread.watched.takeMark() { lock.withLock { lock.state.blocked -= 1 } }
      guard let following = next else { break }
      guard strategy.successor == .runs else {
        queue(following)
        break
      }
      let isQueued = successors.isQueued(
        hasOthers: queued.pointer.pointee.load(ordering: .relaxed) > 0, isOutranked: givesWay(following))
      if isQueued {
        submit(following.word)
        break
      }
    }
    thread.watched.becomeBusy(false)
  }

  /// A job handed on by the previous job gives way to a more urgent job.
  @inline(__always)
  private func givesWay(_ job: Job) -> Bool {
    levels.isUsed ? levels.hasJob(above: job.level) : isOutranked(job)
  }

  /// Queues what the end of a job made ready, instead of running it at once.
  private func queue(_ job: Job) {
    guard strategy.successor == .queued else { return submit(job.word) }
    if levels.isUsed {
      levels.append(job.word)
      queued.pointer.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    } else {
      lock.lock()
      lock.state.jobs.append(job.word)
      queued.pointer.pointee.store(lock.state.jobs.count, ordering: .relaxed)
      lock.unlock()
    }
    // Nobody is woken here. The monitor looks at once, and wakes a thread if the job is still queued and a place is
    // free.
    armMonitor()
  }

  /// - Returns: false when the thread must end.
  private func sleep(_ thread: PoolThread) -> Bool {
    lock.lock()
    takeMark(of: thread.watched)
    let surplus = lock.state.active > allowed
    let isNeeded = queuedCount > 0
    if isNeeded, !surplus {
      lock.unlock()
      return true
    }
    lock.state.active -= 1
    if levels.isUsed, !surplus, queuedCount > 0 {
      // A job came while this thread gave its place up, from a thread that still saw all places taken.
      lock.state.active += 1
      lock.unlock()
      return true
    }
    if lock.state.stopping, surplus || !isNeeded {
      end(thread)
      return false
    }
    thread.counts.sleeps.count()
    if !isNeeded { thread.counts.failedSearches.count() }
    lock.state.sleeping.append(thread)
    let mayEnd = lock.state.live > workerCount
    lock.unlock()
    threads.shortage.leaveLimit()
    // The thread may have been woken for one of these jobs, and leaves the job: the threads that have the places may
    // block.
    if isNeeded { armMonitor() }
    // This thread has given its place up: what is shown now wakes it, or another one.
    Forks.ask(of: self)
    _ = Forks.uncover(for: self)
    if cplatform_is_tracing() { TraceProbe.parks() }
    while true {
      if thread.parker.park(timeoutNanoseconds: mayEnd ? PoolThreads.surplusLifetime : -1) {
        if cplatform_is_tracing() { TraceProbe.unparks() }
        return true
      }
      lock.lock()
      if let index = lock.state.sleeping.firstIndex(where: { $0 === thread }) {
        if lock.state.live > workerCount {
          lock.state.sleeping.remove(at: index)
          end(thread)
          return false
        }
      }
      lock.unlock()
    }
  }

  /// Called under `lock`; gives `lock` up.
  private func end(_ thread: PoolThread) {
    lock.state.live -= 1
    assert(lock.state.isPossible, "a thread ends that is not counted")
    lock.state.threads.removeAll { $0 === thread }
    lock.state.ended.add(thread.statistics)
    lock.unlock()
  }

  // MARK: - Blocking

  func whileBlocked(_ body: () -> Void) {
    whileBlocked(WorkerLocal.current(of: self, as: PoolThread.self)?.takeUnretainedValue(), body)
  }

  /// - Returns: false when no monitor will look.
  @discardableResult
  func armMonitor() -> Bool { threads.monitor.isArmed || startMonitor() }

  // MARK: - The end

  deinit {
    // The tickets of forks that nobody took can serve another pool.
    while case let job = levels.isUsed ? levels.popFirst() : lock.withLock({ lock.state.jobs.popFirst() }), job != 0 {
      _ = Job(word: job).dropIfVoid()
    }
    queued.deallocate()
  }

  func stop() {
    lock.lock()
    lock.state.stopping = true
    levels.isStopping.store(true, ordering: .relaxed)
    // The sleeping threads look at the queues once more, and end.
    let sleeping = lock.state.sleeping
    lock.state.sleeping = []
    lock.state.active += sleeping.count
    lock.unlock()
    for thread in sleeping { thread.parker.unpark() }
    threads.stopMonitorAtEnd()
  }

  func join() { threads.join(isOwnThread: isCurrentWorker) }
}
