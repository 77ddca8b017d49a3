import CPlatform
import OperationCore
import Primitives
import Synchronization

/// The pool itself, kept alive by its threads. This file holds the ways by which jobs go in. The rest is in `Worker`,
/// `Sleep`, `Blocking`, `Shutdown`.
final class StealingPool: @unchecked Sendable {
  // Sendable: the fields are atomics, or guarded by `sleepLock`, or only ever appended to and
  // published by `workersMade` (`workers`).

  typealias JobInjector = Injector<JobNode>

  /// The pool's threads as a whole: their number, limit, monitor and end.
  let threads: PoolThreads
  let fairnessInterval: Int
  /// Work from outside, one injector per level.
  let injectors = UnsafeMutablePointer<PaddedPointer<JobInjector>>.allocate(capacity: Job.levels)
  /// One bit for each level: some worker or injector may have a job of that level. Every worker reads the hint for
  /// every job. The hint is written when a level comes or goes. The hint is only for order: no job depends on it.
  let levelHint = PaddedPointer(Atomic<UInt32>(0))
  /// The number of threads, and what they do.
  let sleepWord = PaddedPointer(Atomic<UInt64>(0))
  /// At most this many threads are active: the number of workers plus the monitor's bonus.
  let activeLimit: Atomic<Int>

  let sleepLock = Locked(Sleepers())

  let workers: UnsafeMutablePointer<Unmanaged<Worker>>
  let workersMade = Atomic<Int>(0)

  let stopping = Atomic<Bool>(false)

  init(workerCount: Int, fairnessInterval: Int, threadLimit: Int) {
    threads = PoolThreads(
      poolName: "work-stealing", monitorName: "steal-monitor", workerCount: workerCount, limit: threadLimit)
    self.fairnessInterval = fairnessInterval
    workers = .allocate(capacity: threads.limit)
    for level in 0..<Job.levels { (injectors + level).initialize(to: PaddedPointer(JobInjector())) }
    activeLimit = Atomic(workerCount)
  }

  deinit {
    for index in 0..<workersMade.load(ordering: .acquiring) { workers[index].release() }
    workers.deallocate()
    for level in 0..<Job.levels { injectors[level].deallocate() }
    injectors.deallocate()
    levelHint.deallocate()
    sleepWord.deallocate()
  }

  var workerCount: Int { threads.workerCount }
  var threadsCreated: Int { threads.createdCount }

  var sleepNow: SleepWord { SleepWord(bits: sleepWord.pointer.pointee.load(ordering: .sequentiallyConsistent)) }

  /// The worker whose thread is the calling one; nil outside of the pool.
  @inline(__always)
  var currentWorker: Unmanaged<Worker>? { WorkerLocal.current(of: self, as: Worker.self) }

  // MARK: - Submitting

  func submit(_ job: Job) {
    let level = job.level
    if let worker = currentWorker {
      worker._withUnsafeGuaranteedRef { $0.add(job.word, level: level) }
      // The fence stands between the push and the look at the sleepers. A thread that goes to sleep does the two the
      // other way round.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      hint(level)
    } else {
      if stopping.load(ordering: .relaxed), isRefused(job) { return }
      threads.checkNotForked()
      injectors[level].pointer.pointee.push(job.word)
      hint(level)
    }
    react()
  }

  func submit(_ jobs: consuming JobFIFO) {
    let count = jobs.count
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
      threads.checkNotForked()
      inject(jobs)
    }
    react()
    if count >= SleepWord.jobsPerSearcher { wakeMore(for: count) }
  }

  /// Several jobs were made visible, and somebody searches. The threads that sleep would otherwise wake one another in
  /// turn, and each takes 20 microseconds until it runs.
  @inline(never)
  private func wakeMore(for jobs: Int) {
    let wanted = SleepWord.searchersWanted(jobs: jobs)
    for _ in 1..<wanted {
      let limit = activeLimit.load(ordering: .relaxed)
      guard case .activate = sleepNow.reaction(limit: limit, wanted: wanted) else { return }
      // The call for the first thread has waited already, if the system refuses threads.
      activate(wanted: wanted, mayInsist: false)
    }
  }

  private func inject(_ jobs: consuming JobFIFO) {
    // Successive jobs of one level go in with one exchange, linked the other way round: the newest is first.
    var newest: UInt = 0
    var oldest: UInt = 0
    var level = -1
    while case let job = jobs.popFirst(), job != 0 {
      if stopping.load(ordering: .relaxed), isRefused(Job(word: job)) { continue }
      let jobLevel = Job(word: job).level
      if jobLevel != level {
        push(newest: newest, oldest: oldest, level: level)
        newest = 0
        oldest = job
        level = jobLevel
      }
      JobNode.setNext(of: job, to: newest)
      newest = job
    }
    push(newest: newest, oldest: oldest, level: level)
  }

  private func push(newest: UInt, oldest: UInt, level: Int) {
    guard newest != 0 else { return }
    injectors[level].pointer.pointee.push(newest: newest, oldest: oldest)
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
}
