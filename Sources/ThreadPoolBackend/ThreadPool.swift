import CPlatform
import OperationCore
import Primitives
import Synchronization

/// The pool itself, kept alive by its threads.
///
/// Everything is under `lock`. A thread is *active* from when it is started or woken until it goes to sleep; the waker
/// counts it, so a burst of submits wakes each sleeper once. At most `allowed` threads are active: the workers, one for
/// each thread that said it blocks, and what the monitor added. A surplus thread sleeps as soon as it has finished a job.
final class ThreadPool: @unchecked Sendable {
  // Sendable: `state` is touched under `lock`.

  struct State: ~Copyable {
    var queues = InlineArray<5, JobFIFO> { _ in JobFIFO() }
    var active = 0
    var live = 0
    /// Threads inside `whileBlocked`.
    var blocked = 0
    /// Added by the monitor.
    var extra = 0
    /// Sleeping threads, the latest last.
    var sleeping: [PoolThread] = []
    var threads: [PoolThread] = []
    var stopping = false
  }

  private let workerCount: Int
  private let lock = FutexLock()
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
  /// Jobs in all queues, for spinning threads.
  private let queued = Atomic<Int>(0)
  private let created = Atomic<Int>(0)
  /// Live threads, as a futex for `join`.
  private let liveWord = Atomic<UInt32>(0)
  private let monitor: BlockingMonitor

  /// How long a surplus thread sleeps before it ends.
  private static let surplusLifetime: Int64 = 1_000_000_000
  /// More threads than this are not started, whatever blocks.
  private static let threadLimit = 4096
  /// Jobs that a thread runs one from another before it looks at the queues.
  private static let runLength = 61

