import CPlatform
import Synchronization

/// Looks at a pool while jobs are queued that no thread is on its way to. The reason is that every place is taken,
/// perhaps by bodies that block, or that the system refused a thread.
///
/// The monitor has a thread from the first `arm` on. The thread sleeps unless the monitor is armed. The first look
/// comes at once, and the second after a millisecond. While looks change nothing, each waits twice as long as the
/// last, up to 16 ms. The monitor disarms itself when a look finds nothing queued.
@usableFromInline
package final class BlockingMonitor: Sendable {
  /// What a look found and did.
  package struct Look: Sendable, Equatable {
    /// Whether jobs wait for a thread.
    package var isNeeded: Bool
    /// Whether the pool has more or fewer places now.
    package var hasChanged: Bool

    package init(isNeeded: Bool, hasChanged: Bool) {
      self.isNeeded = isNeeded
      self.hasChanged = hasChanged
    }
  }

  /// How many places a pool has beyond its workers and beyond one place for each blocked thread. While looks find all
  /// threads blocked and jobs queued, the threads that were added have blocked as well: twice as many are added
  /// next time. Pure.
  @usableFromInline package struct Bonus: Sendable, Equatable {
    private var streak = 0
    package private(set) var places = 0

    package init() {}

    /// - Parameters:
    ///   - active: threads with a place that are neither marked nor in `whileBlocked`.
    ///   - blocked: threads that are marked or in `whileBlocked`. Without one, a pool whose threads all sleep for want
    ///     of a job has just got a job: nothing blocks.
    ///   - isNeeded: whether jobs are queued.
    ///   - undecided: how many of the active threads may be about to block. If all of them may, nothing is decided: the
    ///     next look knows.
    package mutating func look(active: Int, blocked: Int, isNeeded: Bool, workerCount: Int, undecided: Int) {
      if isNeeded, active > 0, undecided >= active { return }
      streak = isNeeded && active == 0 && blocked > 0 ? min(streak + 1, 12) : 0
      places = streak > 0 ? workerCount * (1 << (streak - 1) - 1) : 0
    }
  }

  /// For how long looks must have seen a thread asleep in one job before the thread counts as blocked, in nanoseconds.
  /// Pure.
  ///
  /// As many threads as the pool has workers count after a millisecond. When more sleep, the threads that took their
  /// places sleep as well. That is so when bodies really block, and it is so when all threads sleep in one lock whose
  /// holder waits for a CPU, or in one that is passed on from thread to thread. More threads would then only make the
  /// lock's queue longer. So the time is longer where the pool's threads go on ending jobs, and where no CPU is free
  /// for another thread.
  /// - Parameter blocked: threads that are marked or in `whileBlocked`.
  package static func patience(blocked: Int, workerCount: Int, mayBePassing: Bool) -> UInt64 {
    UInt64(blocked >= workerCount && mayBePassing ? longestInterval : firstInterval)
  }

  /// What one look saw of the pool's threads. `observe` comes before the look takes the pool's lock, then `decide`, and
  /// `settle` under the lock, for the same threads in the same order.
  package struct Survey {
    private let now: UInt64
    private let recheck: Bool
    private var observations: [WatchedThread.Observation] = []
    /// For how long looks have seen one of the threads compute in the same job, in nanoseconds.
    package private(set) var longestJob: UInt64 = 0
    private var confirmed = 0
    private var someComputes = false
    private var notDecided = 0
    private var blocked = 0
    private var workerCount = 0
    private var mayBePassing = false
    /// How many marks `settle` has set, minus those that it has taken back.
    package private(set) var marksAdded = 0

    /// - Parameter recheck: see `WatchedThread.observe`.
    package init(now: UInt64 = cplatform_now_ns(), recheck: Bool) { (self.now, self.recheck) = (now, recheck) }

    package mutating func observe(_ thread: borrowing WatchedThread) {
      let seen = thread.observe(now: now, recheck: recheck, someComputes: someComputes)
      if seen.sight == .computing {
        someComputes = true
        longestJob = max(longestJob, seen.time)
      }
      observations.append(seen)
    }

    /// Called without the pool's lock, behind all observations.
    /// - Parameter blocked: threads that count as blocked before this look.
    package mutating func conclude(blocked: Int, workerCount: Int) {
      (self.blocked, self.workerCount) = (blocked, workerCount)
      let asleep = observations.count { $0.isAsleep }
      guard asleep > 0, blocked + asleep > workerCount else { return }
      mayBePassing = observations.contains(where: \.hasGoneOn) || cplatform_cpus_are_taken()
    }

    /// Called under the pool's lock. Marks the thread when it blocks, or takes its mark back.
    /// - Parameter countBlocked: adds to the pool's number of blocked threads.
    package mutating func settle(_ thread: borrowing WatchedThread, countBlocked: (_ change: Int) -> Void) {
      let sight = thread.confirm(observations[confirmed])
      confirmed += 1
      switch sight {
      case .uncounted: break
      case .computing: someComputes = true
      case .asleep(let time) where time < patience: notDecided += 1
      case .asleep:
        countBlocked(1)
        thread.mark()
        marksAdded += 1
      case .resumed:
        countBlocked(-1)
        marksAdded -= 1
        someComputes = true
      }
    }

    private var patience: UInt64 {
      BlockingMonitor.patience(
        blocked: blocked + marksAdded, workerCount: workerCount, mayBePassing: mayBePassing)
    }

    /// How many threads the look could not decide about; 0 when a thread computes.
    package var undecided: Int { someComputes ? 0 : notDecided }
  }

  package static let firstInterval: Int64 = 1_000_000
  private static let longestInterval: Int64 = 16_000_000

  /// When to look next. Pure.
  package static func interval(after last: Int64, hasChanged: Bool) -> Int64 {
    hasChanged ? firstInterval : min(2 * last, longestInterval)
  }

  /// Whether looks come slowly enough to see whether blocked bodies run again: that costs a system call for each
  /// body.
  package static func rechecks(at interval: Int64) -> Bool { interval >= 8 * firstInterval }

  private let armed = Atomic<Bool>(false)
  private let started = Atomic<Bool>(false)
  private let stopped = Atomic<Bool>(false)
  private let parker = Parker()
  private let name: String

  package init(name: String) { self.name = name }

  @inline(__always)
  package var isArmed: Bool { armed.load(ordering: .relaxed) }

  /// Starts the looks. The call is cheap when the looks are going on already.
  /// - Parameter look: called on the monitor's thread. The argument says whether to look at blocked bodies again.
  ///   `look` returns nil when the pool is gone.
  /// - Returns: false when the monitor has no thread, because the system refused one: no look comes.
  @discardableResult
  package func arm(look: @escaping @Sendable (_ recheck: Bool) -> Look?) -> Bool {
    if armed.exchange(true, ordering: .sequentiallyConsistent) { return true }
    if started.exchange(true, ordering: .acquiringAndReleasing) {
      parker.unpark()
      return true
    }
    if PlatformThread.start(name: name, { self.watch(look) }) { return true }
    started.store(false, ordering: .releasing)
    armed.store(false, ordering: .sequentiallyConsistent)
    return false
  }

  package func stop() {
    stopped.store(true, ordering: .releasing)
    parker.unpark()
  }

  private func watch(_ look: @Sendable (Bool) -> Look?) {
    while !stopped.load(ordering: .acquiring) {
      guard armed.load(ordering: .acquiring) else {
        parker.park()
        continue
      }
      guard lookWhileNeeded(look) else { return }
    }
  }

  /// One armed period.
  /// - Returns: false when the pool is gone.
  private func lookWhileNeeded(_ look: @Sendable (Bool) -> Look?) -> Bool {
    // The first look comes at once, to learn which thread is in which job now.
    guard look(false) != nil else { return false }
    var interval = Self.firstInterval
    while !stopped.load(ordering: .acquiring) {
      parker.park(timeoutNanoseconds: interval)
      guard let sight = look(Self.rechecks(at: interval)) else { return false }
      interval = Self.interval(after: interval, hasChanged: sight.hasChanged)
      if sight.isNeeded { continue }
      armed.store(false, ordering: .sequentiallyConsistent)
      // A job that came in between saw the monitor armed: the monitor looks again.
      guard let again = look(false) else { return false }
      guard again.isNeeded, !armed.exchange(true, ordering: .sequentiallyConsistent) else { return true }
    }
    return true
  }
}
