import CPlatform
import Synchronization

/// What a pool knows of one of its threads, so that a body which blocks without announcing it gives its place away.
///
/// The thread counts the jobs that it begins. The pool's monitor looks at the thread now and then, under the pool's
/// lock, and *marks* a thread that sleeps in the kernel inside a job. A marked thread counts as blocked, like a
/// thread that announced it. The thread takes the mark back when its job ends (one relaxed load), and before it
/// sleeps for want of a job. So the pool's count is exact whenever the thread is not in a job.
@usableFromInline
package struct WatchedThread: ~Copyable, Sendable {
  private let identity = Atomic<Int32>(0)
  /// The number of jobs begun. Only the thread writes it.
  @usableFromInline let jobs = Atomic<Int>(0)
  @usableFromInline let busy = Atomic<Bool>(false)
  /// Set by the monitor, under the pool's lock. The thread that first exchanges the mark takes it back.
  @usableFromInline let marked = Atomic<Bool>(false)
  /// The thread is inside `whileBlocked`. Only the thread writes this flag.
  private let announced = Atomic<Bool>(false)
  /// Only the monitor writes these two: the jobs begun at its last look, and when it first saw that number; 0 before
  /// the first look.
  private let seenJobs = Atomic<Int>(0)
  private let seenSince = Atomic<UInt64>(0)
  /// The thread's CPU time at the last look that the system did not answer, and when a look first saw that time. Only
  /// the monitor writes these two.
  private let cpuTime = Atomic<UInt64>(0)
  private let stillSince = Atomic<UInt64>(0)

  /// For how long a thread that the system hides must have used no CPU time to count as asleep, in nanoseconds. A
  /// thread that waits for a CPU uses none either: shorter, and a busy machine would make blocked bodies out of such
  /// threads.
  package static let stillness: UInt64 = 10_000_000

  package init() {}

  // MARK: - The thread

  /// The calling thread is the watched thread from now on.
  package func begin() { identity.store(cplatform_thread_id(), ordering: .relaxed) }

  @inlinable @inline(__always)
  package func beginJob() { jobs.store(jobs.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

  /// - Parameter isBusy: true in a run of jobs; false while the thread looks for a job, or sleeps.
  @inlinable @inline(__always)
  package func becomeBusy(_ isBusy: Bool) { busy.store(isBusy, ordering: .relaxed) }

  /// Whether the thread was marked: the pool then has to count it as unblocked. The mark is gone after the call.
  @inlinable @inline(__always)
  package func takeMark() -> Bool {
    marked.load(ordering: .relaxed) && marked.exchange(false, ordering: .acquiringAndReleasing)
  }

  /// Enters `whileBlocked`.
  /// - Returns: false inside of another `whileBlocked`: that call counts already, and there is nothing to retract.
  package func announce() -> Bool {
    if announced.load(ordering: .relaxed) { return false }
    announced.store(true, ordering: .relaxed)
    return true
  }

  /// Leaves the outermost `whileBlocked`.
  package func retract() {
    assert(announced.load(ordering: .relaxed), "a thread leaves whileBlocked that has not entered")
    announced.store(false, ordering: .relaxed)
  }

  // MARK: - Everybody

  /// The number of jobs that the thread has begun.
  package var jobsBegun: Int { jobs.load(ordering: .relaxed) }

  /// 0 until the thread runs.
  package var threadID: Int32 { identity.load(ordering: .relaxed) }

  // MARK: - The monitor

  /// What a look saw of the thread.
  package enum Sight: Equatable, Sendable {
    /// The thread is not in a job, or is counted as blocked already.
    case uncounted
    case computing
    /// The thread is not marked, and sleeps in the kernel. The time says for how long looks have seen the thread in the
    /// same job, in nanoseconds.
    case asleep(since: UInt64)
    /// The thread is marked, and computes again.
    case resumed
  }

  /// A sight, and the job that the thread was in.
  package struct Observation: Sendable {
    package let sight: Sight
    /// Whether the thread has ended a job since the last look.
    package let hasGoneOn: Bool
    /// For how long looks have seen the thread in the same job, in nanoseconds.
    package let time: UInt64
    package var isAsleep: Bool { if case .asleep = sight { true } else { false } }
    fileprivate let job: Int
  }

  /// Looks at the thread. The caller must not hold the pool's lock: a thread that waits for the lock sleeps, too, and
  /// would be taken for a thread whose body blocks.
  ///
  /// A thread sleeps for an instant in many a lock, such as the allocator's. So a thread that has ended jobs since the
  /// last look computes, even if it sleeps at this instant.
  /// - Parameters:
  ///   - recheck: whether to check, too, that marked threads still sleep, inside of the same job.
  ///   - someComputes: whether some thread of the pool was seen computing. Then it does not matter whether a thread
  ///     sleeps whose job has just begun, and the system call is saved: the thread counts as computing.
  package func observe(now: UInt64, recheck: Bool, someComputes: Bool) -> Observation {
    let job = jobs.load(ordering: .relaxed)
    let begun = job &- seenJobs.load(ordering: .relaxed)
    if begun != 0 || seenSince.load(ordering: .relaxed) == 0 {
      seenJobs.store(job, ordering: .relaxed)
      seenSince.store(now, ordering: .relaxed)
    }
    let time = now &- seenSince.load(ordering: .relaxed)
    func sight() -> Sight {
      guard busy.load(ordering: .relaxed), !announced.load(ordering: .relaxed) else { return .uncounted }
      if marked.load(ordering: .relaxed) { return recheck && !isAsleep(now) ? .resumed : .uncounted }
      if begun > 1 || someComputes && time < UInt64(BlockingMonitor.firstInterval) { return .computing }
      return isAsleep(now) ? .asleep(since: time) : .computing
    }
    return Observation(sight: sight(), hasGoneOn: begun > 1, time: time, job: job)
  }

  /// Called under the pool's lock, with what was seen before the lock was taken.
  /// - Returns: what holds now. When a thread that is asleep is to count as blocked, the pool counts one more blocked
  ///   thread, and then calls `mark`; after `resumed` one less. A thread that has gone on to another job computes.
  package func confirm(_ observation: Observation) -> Sight {
    guard busy.load(ordering: .relaxed), !announced.load(ordering: .relaxed) else { return .uncounted }
    switch observation.sight {
    case .uncounted, .computing: return observation.sight
    case .resumed: return takeMark() ? .resumed : .computing
    case .asleep:
      return jobs.load(ordering: .relaxed) == observation.job ? observation.sight : .computing
    }
  }

  /// Called after the pool's count was raised: the thread may take the mark back, and count itself out, at once. A
  /// thread that enters `whileBlocked` between the look and the mark is counted twice until its job ends: one thread
  /// too many may run meanwhile, never one too few.
  package func mark() { marked.store(true, ordering: .releasing) }

  /// For the monitor: whether the thread sleeps in the kernel. Where the system does not tell, a thread sleeps that has
  /// used no CPU time for `stillness`.
  private func isAsleep(_ now: UInt64) -> Bool {
    switch cplatform_thread_look(threadID) {
    case cplatform_thread_runs: return false
    case cplatform_thread_sleeps: return true
    default:
      let used = cplatform_thread_cpu_ns(threadID)
      if used != cpuTime.load(ordering: .relaxed) {
        cpuTime.store(used, ordering: .relaxed)
        stillSince.store(now, ordering: .relaxed)
      }
      return now &- stillSince.load(ordering: .relaxed) >= Self.stillness
    }
  }

  /// For everybody: as `isAsleep`, from what the monitor noted.
  private var looksAsleep: Bool {
    switch cplatform_thread_look(threadID) {
    case cplatform_thread_runs: return false
    case cplatform_thread_sleeps: return true
    default: return marked.load(ordering: .relaxed) || announced.load(ordering: .relaxed)
    }
  }

  /// For a diagnosis: what the thread does, as far as others can tell.
  package struct Report: Sendable {
    package let threadID: Int32
    package let isBusy: Bool
    package let isWaiting: Bool
    package let isBlocked: Bool
    /// The time from which on, at least, the thread has been in the same job, by the monotonic clock; nil when the
    /// monitor never saw the thread in that job.
    package let since: UInt64?

    /// What the kernel says about the thread now.
    package var kernelWord: String {
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { word in
        guard let start = word.baseAddress else { return "" }
        cplatform_thread_kernel_word(threadID, start, word.count)
        return String(cString: start)
      }
    }
  }

  package var report: Report {
    let since = seenSince.load(ordering: .relaxed)
    let isSeen = since != 0 && seenJobs.load(ordering: .relaxed) == jobs.load(ordering: .relaxed)
    return Report(
      threadID: threadID, isBusy: busy.load(ordering: .relaxed), isWaiting: announced.load(ordering: .relaxed),
      isBlocked: busy.load(ordering: .relaxed) && looksAsleep,
      since: isSeen ? since : nil)
  }
}
