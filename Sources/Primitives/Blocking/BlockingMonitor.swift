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

  /// How many places a pool has beyond its workers and beyond one place for each blocked thread. While every look
  /// finds all threads asleep and jobs queued, the threads that the last look added have blocked as well: twice as
  /// many are added next time. Pure.
  @usableFromInline package struct Bonus: Sendable, Equatable {
    private var streak = 0
    package private(set) var places = 0

    package init() {}

    /// Whether the last look found everything blocked.
    package var isAllBlocked: Bool { streak > 0 }

    /// - Parameters:
    ///   - active: threads with a place that are neither marked nor in `whileBlocked`.
    ///   - blocked: threads that are marked or in `whileBlocked`. Without one, a pool whose threads all sleep for want
    ///     of a job has just got a job: nothing blocks.
    ///   - isNeeded: whether jobs are queued.
    ///   - asleep: how many of the active threads sleep in the kernel all the same.
    package mutating func look(active: Int, blocked: Int, isNeeded: Bool, workerCount: Int, asleep: Int) {
      let isAllBlocked = active > 0 ? asleep >= active : blocked > 0
      streak = isNeeded && isAllBlocked ? min(streak + 1, 12) : 0
      places = streak > 0 ? workerCount * (1 << (streak - 1) - 1) : 0
    }
  }

  /// What one look saw of the pool's threads. `observe` comes before the look takes the pool's lock, `settle` under
  /// the lock, for the same threads in the same order.
  package struct Survey {
    private let now = cplatform_now_ns()
    private let atFirstSight: Bool
    private let recheck: Bool
    private var observations: [WatchedThread.Observation] = []
    private var confirmed = 0
    private var someComputes = false
    private var sleeping = 0
    /// How many marks `settle` has set, minus those that it has taken back.
    package private(set) var marksAdded = 0

    /// - Parameters: see `WatchedThread.observe`.
    package init(atFirstSight: Bool, recheck: Bool) {
      self.atFirstSight = atFirstSight
      self.recheck = recheck
    }

    package mutating func observe(_ thread: borrowing WatchedThread) {
      let seen = thread.observe(now: now, atFirstSight: atFirstSight, recheck: recheck, someComputes: someComputes)
      if seen.sight == .computing { someComputes = true }
      observations.append(seen)
    }

    /// Called under the pool's lock. Marks the thread when it still blocks, or takes its mark back.
    /// - Parameter countBlocked: adds to the pool's number of blocked threads.
    package mutating func settle(_ thread: borrowing WatchedThread, countBlocked: (_ change: Int) -> Void) {
      let sight = thread.confirm(observations[confirmed])
      confirmed += 1
      switch sight {
      case .uncounted: break
      case .computing: someComputes = true
      case .asleep: sleeping += 1
      case .blocked:
        countBlocked(1)
        thread.mark()
        marksAdded += 1
      case .resumed:
        countBlocked(-1)
        marksAdded -= 1
        someComputes = true
      }
    }

    /// How many threads sleep in the kernel without being counted as blocked; 0 when a thread computes.
    package var asleep: Int { someComputes ? 0 : sleeping }
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
