import CPlatform
import OperationCore
import Primitives
import Synchronization

/// The pool itself, kept alive by its threads.
///
/// Everything is under `lock`. A thread is *active* from when it is started or woken until it goes to sleep. The
/// waker counts the thread as active, so a burst of submits wakes each sleeper once. At most `allowed` threads are
/// active: the workers, one for each blocked thread (the thread announced that it blocks, or the monitor marked it),
/// and the monitor's bonus. A surplus thread sleeps as soon as it has finished a job. `README.md` has the protocol,
/// and why no job is left lying.
final class ThreadPool: ListPool, @unchecked Sendable {
  // Sendable: the fields are constants, atomics, or guarded by `lock`.

  struct State: ~Copyable {
    var jobs: PriorityFIFO
    var active = 0
    var live = 0
    /// Threads inside `whileBlocked`, and those that the monitor marked.
    var blocked = 0
    var bonus = BlockingMonitor.Bonus()
    /// Sleeping threads; the latest sleeper is the last element.
    var sleeping: [PoolThread] = []
    var threads: [PoolThread] = []
    var stopping = false

    /// For assertions.
    var isPossible: Bool { active >= 0 && blocked >= 0 && live >= active && live >= sleeping.count }
  }

  private let threads: PoolThreads
  private let lock: Locked<State>
  /// Jobs in all queues, for spinning threads.
  private let queued = Atomic<Int>(0)

  init(workerCount: Int, fairnessInterval: Int, threadLimit: Int) {
    threads = PoolThreads(
      poolName: "thread", monitorName: "pool-monitor", workerCount: workerCount, limit: threadLimit)
    lock = Locked(State(jobs: PriorityFIFO(fairnessInterval: fairnessInterval)))
  }

  /// Whether the calling thread is one of this pool's.
  private var isCurrentWorker: Bool { WorkerLocal.current(of: self, as: PoolThread.self) != nil }

  var workerCount: Int { threads.workerCount }
  var threadsCreated: Int { threads.createdCount }

  // MARK: - Submitting

  func submit(_ job: UInt) {
    var one = JobFIFO()
    one.append(job)
    submit(one)
  }

  func submit(_ jobs: consuming JobFIFO) {
    threads.checkNotForked()
    lock.lock()
    if lock.state.stopping, !isCurrentWorker {
      lock.unlock()
      return refuse(jobs)
    }
    let count = jobs.count
    lock.state.jobs.append(contentsOf: jobs)
    queued.store(lock.state.jobs.count, ordering: .relaxed)
    unlockAndActivate(count)
  }

  /// After `shutdown()`: traps, unless the jobs have nothing to do.
  private func refuse(_ jobs: consuming JobFIFO) {
    while case let job = jobs.popFirst(), job != 0 {
      if Job(word: job).dropIfVoid() { continue }
      fatalError("Operations: a job was submitted to a thread pool after shutdown()")
    }
  }

  private var allowed: Int { workerCount + lock.state.blocked + lock.state.bonus.places }

  /// Called under `lock`; gives `lock` up. Wakes or starts up to `count` threads, as many as are allowed. If more are
  /// wanted, the monitor looks whether the active threads block.
  /// - Parameter mayInsist: whether to wait a little for a thread that nobody else would try to start again.
  private func unlockAndActivate(_ count: Int, mayInsist: Bool = true) {
    assert(lock.state.isPossible, "more threads were counted out of a part of the pool than were in")
    let places = allowed - lock.state.active
    let lacksPlaces = count > places
    var wanted = min(count, places)
    guard wanted > 0 else {
      lock.unlock()
      if count > 0 { armMonitor() }
      return
    }
    var woken: [PoolThread] = []
    while wanted > 0, let thread = lock.state.sleeping.popLast() {
      woken.append(thread)
      wanted -= 1
    }
    let starting = max(0, min(wanted, threads.limit - lock.state.live))
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
    let count = queued.load(ordering: .relaxed)
    guard count > 0 else {
      threads.shortage.end()
      return true
    }
    lock.lock()
    unlockAndActivate(count, mayInsist: mayInsist)
    return !threads.shortage.isRefused
  }

  var isFull: Bool { threads.shortage.isFull }

  // MARK: - A thread's life

