import CPlatform
import Dispatch
import OperationCore
import Primitives
import Synchronization

/// The ready jobs, and the callouts that drain them. Kept alive by its callouts.
///
/// A callout is *out* from when it is handed over until it finds nothing to run. At most `allowed` callouts are out:
/// `width`, one for each blocked callout (its job announced that it blocks, or the monitor marked it), and the
/// monitor's bonus. On a private queue the first `width` callouts are handed to Dispatch. Dispatch has a thread for
/// each CPU, and adds one a second. The other callouts get threads of the backend's own. Everything is under `lock`.
/// `ThreadPoolBackend/README.md` has the protocol.
final class CalloutLists: @unchecked Sendable {
  // Sendable: `state` is touched under `lock`.

  struct State: ~Copyable {
    var jobs: PriorityFIFO
    var out = 0
    /// The callouts out that were handed to Dispatch and have not ended.
    var onQueue = 0
    /// The callouts handed to Dispatch that have not begun yet.
    var pending = 0
    /// Callouts whose place was given to a thread of the backend's own, because Dispatch had no thread for them:
    /// these callouts end when they begin.
    var replaced = 0
    var blocked = 0
    var bonus = BlockingMonitor.Bonus()
    /// The callouts that have begun.
    var callouts: [Callout] = []
    /// How many callouts had begun in all; `begunAtLook` is that number at the monitor's last look.
    var begun = 0
    var begunAtLook = 0
  }

  private let queue: DispatchQueue
  /// Nobody else uses the queue, so jobs may also run on threads that are not the queue's own.
  private let isPrivate: Bool
  private let width: Int
  private let threadLimit: Int
  private let lock = FutexLock()
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
  private let monitor = BlockingMonitor(name: "dispatch-watch")
  private let shortage = ThreadShortage(poolName: "dispatch backend's")
  /// The number of jobs, for callouts that look without the lock.
  private let queuedHint = Atomic<Int>(0)

  /// The most jobs that one callout runs before the callout goes to the tail of a queue that it shares with others.
  private static let calloutLength = 256

  init(
    queue: DispatchQueue, isPrivate: Bool, width: Int, fairnessInterval: Int,
    threadLimit: Int = ThreadShortage.threadLimit
  ) {
    self.queue = queue
    self.isPrivate = isPrivate
    self.width = width
    self.threadLimit = max(width, threadLimit)
    state.initialize(to: State(jobs: PriorityFIFO(fairnessInterval: fairnessInterval)))
    cplatform_watch_fork()
  }

  deinit {
    monitor.stop()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  // MARK: - Submitting

  func submit(_ job: Job) {
    checkNotForked()
    lock.lock()
    state.pointee.jobs.append(job.word)
    unlockAndCallOut(atMost: 1)
  }

  func submit(_ jobs: consuming JobFIFO) {
    checkNotForked()
    lock.lock()
    let count = jobs.count
    state.pointee.jobs.append(contentsOf: jobs)
    unlockAndCallOut(atMost: count)
  }

  /// The check comes before the lock: another thread of the parent may have held the lock at the fork.
  private func checkNotForked() {
    if cplatform_is_forked_child() {
      fatalError(
        "Operations: a dispatch backend was used in a forked child without exec: its threads are in the parent")
    }
  }

  private var allowed: Int { width + state.pointee.blocked + state.pointee.bonus.places }

  /// Called under `lock`; gives `lock` up. Calls out as many callouts as there are jobs and places for. If more are
  /// wanted, the monitor looks whether the callouts that are out block.
  private func unlockAndCallOut(atMost count: Int) {
    let wanted = min(count, state.pointee.jobs.count)
    let places = min(allowed, isPrivate ? threadLimit : .max) - state.pointee.out
    let new = max(0, min(wanted, places))
    let toDispatch = isPrivate ? max(0, min(new, width - state.pointee.onQueue)) : new
    state.pointee.out += new
    state.pointee.onQueue += toDispatch
    state.pointee.pending += toDispatch
    let isFull = new < wanted && isPrivate && state.pointee.out >= threadLimit
    queuedHint.store(state.pointee.jobs.count, ordering: .relaxed)
    lock.unlock()
    for _ in 0..<toDispatch { callOut() }
    for _ in toDispatch..<new { startThread() }
    if isFull { shortage.reachLimit(threadLimit) }
    if wanted > places { armMonitor() }
  }

  private func callOut() {
    queue.async { OwedReferences.allowed { self.drainOnQueue() } }
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
      state.pointee.onQueue += 1
      state.pointee.pending += 1
    }
    callOut()
  }

  // MARK: - Callouts