  init(workerCount: Int) {
    self.workerCount = workerCount
    monitor = BlockingMonitor(name: "pool-monitor", workerCount: workerCount)
    state.initialize(to: State())
    cplatform_watch_fork()
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Whether the calling thread is one of this pool's.
  private var isCurrentWorker: Bool { WorkerLocal.current(of: self, as: PoolThread.self) != nil }

  var threadsCreated: Int { created.load(ordering: .relaxed) }

  // MARK: - Submitting

  func submit(_ job: UInt) {
    checkNotForked()
    lock.lock()
    checkOpen()
    state.pointee.queues[Job(word: job).level].append(job)
    queued.store(queued.load(ordering: .relaxed) + 1, ordering: .relaxed)
    unlockAndActivate(1)
  }

  func submit(_ jobs: consuming JobFIFO) {
    checkNotForked()
    lock.lock()
    checkOpen()
    let count = jobs.count
    while case let job = jobs.popFirst(), job != 0 { state.pointee.queues[Job(word: job).level].append(job) }
    queued.store(queued.load(ordering: .relaxed) + count, ordering: .relaxed)
    unlockAndActivate(count)
  }

  private func checkOpen() {
    if state.pointee.stopping, !isCurrentWorker {
      fatalError("Operations: a job was submitted to a thread pool after shutdown()")
    }
  }

  /// Before the lock, which another thread of the parent may have held at the fork.
  private func checkNotForked() {
    if cplatform_is_forked_child() {
      fatalError("Operations: a thread pool was used in a forked child without exec: its threads are in the parent")
    }
  }

  private var allowed: Int { workerCount + state.pointee.blocked + state.pointee.extra }

  /// Wakes or starts up to `count` threads, as many as are allowed; for more, the monitor sees whether those block.
  private func unlockAndActivate(_ count: Int) {
    let places = allowed - state.pointee.active
    defer { if count > places, count > 0, !monitor.isArmed { armMonitor() } }
    var wanted = min(count, places)
    if wanted <= 0 {
      lock.unlock()
      return
    }
    var woken: [PoolThread] = []
    while wanted > 0, let thread = state.pointee.sleeping.popLast() {
      woken.append(thread)
      wanted -= 1
    }
    let starting = min(wanted, Self.threadLimit - state.pointee.live)
    state.pointee.active += woken.count + max(0, starting)
    state.pointee.live += max(0, starting)
    lock.unlock()
    for thread in woken {
      if cplatform_is_tracing() { TraceProbe.wakes(thread.threadID) }
      thread.parker.unpark()
    }
    for _ in 0..<max(0, starting) { startThread() }
  }

  private func startThread() {
    liveWord.wrappingAdd(1, ordering: .relaxed)
    created.wrappingAdd(1, ordering: .relaxed)
    let thread = PoolThread(self)
    guard PlatformThread.start(name: "pool-worker", { thread.run() }) else {
      created.wrappingSubtract(1, ordering: .relaxed)
      lock.withLock {
        state.pointee.active -= 1
        state.pointee.live -= 1
      }
      threadEnded()
      return
    }
  }

  // MARK: - A thread's life

  func work(_ thread: PoolThread) {
    let isSpare = lock.withLock {
      state.pointee.threads.append(thread)
      return state.pointee.live > workerCount
    }
    if cplatform_is_tracing() { TraceProbe.threadBegins(isSpare: isSpare) }
    while true {
      let job = nextJob()
      if job != 0 {
        run(job, on: thread)
      } else if !sleep(thread) {
        if cplatform_is_tracing() { TraceProbe.threadEnds() }
        return
      }
    }
  }

  /// The most urgent job; 0 when there is none, or too many threads are active. Spins a little before it gives up.
  private func nextJob() -> UInt {
    for round in 0...Self.spinRounds {
      if queued.load(ordering: .relaxed) > 0 {
        lock.lock()
        let job = state.pointee.active > allowed ? 0 : pop()
        lock.unlock()
        if job != 0 { return job }
        if round > 0 { return 0 }
      }
      OwedReferences.settle()
      for _ in 0..<Self.pausesPerRound { cplatform_pause() }
    }
    return 0
  }

  private static let spinRounds = 20
  private static let pausesPerRound = 8

  private func pop() -> UInt {
    for level in stride(from: 4, through: 0, by: -1) {
      let job = state.pointee.queues[level].popFirst()
      if job != 0 {
        queued.store(queued.load(ordering: .relaxed) - 1, ordering: .relaxed)
        return job
      }
    }
    return 0
  }

  private func run(_ job: UInt, on thread: PoolThread) {
    var next: Job? = Job(word: job)
    var left = Self.runLength
    while let job = next {
      thread.begin()
      next = job.run()
      left -= 1
      // After a run of jobs the others have a turn, if there are others.
      if left == 0, queued.load(ordering: .relaxed) == 0 { left = Self.runLength }
      if let following = next, left == 0 || isOutranked(following) {
        submit(following.word)
        break
      }
    }
    thread.end()
  }

  /// A job handed on by the last one gives way to a more urgent one.
  private func isOutranked(_ job: Job) -> Bool {
    guard queued.load(ordering: .relaxed) > 0 else { return false }
    return lock.withLock {
      for level in stride(from: 4, to: job.level, by: -1) where !state.pointee.queues[level].isEmpty { return true }
      return false
    }
  }

  /// - Returns: false when the thread must end.
  private func sleep(_ thread: PoolThread) -> Bool {
    lock.lock()
    let surplus = state.pointee.active > allowed
    if queued.load(ordering: .relaxed) > 0, !surplus {
      lock.unlock()
      return true
    }
    state.pointee.active -= 1
    if state.pointee.stopping, surplus || queued.load(ordering: .relaxed) == 0 {
      end(thread)
      return false
    }
    state.pointee.sleeping.append(thread)
    let mayEnd = state.pointee.live > workerCount
    lock.unlock()
    if cplatform_is_tracing() { TraceProbe.parks() }
    while true {
      if thread.parker.park(timeoutNanoseconds: mayEnd ? Self.surplusLifetime : -1) {
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

  /// Under `lock`, which it gives up.
  private func end(_ thread: PoolThread) {
    state.pointee.live -= 1
    state.pointee.threads.removeAll { $0 === thread }
    lock.unlock()
    threadEnded()
  }

  private func threadEnded() {
    if liveWord.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { liveWord.futexWake(.max) }
  }

  // MARK: - Blocking

  func whileBlocked(_ body: () -> Void) {
    guard isCurrentWorker else { return body() }
    lock.lock()
    state.pointee.blocked += 1
    unlockAndActivate(queued.load(ordering: .relaxed))
    body()
    lock.withLock { state.pointee.blocked -= 1 }
  }

  private func armMonitor() {
    monitor.arm(
      sample: { [weak self] in self?.sample() },
      addSpares: { [weak self] in self?.addSpares($0) })
  }

  private func sample() -> BlockingMonitor.Sample {
    lock.withLock {
      var sample = BlockingMonitor.Sample(
        queued: queued.load(ordering: .relaxed), progress: 0, busy: 0, blocked: 0,
        live: state.pointee.live - state.pointee.sleeping.count)
      for thread in state.pointee.threads { thread.add(to: &sample) }
      sample.progress &+= created.load(ordering: .relaxed)
      return sample
    }
  }

  private func addSpares(_ count: Int) {
    if count > 0, cplatform_is_tracing() { TraceProbe.addsSpares(count) }
    lock.lock()
    state.pointee.extra = count == 0 ? 0 : state.pointee.extra + count
    unlockAndActivate(count)
  }

  // MARK: - The end

  func stop() {
    lock.lock()
    state.pointee.stopping = true
    // They look at the queues once more, and end.
    let sleeping = state.pointee.sleeping
    state.pointee.sleeping = []
    state.pointee.active += sleeping.count
    lock.unlock()
    for thread in sleeping { thread.parker.unpark() }
    monitor.stop()
  }

  func join() {
    precondition(!isCurrentWorker, "shutdown() inside a job of the pool would wait for itself")
    while case let live = liveWord.load(ordering: .acquiring), live > 0 { liveWord.futexWait(while: live) }
  }
}
