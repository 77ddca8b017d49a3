import CPlatform
import Dispatch
import OperationForks
import OperationJobs
import OperationTraceEvents
import Primitives
import Synchronization

/// The ready jobs, and the callouts that drain them. Kept alive by its callouts.
///
/// A callout is *out* from when it is handed over until it finds nothing to run. At most `allowed` callouts are out:
/// the workers, one for each blocked callout (its job announced that it blocks, or the monitor marked it), and the
/// monitor's bonus. On a private queue the first callouts, one for each worker, are handed to Dispatch. Dispatch has a
/// thread for each CPU, and adds one a second. The other callouts get threads of the backend's own. Everything is under
/// `lock`.
/// `ThreadPoolBackend/README.md` has the protocol.
final class CalloutLists: ListPool, ForkHost, @unchecked Sendable {
  // Sendable: the fields are constants, atomics, or guarded by `lock`.

  struct State: ~Copyable {
    var jobs: PriorityFIFO
    var out = 0 { didSet { tell(from: oldValue - pending - blocked) } }
    /// The callouts out that were handed to Dispatch and have not ended.
    var onQueue = 0
    /// The callouts handed to Dispatch that have not begun yet.
    var pending = 0 { didSet { tell(from: out - oldValue - blocked) } }
    /// Callouts whose place was given to a thread of the backend's own, because Dispatch had no thread for them:
    /// these callouts end when they begin.
    var replaced = 0
    var blocked = 0 { didSet { tell(from: out - pending - oldValue) } }
    var bonus = BlockingMonitor.Bonus()
    /// Threads of others that are in joins on this backend.
    var guests = 0
    /// A job came that found every place taken, one by a guest: the last guest looks for it.
    var lacksPlaceForJob = false
    /// The callouts that have begun.
    var callouts: [Callout] = []
    /// How many callouts had begun in all; `begunAtLook` is that number at the monitor's last look.
    var begun = 0
    var begunAtLook = 0

    /// The callouts that have a thread, and do not block.
    var running: Int { out - pending - blocked }
    private func tell(from old: Int) { RunningThreads.change(from: old, to: running) }

    /// For assertions.
    var isPossible: Bool {
      out >= 0 && onQueue >= 0 && pending >= 0 && replaced >= 0 && blocked >= 0 && onQueue <= out
    }
  }

  private let queue: DispatchQueue
  /// Nobody else uses the queue, so jobs may also run on threads that are not the queue's own.
  let isPrivate: Bool
  /// How many callouts are out while none is blocked.
  let workerNumber: WorkerNumber
  private let threadLimit: Int
  private let lock: Locked<State>
  let monitor = BlockingMonitor(name: "dispatch-watch")
  private let shortage = ThreadShortage(poolName: "dispatch backend's")
  /// The number of jobs, for callouts that look without the lock.
  private let queuedHint = Atomic<Int>(0)

  /// The most jobs that one callout runs before the callout goes to the tail of a queue that it shares with others.
  private static let calloutLength = 256

  init(
    queue: DispatchQueue, isPrivate: Bool, workers: WorkerNumber, fairnessInterval: Int,
    threadLimit: Int = ThreadShortage.threadLimit
  ) {
    self.queue = queue
    self.isPrivate = isPrivate
    workerNumber = workers
    self.threadLimit = max(workers.most, threadLimit)
    lock = Locked(State(jobs: PriorityFIFO(fairnessInterval: fairnessInterval)))
    cplatform_watch_fork()
  }

  deinit {
    monitor.stop()
    // The tickets of forks that nobody took can serve another backend.
    while let job = lock.withLock({ pop() }) { _ = job.dropIfVoid() }
  }

  // MARK: - Submitting

  func submit(_ job: Job) {
    checkNotForked()
    lock.lock()
    lock.state.jobs.append(job.word)
    unlockAndCallOut(atMost: 1)
  }

  func submit(_ jobs: consuming JobFIFO) {
    checkNotForked()
    lock.lock()
    let count = jobs.count
    lock.state.jobs.append(contentsOf: jobs)
    unlockAndCallOut(atMost: count)
  }

  /// The check comes before the lock: another thread of the parent may have held the lock at the fork.
  private func checkNotForked() {
    if cplatform_is_forked_child() {
      fatalError(
        "Operations: a dispatch backend was used in a forked child without exec: its threads are in the parent")
    }
  }

  /// A guest takes the place of a callout. One place is always left: a guest may wait for an operation of the backend
  /// in a way that the backend does not know.
  private var allowed: Int {
    max(1, workerNumber.withCPU - lock.state.guests) + lock.state.blocked + lock.state.bonus.places
  }