  func work(_ thread: PoolThread) {
    let isSpare = lock.withLock {
      lock.state.threads.append(thread)
      return lock.state.live > workerCount
    }
    if cplatform_is_tracing() { TraceProbe.threadBegins(isSpare: isSpare) }
    var patience = Patience()
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
    if job == 0 { OwedReferences.settle() }
    return job
  }

  private func look(_ thread: PoolThread) -> UInt {
    guard queued.load(ordering: .relaxed) > 0 else { return 0 }
    return lock.withLock {
      takeMark(of: thread.watched)
      return lock.state.active > allowed ? 0 : pop()
    }
  }

  private func pop() -> UInt {
    let job = lock.state.jobs.popFirst()
    queued.store(lock.state.jobs.count, ordering: .relaxed)
    return job
  }

  private func run(_ job: UInt, on thread: PoolThread) {
    var next: Job? = Job(word: job)
    var left = PoolThreads.runLength
    thread.watched.becomeBusy(true)
    while let job = next {
      thread.watched.beginJob()
      next = job.run()
      if thread.watched.takeMark() { lock.withLock { lock.state.blocked -= 1 } }
      left -= 1
      // After a run of jobs other queued jobs have a turn, if there are any.
      if left == 0, queued.load(ordering: .relaxed) == 0 { left = PoolThreads.runLength }
      if let following = next, left == 0 || isOutranked(following) {
        submit(following.word)
        break
      }
    }
    thread.watched.becomeBusy(false)
  }

  /// - Returns: false when the thread must end.
  private func sleep(_ thread: PoolThread) -> Bool {
    lock.lock()
    takeMark(of: thread.watched)
    let surplus = lock.state.active > allowed
    let isNeeded = queued.load(ordering: .relaxed) > 0
    if isNeeded, !surplus {
      lock.unlock()
      return true
    }
    lock.state.active -= 1
    if lock.state.stopping, surplus || !isNeeded {
      end(thread)
      return false
    }
    lock.state.sleeping.append(thread)
    let mayEnd = lock.state.live > workerCount
    lock.unlock()
    threads.shortage.leaveLimit()
    // The thread may have been woken for one of these jobs, and leaves the job: the threads that have the places may
    // block.
    if isNeeded { armMonitor() }
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
    lock.unlock()
  }

  // MARK: - Blocking

  func whileBlocked(_ body: () -> Void) {
    whileBlocked(WorkerLocal.current(of: self, as: PoolThread.self)?.takeUnretainedValue(), body)
  }

  /// - Returns: false when no monitor will look.
  @discardableResult
  private func armMonitor() -> Bool { threads.monitor.isArmed || startMonitor() }

  var report: BackendReport {
    lock.withLock {
      BackendReport(
        queued: queuedCount, threads: lock.state.threads.map { $0.watched.report }, shortage: threads.shortage)
    }
  }

  // MARK: - The end

  func stop() {
    lock.lock()
    lock.state.stopping = true
    // The sleeping threads look at the queues once more, and end.
    let sleeping = lock.state.sleeping
    lock.state.sleeping = []
    lock.state.active += sleeping.count
    lock.unlock()
    for thread in sleeping { thread.parker.unpark() }
    threads.monitor.stop()
  }

  func join() { threads.join(isOwnThread: isCurrentWorker) }
}

// What `MonitoredPool` and `ListPool` ask.
extension ThreadPool {
  var monitor: BlockingMonitor { threads.monitor }
  func lockPool() { lock.lock() }
  func unlockPool() { lock.unlock() }

  var members: [PoolThread] { lock.state.threads }
  var occupancy: (active: Int, blocked: Int) {
    (lock.state.active - lock.state.blocked, lock.state.blocked)
  }
  func countBlocked(_ change: Int) { lock.state.blocked += change }
  var bonus: BlockingMonitor.Bonus {
    get { lock.state.bonus }
    set { lock.state.bonus = newValue }
  }
  var hasQueuedJobs: Bool { queuedCount > 0 }
  var queuedCount: Int { queued.load(ordering: .relaxed) }
  func hasJob(above level: Int) -> Bool { lock.state.jobs.hasJob(above: level) }
  func unlockAndUsePlaces() { unlockAndActivate(queuedCount) }

  func unlockAfterLook(hasQueuedJobs: Bool) -> Bool {
    if hasQueuedJobs { unlockAndActivate(queuedCount, mayInsist: false) } else { lock.unlock() }
    return false
  }
}