  /// Runs when Dispatch has a thread for a callout.
  private func drainOnQueue() {
    let isReplaced = lock.withLock {
      guard state.pointee.replaced == 0 else {
        state.pointee.replaced -= 1
        return true
      }
      state.pointee.pending -= 1
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
      state.pointee.callouts.append(callout)
      state.pointee.begun += 1
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
            state.pointee.pending += 1
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
    takeMark(of: callout)
    return state.pointee.out <= allowed ? pop() : nil
  }

  /// Called under `lock`.
  private func forget(_ callout: Callout) {
    takeMark(of: callout)
    if let index = state.pointee.callouts.firstIndex(where: { $0 === callout }) {
      state.pointee.callouts.remove(at: index)
    }
  }

  /// Called under `lock`. A callout without a job is not blocked.
  private func takeMark(of callout: Callout) {
    if callout.watched.takeMark() { state.pointee.blocked -= 1 }
  }

  private func run(_ first: Job, on callout: Callout, left: Int) -> Int {
    var left = left
    var next: Job? = first
    callout.watched.becomeBusy(true)
    while let job = next {
      callout.watched.beginJob()
      next = job.run()
      if callout.watched.takeMark() { lock.withLock { state.pointee.blocked -= 1 } }
      left -= 1
      if let following = next, left <= 0 || isOutranked(following) {
        submit(following)
        break
      }
    }
    callout.watched.becomeBusy(false)
    return isPrivate && left <= 0 ? Self.calloutLength : left
  }

  /// A job handed on by the previous job gives way to a more urgent job.
  private func isOutranked(_ job: Job) -> Bool {
    guard queuedHint.load(ordering: .relaxed) > 0 else { return false }
    return lock.withLock { state.pointee.jobs.hasJob(above: job.level) }
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
    state.pointee.out -= 1
    if onQueue { state.pointee.onQueue -= 1 }
    let isNeeded = state.pointee.jobs.count > 0
    lock.unlock()
    shortage.leaveLimit()
    // This callout may have been called out for one of these jobs, and leaves the job: the callouts that are out may
    // block.
    if isNeeded { armMonitor() }
    return nil
  }

  /// Called under `lock`.
  private func pop() -> Job? {
    let word = state.pointee.jobs.popFirst()
    queuedHint.store(state.pointee.jobs.count, ordering: .relaxed)
    return word == 0 ? nil : Job(word: word)
  }

  // MARK: - Blocking

  /// Gives the place of the calling job to another callout.
  func whileBlocked(_ body: () -> Void) {
    guard let callout = WorkerLocal.current(of: self, as: Callout.self)?.takeUnretainedValue(),
      callout.watched.announce()
    else { return body() }
    lock.lock()
    takeMark(of: callout)
    state.pointee.blocked += 1
    unlockAndCallOut(atMost: state.pointee.jobs.count)
    body()
    lock.withLock { state.pointee.blocked -= 1 }
    callout.watched.retract()
  }

  private func armMonitor() {
    if !monitor.isArmed { monitor.arm { [weak self] recheck in self?.look(recheck: recheck) } }
  }

  /// The monitor's look: gives away the places of callouts that block without announcing it, and the places of
  /// callouts that Dispatch has no thread for.
  private func look(recheck: Bool) -> BlockingMonitor.Look {
    let (callouts, isAllBlocked) = lock.withLock { (state.pointee.callouts, state.pointee.bonus.isAllBlocked) }
    var survey = BlockingMonitor.Survey(atFirstSight: isAllBlocked, recheck: recheck)
    for callout in callouts { survey.observe(callout.watched) }
    lock.lock()
    let before = allowed
    for callout in callouts {
      switch survey.confirm(callout.watched) {
      case .uncounted, .computing, .asleep: break
      case .blocked:
        state.pointee.blocked += 1
        callout.watched.mark()
      case .resumed: state.pointee.blocked -= 1
      }
    }
    let isNeeded = state.pointee.jobs.count > 0
    let late = lateCallouts(isNeeded: isNeeded)
    state.pointee.bonus.look(
      active: state.pointee.out - state.pointee.blocked, blocked: state.pointee.blocked, isNeeded: isNeeded,
      workerCount: width, asleep: survey.asleep)
    let added = allowed - before
    if added > 0, cplatform_is_tracing() { TraceProbe.addsSpares(added) }
    unlockAndCallOut(atMost: isNeeded ? state.pointee.jobs.count : 0)
    for _ in 0..<late { startThread() }
    return BlockingMonitor.Look(isNeeded: isNeeded, hasChanged: added != 0 || late > 0)
  }

  /// Called under `lock`. Counts the callouts that Dispatch has had since the last look without beginning one,
  /// because its threads block in other work. The places of these callouts go to threads of the backend's own.
  private func lateCallouts(isNeeded: Bool) -> Int {
    defer { state.pointee.begunAtLook = state.pointee.begun }
    guard isPrivate, isNeeded, state.pointee.begun == state.pointee.begunAtLook else { return 0 }
    let late = min(state.pointee.pending, state.pointee.jobs.count)
    state.pointee.pending -= late
    state.pointee.onQueue -= late
    state.pointee.replaced += late
    return late
  }

  // MARK: - Supervision

  var isFull: Bool { shortage.isFull }

  var report: BackendReport {
    lock.withLock {
      var report = BackendReport()
      report.queued = state.pointee.jobs.count
      report.threads = state.pointee.callouts.map { $0.watched.report }
      report.isRefused = shortage.isRefused
      report.isFull = shortage.isFull
      return report
    }
  }
}