  /// Called under `lock`; gives `lock` up. Calls out as many callouts as there are jobs and places for. If more are
  /// wanted, the monitor looks whether the callouts that are out block.
  private func unlockAndCallOut(atMost count: Int) {
    assert(lock.state.isPossible, "more callouts were counted out of a part of the backend than were in")
    let wanted = min(count, lock.state.jobs.count)
    let places = min(allowed, isPrivate ? threadLimit : .max) - lock.state.out
    let new = max(0, min(wanted, places))
    if wanted > places, lock.state.guests > 0 { lock.state.lacksPlaceForJob = true }
    let toDispatch = isPrivate ? max(0, min(new, workerNumber.now - lock.state.onQueue)) : new
    lock.state.out += new
    lock.state.onQueue += toDispatch
    lock.state.pending += toDispatch
    let isFull = new < wanted && isPrivate && lock.state.out >= threadLimit
    queuedHint.store(lock.state.jobs.count, ordering: .relaxed)
    lock.unlock()
    for _ in 0..<toDispatch { callOut() }
    for _ in toDispatch..<new { startThread() }
    if isFull { shortage.reachLimit(threadLimit) }
    if wanted > places { armMonitor() }
  }

  private func callOut() {
    queue.async { cplatform_call_to_its_end(calloutEntry, Unmanaged.passUnretained(self).toOpaque()) }
  }

  /// Starts a thread of the backend's own for a callout that is counted as out. Where the system has no thread, the
  /// callout goes to Dispatch: Dispatch tries until it has a thread.
  private func startThread() {
    if PlatformThread.start(name: "dispatch-spare", { OwedReferences.allowed { self.drain(onQueue: false) } }) {
      shortage.end()
      return
    }
    shortage.begin { false }
    lock.withLock {
      lock.state.onQueue += 1
      lock.state.pending += 1
    }
    callOut()
  }

  // MARK: - Forks

  func beginForks() -> Bool {
    checkNotForked()
    if WorkerLocal.current(of: self, as: Callout.self) != nil { return false }
    countGuest(1)
    return true
  }

  func countGuest(_ change: Int) {
    lock.lock()
    lock.state.guests += change
    // The place is free for jobs that came meanwhile. Most guests leave nothing but tickets without forks.
    guard change < 0, lock.state.lacksPlaceForJob else { return lock.unlock() }
    lock.state.lacksPlaceForJob = false
    unlockAndCallOut(atMost: lock.state.jobs.count)
  }

  var idlePlaces: Int { lock.withLock { max(0, allowed - lock.state.out) } }

  func show(_ ticket: Job, wakes: Bool) -> Bool {
    checkNotForked()
    lock.lock()
    lock.state.jobs.append(ticket.word)
    if wakes, allowed > lock.state.out {
      unlockAndCallOut(atMost: 1)
    } else {
      queuedHint.store(lock.state.jobs.count, ordering: .relaxed)
      lock.unlock()
    }
    // Dispatch may have no thread for the callout, because its threads wait for this fork.
    armMonitor()
    return true
  }

  func wakeForForks() {
    lock.lock()
    unlockAndCallOut(atMost: lock.state.jobs.count)
  }

  // MARK: - Callouts

  /// Runs when Dispatch has a thread for a callout. The thread has been started by any thread of the program.
  fileprivate func drainOnQueue() {
    if isPrivate { cplatform_join_process() }
    let isReplaced = lock.withLock {
      guard lock.state.replaced == 0 else {
        lock.state.replaced -= 1
        return true
      }
      lock.state.pending -= 1
      return false
    }
    if !isReplaced { drain(onQueue: true) }
  }

  /// - Parameter onQueue: whether the callout is on one of the dispatch queue's threads, not on a thread of the
  ///   backend's own.
  private func drain(onQueue: Bool) {
    let callout = Callout()
    callout.watched.begin()
    lock.withLock {
      lock.state.callouts.append(callout)
      lock.state.begun += 1
    }
    if cplatform_is_tracing() { TraceProbe.calloutBegins() }
    WorkerLocal.become(callout, of: self) {
      var left = Self.calloutLength
      while let job = next(callout, onQueue: onQueue) {
        left = run(job, on: callout, left: left)
        if left <= 0, onQueue, !isPrivate {
          // The queue's other users have a turn; this callout stays out.
          lock.withLock {
            forget(callout)
            lock.state.pending += 1
          }
          callOut()
          break
        }
      }
    }
    if cplatform_is_tracing() { TraceProbe.calloutEnds() }
  }

  /// Called under `lock`. The most urgent job; nil when there is no job, or when too many callouts are out.
  private func take(_ callout: Callout) -> Job? {
    takeMark(of: callout.watched)
    return lock.state.out <= allowed ? pop() : nil
  }

  /// Called under `lock`.
  private func forget(_ callout: Callout) {
    takeMark(of: callout.watched)
    if let index = lock.state.callouts.firstIndex(where: { $0 === callout }) {
      lock.state.callouts.remove(at: index)
    }
  }

