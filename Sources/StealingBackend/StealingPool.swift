import CPlatform
import OperationCore
import Primitives
import Synchronization

/// The pool itself, kept alive by its threads: where jobs go in. The rest is in `Worker`, `Sleep`, `Blocking`, `Shutdown`.
final class StealingPool: @unchecked Sendable {
  // Sendable: atomics; `sleepers` under `sleepLock`; `workers` is only ever appended to, published by `workersMade`.

  typealias JobInjector = Injector<JobNode>

  let workerCount: Int
  let fairnessInterval: Int
  /// Work from outside, one injector per level.
  let injectors = UnsafeMutablePointer<PaddedPointer<JobInjector>>.allocate(capacity: Job.levels)
  /// Bit per level: some worker or injector may have something of it. Read by every worker for every job, written when a
  /// level comes or goes. Only a hint for order: no job depends on it.
  let levelHint = PaddedPointer(Atomic<UInt32>(0))
  /// Threads and what they do.
  let sleepWord = PaddedPointer(Atomic<UInt64>(0))
  /// At most this many threads are active: the workers, and the monitor's bonus.
  let activeLimit: Atomic<Int>

  let sleepLock = FutexLock()
  let sleepers = UnsafeMutablePointer<Sleepers>.allocate(capacity: 1)

  /// More threads than this are not started, whatever blocks.
  let threadLimit: Int
  let workers: UnsafeMutablePointer<Unmanaged<Worker>>
  let workersMade = Atomic<Int>(0)

  let created = Atomic<Int>(0)
  let stopping = Atomic<Bool>(false)
  /// Live threads, as a futex for `join`.
  let liveWord = Atomic<UInt32>(0)
  let monitor = BlockingMonitor(name: "steal-monitor")
  let shortage = ThreadShortage(poolName: "work-stealing")

  init(workerCount: Int, fairnessInterval: Int, threadLimit: Int) {
    self.workerCount = workerCount
    self.fairnessInterval = fairnessInterval
    self.threadLimit = max(workerCount, threadLimit)
    workers = .allocate(capacity: self.threadLimit)
    for level in 0..<Job.levels { (injectors + level).initialize(to: PaddedPointer(JobInjector())) }
    activeLimit = Atomic(workerCount)
    sleepers.initialize(to: Sleepers())
    cplatform_watch_fork()
  }

  deinit {
    for index in 0..<workersMade.load(ordering: .acquiring) { workers[index].release() }
    workers.deallocate()
    sleepers.deinitialize(count: 1)
    sleepers.deallocate()
    for level in 0..<Job.levels { injectors[level].deallocate() }
    injectors.deallocate()
    levelHint.deallocate()
    sleepWord.deallocate()
  }

  var threadsCreated: Int { created.load(ordering: .relaxed) }

  var sleepNow: SleepWord { SleepWord(bits: sleepWord.pointer.pointee.load(ordering: .sequentiallyConsistent)) }

  /// The worker that the calling thread is; nil outside of the pool.
  @inline(__always)
  var currentWorker: Unmanaged<Worker>? { WorkerLocal.current(of: self, as: Worker.self) }

  // MARK: - Submitting

  func submit(_ job: Job) {
    let level = job.level
    if let worker = currentWorker {
      worker._withUnsafeGuaranteedRef { $0.add(job.word, level: level) }
      // Between the push and the look at who sleeps; a thread that goes to sleep does it the other way round.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      hint(level)
    } else {
      if stopping.load(ordering: .relaxed), isRefused(job) { return }
      checkNotForked()
      injectors[level].pointer.pointee.push(job.word)
      hint(level)
    }
    react()
  }

  func submit(_ jobs: consuming JobFIFO) {
    if let worker = currentWorker {
      worker._withUnsafeGuaranteedRef { worker in
        while case let job = jobs.popFirst(), job != 0 {
          let level = Job(word: job).level
          worker.add(job, level: level)
          hint(level)
        }
      }
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    } else {
      checkNotForked()
      inject(jobs)
    }
    react()
  }

  private func inject(_ jobs: consuming JobFIFO) {
    // Runs of one level go in with one exchange each.
    var run = JobFIFO()
    var runLevel = -1
    while case let job = jobs.popFirst(), job != 0 {
      if stopping.load(ordering: .relaxed), isRefused(Job(word: job)) { continue }
      let level = Job(word: job).level
      if level != runLevel, runLevel >= 0 {
        push(run, level: runLevel)
        run = JobFIFO()
      }
      runLevel = level
      run.append(job)
    }
    if runLevel >= 0 { push(run, level: runLevel) }
  }

  private func push(_ run: consuming JobFIFO, level: Int) {
    injectors[level].pointer.pointee.push(chain: run)
    hint(level)
  }

  @inline(__always)
  func hint(_ level: Int) {
    let bit = UInt32(1) << UInt32(level)
    if levelHint.pointer.pointee.load(ordering: .relaxed) & bit == 0 {
      levelHint.pointer.pointee.bitwiseOr(bit, ordering: .relaxed)
    }
  }

  /// Called after a job was made visible, behind a sequentially consistent operation.
  @inline(__always)
  func react() {
    let limit = activeLimit.load(ordering: .relaxed)
    switch sleepNow.reaction(limit: limit) {
    case .nothing: return
    case .activate: activate()
    case .busy: armMonitor()
    }
  }

  /// After `shutdown()`: traps, unless the job has nothing to do.
  @inline(never)
  private func isRefused(_ job: Job) -> Bool {
    if job.dropIfVoid() { return true }
    fatalError("Operations: a job was submitted to a work-stealing pool after shutdown()")
  }

  private func checkNotForked() {
    if cplatform_is_forked_child() {
      fatalError(
        "Operations: a work-stealing pool was used in a forked child without exec: its threads are in the parent")
    }
  }
}
