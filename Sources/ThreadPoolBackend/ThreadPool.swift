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
final class ThreadPool: @unchecked Sendable {
  // Sendable: `state` is touched under `lock`.

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
  }

  private let threads: PoolThreads
  private let lock = FutexLock()
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
  /// Jobs in all queues, for spinning threads.
  private let queued = Atomic<Int>(0)

  init(workerCount: Int, fairnessInterval: Int, threadLimit: Int) {
    threads = PoolThreads(
      poolName: "thread", monitorName: "pool-monitor", workerCount: workerCount, limit: threadLimit)
    state.initialize(to: State(jobs: PriorityFIFO(fairnessInterval: fairnessInterval)))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Whether the calling thread is one of this pool's.
  private var isCurrentWorker: Bool { WorkerLocal.current(of: self, as: PoolThread.self) != nil }

  private var workerCount: Int { threads.workerCount }
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
    if state.pointee.stopping, !isCurrentWorker {
      lock.unlock()
      return refuse(jobs)
    }
    let count = jobs.count
    state.pointee.jobs.append(contentsOf: jobs)
    queued.store(state.pointee.jobs.count, ordering: .relaxed)
    unlockAndActivate(count)
  }

  /// After `shutdown()`: traps, unless the jobs have nothing to do.
  private func refuse(_ jobs: consuming JobFIFO) {
    while case let job = jobs.popFirst(), job != 0 {
      if Job(word: job).dropIfVoid() { continue }
      fatalError("Operations: a job was submitted to a thread pool after shutdown()")
    }
  }

  private var allowed: Int { workerCount + state.pointee.blocked + state.pointee.bonus.places }

  /// Called under `lock`; gives `lock` up. Wakes or starts up to `count` threads, as many as are allowed. If more are
  /// wanted, the monitor looks whether the active threads block.
  /// - Parameter mayInsist: whether to wait a little for a thread that nobody else would try to start again.
  private func unlockAndActivate(_ count: Int, mayInsist: Bool = true) {
    let places = allowed - state.pointee.active
    let lacksPlaces = count > places
    var wanted = min(count, places)
    guard wanted > 0 else {
      lock.unlock()
      if count > 0 { armMonitor() }
      return
    }
    var woken: [PoolThread] = []
    while wanted > 0, let thread = state.pointee.sleeping.popLast() {
      woken.append(thread)
      wanted -= 1
    }
    let starting = max(0, min(wanted, threads.limit - state.pointee.live))
    state.pointee.active += woken.count + starting
    state.pointee.live += starting
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
          state.pointee.active -= 1
          state.pointee.live -= 1
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
      state.pointee.threads.append(thread)
      return state.pointee.live > workerCount
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
      takeMark(of: thread)
      return state.pointee.active > allowed ? 0 : pop()
    }
  }

  private func pop() -> UInt {
    let job = state.pointee.jobs.popFirst()
    queued.store(state.pointee.jobs.count, ordering: .relaxed)
    return job
  }

  private func run(_ job: UInt, on thread: PoolThread) {
    var next: Job? = Job(word: job)
    var left = PoolThreads.runLength
    thread.watched.becomeBusy(true)
    while let job = next {
      thread.watched.beginJob()
      next = job.run()
      if thread.watched.takeMark() { lock.withLock { state.pointee.blocked -= 1 } }
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

  /// Called under `lock`. A thread without a job is not blocked.
  private func takeMark(of thread: PoolThread) {
    if thread.watched.takeMark() { state.pointee.blocked -= 1 }
  }

  /// A job handed on by the previous job gives way to a more urgent job.
  private func isOutranked(_ job: Job) -> Bool {
    guard queued.load(ordering: .relaxed) > 0 else { return false }
    return lock.withLock { state.pointee.jobs.hasJob(above: job.level) }
  }

  /// - Returns: false when the thread must end.
  private func sleep(_ thread: PoolThread) -> Bool {
    lock.lock()
    takeMark(of: thread)
    let surplus = state.pointee.active > allowed
    let isNeeded = queued.load(ordering: .relaxed) > 0
    if isNeeded, !surplus {
      lock.unlock()
      return true
    }
    state.pointee.active -= 1
    if state.pointee.stopping, surplus || !isNeeded {
      end(thread)
      return false
    }
    state.pointee.sleeping.append(thread)
    let mayEnd = state.pointee.live > workerCount
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
      if let index = state.pointee.sleeping.firstIndex(where: { $0 === thread }) {
        if state.pointee.live > workerCount {
          state.pointee.sleeping.remove(at: index)
          end(thread)
          return false
        }
      }
      lock.unlock()
    }
  }

  /// Called under `lock`; gives `lock` up.
  private func end(_ thread: PoolThread) {
    state.pointee.live -= 1
    state.pointee.threads.removeAll { $0 === thread }
    lock.unlock()
  }

  // MARK: - Blocking

  func whileBlocked(_ body: () -> Void) {
    guard let thread = WorkerLocal.current(of: self, as: PoolThread.self)?.takeUnretainedValue(),
      thread.watched.announce()
    else { return body() }
    lock.lock()
    takeMark(of: thread)
    state.pointee.blocked += 1
    unlockAndActivate(queued.load(ordering: .relaxed))
    body()
    lock.withLock { state.pointee.blocked -= 1 }
    thread.watched.retract()
  }

  /// - Returns: false when no monitor will look.
  @discardableResult
  private func armMonitor() -> Bool {
    threads.monitor.isArmed || threads.monitor.arm { [weak self] recheck in self?.look(recheck: recheck) }
  }

  /// The monitor's look: gives away the places of threads that block without announcing it.
  private func look(recheck: Bool) -> BlockingMonitor.Look {
    let (threads, isAllBlocked) = lock.withLock { (state.pointee.threads, state.pointee.bonus.isAllBlocked) }
    var survey = BlockingMonitor.Survey(atFirstSight: isAllBlocked, recheck: recheck)
    for thread in threads { survey.observe(thread.watched) }
    lock.lock()
    let before = allowed
    for thread in threads {
      switch survey.confirm(thread.watched) {
      case .uncounted, .computing, .asleep: break
      case .blocked:
        state.pointee.blocked += 1
        thread.watched.mark()
      case .resumed: state.pointee.blocked -= 1
      }
    }
    let count = queued.load(ordering: .relaxed)
    state.pointee.bonus.look(
      active: state.pointee.active - state.pointee.blocked, blocked: state.pointee.blocked, isNeeded: count > 0,
      workerCount: workerCount, asleep: survey.asleep)
    let added = allowed - before
    if added > 0, cplatform_is_tracing() { TraceProbe.addsSpares(added) }
    guard count > 0 else {
      lock.unlock()
      return BlockingMonitor.Look(isNeeded: false, hasChanged: false)
    }
    unlockAndActivate(count, mayInsist: false)
    return BlockingMonitor.Look(isNeeded: true, hasChanged: added != 0)
  }

  var report: BackendReport {
    lock.withLock {
      var report = BackendReport()
      report.queued = queued.load(ordering: .relaxed)
      report.threads = state.pointee.threads.map { $0.watched.report }
      report.isRefused = threads.shortage.isRefused
      report.isFull = threads.shortage.isFull
      return report
    }
  }

  // MARK: - The end

  func stop() {
    lock.lock()
    state.pointee.stopping = true
    // The sleeping threads look at the queues once more, and end.
    let sleeping = state.pointee.sleeping
    state.pointee.sleeping = []
    state.pointee.active += sleeping.count
    lock.unlock()
    for thread in sleeping { thread.parker.unpark() }
    threads.monitor.stop()
  }

  func join() { threads.join(isOwnThread: isCurrentWorker) }
}
