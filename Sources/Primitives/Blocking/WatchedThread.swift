import CPlatform
import Synchronization

/// What a pool knows of one of its threads, so that a body which blocks without saying so gives its place away.
///
/// The thread counts the jobs that it begins. The pool's monitor looks at it now and then, under the pool's lock, and *marks* a
/// thread that sleeps in the kernel inside a job: a marked thread counts as blocked, as one that said so. The thread takes the
/// mark back when its job ends (one relaxed load), and before it sleeps for want of a job, so the pool's count is exact
/// whenever the thread is not in a job.
@usableFromInline
package struct WatchedThread: ~Copyable, Sendable {
  private let identity = Atomic<Int32>(0)
  /// Jobs begun. The thread's alone to write.
  @usableFromInline let jobs = Atomic<Int>(0)
  @usableFromInline let busy = Atomic<Bool>(false)
  /// Set by the monitor, under the pool's lock, taken back by whoever exchanges it first.
  @usableFromInline let marked = Atomic<Bool>(false)
  /// Inside `whileBlocked`. The thread's alone to write.
  private let announced = Atomic<Bool>(false)
  /// The monitor's alone: jobs begun at its last look, and when it first saw that number.
  private let seenJobs = Atomic<Int>(-1)
  private let seenSince = Atomic<UInt64>(0)

  package init() {}

  // MARK: - The thread

  /// The calling thread is this one from now on.
  package func begin() { identity.store(cplatform_thread_id(), ordering: .relaxed) }

  @inlinable @inline(__always)
  package func beginJob() { jobs.store(jobs.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

  /// In a run of jobs, or looking for one.
  @inlinable @inline(__always)
  package func becomeBusy(_ isBusy: Bool) { busy.store(isBusy, ordering: .relaxed) }

  /// Whether the thread was marked, and so has to be counted as unblocked; false from now on.
  @inlinable @inline(__always)
  package func takeMark() -> Bool {
    marked.load(ordering: .relaxed) && marked.exchange(false, ordering: .acquiringAndReleasing)
  }

  /// Enters `whileBlocked`.
  /// - Returns: false inside of another call, which counts already; then there is nothing to retract.
  package func announce() -> Bool {
    if announced.load(ordering: .relaxed) { return false }
    announced.store(true, ordering: .relaxed)
    return true
  }

  /// Leaves the outermost `whileBlocked`.
  package func retract() { announced.store(false, ordering: .relaxed) }

  // MARK: - Everybody

  /// 0 until the thread runs.
  package var threadID: Int32 { identity.load(ordering: .relaxed) }

  /// Jobs begun by the thread.
  package var jobsBegun: Int { jobs.load(ordering: .relaxed) }

  // MARK: - The monitor, under the pool's lock

  package enum Change: Equatable, Sendable {
    case none
    /// Blocked since this look: the pool counts one more, and then calls `mark`.
    case blocked
    /// No longer marked: one less.
    case resumed
  }

  /// One look.
  /// - Parameters:
  ///   - atFirstSight: mark a thread that sleeps in the kernel although it was in another job at the last look.
  ///   - recheck: look also whether marked threads run again, inside of the same job.
  package func look(now: UInt64, atFirstSight: Bool, recheck: Bool) -> Change {
    let jobs = jobs.load(ordering: .relaxed)
    let isNew = jobs != seenJobs.load(ordering: .relaxed)
    if isNew {
      seenJobs.store(jobs, ordering: .relaxed)
      seenSince.store(now, ordering: .relaxed)
    }
    guard busy.load(ordering: .relaxed), !announced.load(ordering: .relaxed) else { return .none }
    if marked.load(ordering: .relaxed) {
      guard recheck, !isSleepingInKernel, takeMark() else { return .none }
      return .resumed
    }
    guard !isNew || atFirstSight, isSleepingInKernel else { return .none }
    return .blocked
  }

  package enum Sight: Equatable, Sendable {
    /// Not in a job, or counted as blocked already.
    case uncounted
    case computing
    /// Sleeps in the kernel in a job that it began after the last look, or so shortly that it is not marked.
    case asleep
  }

  /// What the thread does at this moment.
  package var sight: Sight {
    guard busy.load(ordering: .relaxed), !announced.load(ordering: .relaxed), !marked.load(ordering: .relaxed) else {
      return .uncounted
    }
    return isSleepingInKernel ? .asleep : .computing
  }

  /// How many are asleep; 0 as soon as one computes.
  package static func countAsleep(_ sights: some Sequence<Sight>) -> Int {
    var count = 0
    for sight in sights {
      if sight == .computing { return 0 }
      if sight == .asleep { count += 1 }
    }
    return count
  }

  /// Behind the pool's count: the thread may take the mark back, and count itself out, at once. A thread that enters `whileBlocked`
  /// between the look and the mark is counted twice until its job ends: one thread too many may run meanwhile, never one too few.
  package func mark() { marked.store(true, ordering: .releasing) }

  private var isSleepingInKernel: Bool { cplatform_thread_is_blocked(identity.load(ordering: .relaxed)) }

  /// For a diagnosis: what the thread does, as far as it can be told from outside.
  package struct Report: Sendable {
    package let threadID: Int32
    package let isBusy: Bool
    package let isWaiting: Bool
    package let isBlocked: Bool
    /// Since when at least it is in the same job, by the monotonic clock; nil when the monitor never saw it there.
    package let since: UInt64?

    /// What the kernel says of the thread now.
    package var kernelWord: String {
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { word in
        guard let start = word.baseAddress else { return "" }
        cplatform_thread_kernel_word(threadID, start, word.count)
        return String(cString: start)
      }
    }
  }

  package var report: Report {
    let isSeen = seenJobs.load(ordering: .relaxed) == jobs.load(ordering: .relaxed)
    return Report(
      threadID: threadID, isBusy: busy.load(ordering: .relaxed), isWaiting: announced.load(ordering: .relaxed),
      isBlocked: busy.load(ordering: .relaxed) && isSleepingInKernel,
      since: isSeen ? seenSince.load(ordering: .relaxed) : nil)
  }
}