  private func run(_ first: Job, on callout: Callout, left: Int) -> Int {
    var left = left
    var next: Job? = first
    callout.watched.becomeBusy(true)
    while let job = next {
      callout.watched.beginJob()
      next = job.run()
      if callout.watched.takeMark() { lock.withLock { lock.state.blocked -= 1 } }
      left -= 1
      if let following = next, left <= 0 || isOutranked(following) {
        submit(following)
        break
      }
    }
    callout.watched.becomeBusy(false)
    return isPrivate && left <= 0 ? Self.calloutLength : left
  }

  /// The most urgent job. Nil when there is no job, or when too many callouts are out: this callout is then not out
  /// any more.
  private func next(_ callout: Callout, onQueue: Bool) -> Job? {
    if queuedHint.load(ordering: .relaxed) == 0 {
      // Handing a callout to Dispatch costs more than this spin.
      _ = Spin.search { UInt(bitPattern: queuedHint.load(ordering: .relaxed)) }
    }
    if let job = lock.withLock({ take(callout) }) { return job }
    // The callout is still out: `shutdown` waits until the references are given back.
    OwedReferences.settle()
    lock.lock()
    if let job = take(callout) {
      lock.unlock()
      return job
    }
    forget(callout)
    lock.state.out -= 1
    if onQueue { lock.state.onQueue -= 1 }
    let isNeeded = lock.state.jobs.count > 0
    lock.unlock()
    shortage.leaveLimit()
    // This callout may have been called out for one of these jobs, and leaves the job: the callouts that are out may
    // block.
    if isNeeded { armMonitor() }
    // This callout has given its place up: what is shown now has a callout of its own.
    Forks.ask(of: self)
    _ = Forks.uncover(for: self)
    return nil
  }

  /// Called under `lock`.
  private func pop() -> Job? {
    let word = lock.state.jobs.popFirst()
    queuedHint.store(lock.state.jobs.count, ordering: .relaxed)
    return word == 0 ? nil : Job(word: word)
  }

  // MARK: - Blocking

  /// Gives the place of the calling job to another callout.
  func whileBlocked(_ body: () -> Void) {
    whileBlocked(WorkerLocal.current(of: self, as: Callout.self)?.takeUnretainedValue(), body)
  }

  private func armMonitor() { if !monitor.isArmed { _ = startMonitor() } }

  /// Called under `lock`. Counts the callouts that Dispatch has had since the last look without beginning one,
  /// because its threads block in other work. The places of these callouts go to threads of the backend's own.
  private func lateCallouts(isNeeded: Bool) -> Int {
    defer { lock.state.begunAtLook = lock.state.begun }
    guard isPrivate, isNeeded, lock.state.begun == lock.state.begunAtLook else { return 0 }
    let late = min(lock.state.pending, lock.state.jobs.count)
    lock.state.pending -= late
    lock.state.onQueue -= late
    lock.state.replaced += late
    return late
  }

  // MARK: - Supervision

  /// On a queue of a user's nobody may take the place of a callout: the queue may be serial.
  var replacesBlockedThreads: Bool { isPrivate && !shortage.isFull && !shortage.isRefused }

  var report: BackendReport {
    lock.withLock {
      BackendReport(
        queued: lock.state.jobs.count, threads: lock.state.callouts.map { $0.watched.report }, shortage: shortage)
    }
  }
}

/// A top-level function, because C calls it. The caller's closure keeps the lists alive.
private func calloutEntry(_ lists: UnsafeMutableRawPointer?) {
  guard let lists else { return }
  Unmanaged<CalloutLists>.fromOpaque(lists)._withUnsafeGuaranteedRef { lists in
    OwedReferences.allowed { lists.drainOnQueue() }
  }
}

// What `MonitoredPool` and `ListPool` ask.
extension CalloutLists {
  /// `allowed` reads the number under the lock.
  func showPlaces() {}
  func lockPool() { lock.lock() }
  func unlockPool() { lock.unlock() }

  var members: [Callout] { lock.state.callouts }
  var runningThreads: Int { lock.state.running }
  var occupancy: (active: Int, blocked: Int) { (lock.state.out - lock.state.blocked, lock.state.blocked) }
  func countBlocked(_ change: Int) { lock.state.blocked += change }
  var bonus: BlockingMonitor.Bonus {
    get { lock.state.bonus }
    set { lock.state.bonus = newValue }
  }
  var hasQueuedJobs: Bool { lock.state.jobs.count > 0 }
  var queuedCount: Int { queuedHint.load(ordering: .relaxed) }
  func hasJob(above level: Int) -> Bool { lock.state.jobs.hasJob(above: level) }
  func unlockAndUsePlaces() { unlockAndCallOut(atMost: lock.state.jobs.count) }

  /// Gives away the places of callouts that Dispatch has no thread for, too.
  func unlockAfterLook(hasQueuedJobs: Bool) -> Bool {
    let late = lateCallouts(isNeeded: hasQueuedJobs)
    unlockAndCallOut(atMost: hasQueuedJobs ? lock.state.jobs.count : 0)
    for _ in 0..<late { startThread() }
    return late > 0
  }
}
