import CPlatform
import Synchronization

/// Notices that a pool's workers block in their jobs while work is queued, and has it add spare workers.
///
/// A thread that exists from the first `arm` on, and sleeps unless armed. A pool arms it when a job arrives and every
/// worker is busy. It looks every 10 ms, and disarms itself as soon as a look finds nothing queued.
package final class BlockingMonitor: Sendable {
  /// What a pool's workers are doing.
  package struct Sample: Sendable, Equatable {
    /// Jobs that wait for a worker; more than 0 if any does, not necessarily exact.
    package var queued: Int
    /// Jobs begun by all workers since the pool was made.
    package var progress: Int
    /// Workers that are running a job.
    package var busy: Int
    /// Those of them that sleep in the kernel. Only looked at when there was no progress.
    package var blocked: Int
    /// Workers that are not asleep for want of a job.
    package var live: Int

    package init(queued: Int, progress: Int, busy: Int, blocked: Int, live: Int) {
      self.queued = queued
      self.progress = progress
      self.busy = busy
      self.blocked = blocked
      self.live = live
    }
  }

  /// What to do after a look.
  package enum Verdict: Equatable, Sendable {
    case disarm
    case wait
    case addSpares(Int)
  }

  package static let interval: Int64 = 10_000_000

  private let armed = Atomic<Bool>(false)
  private let started = Atomic<Bool>(false)
  private let stopped = Atomic<Bool>(false)
  private let parker = Parker()
  private let name: String
  private let workerCount: Int

  package init(name: String, workerCount: Int) {
    self.name = name
    self.workerCount = workerCount
  }

  /// Pure: what a look means. Spares are added when nobody made progress, every worker is in a job, and fewer of them
  /// compute than the pool has CPUs for: enough to fill up, and twice as many as last time while all of them block. That
  /// the spares added last time began a job is no progress when they block as well.
  package static func verdict(now: Sample, before: Sample, workerCount: Int, lastAdded: Int) -> Verdict {
    if now.queued == 0 { return .disarm }
    let computing = now.busy - now.blocked
    let progress = now.progress &- before.progress
    // A spare counts twice: its thread was made, and it began a job.
    let stuck = progress == 0 || computing <= 0 && progress <= 2 * lastAdded
    guard stuck, now.busy >= now.live else {
      // Spares that compute instead of blocking are too many.
      return lastAdded > 0 && computing > workerCount ? .addSpares(0) : .wait
    }
    guard computing < workerCount else { return .wait }
    let wanted = computing <= 0 ? max(workerCount, 2 * lastAdded) : workerCount - computing
    return .addSpares(min(wanted, now.queued))
  }

  @inline(__always)
  package var isArmed: Bool { armed.load(ordering: .relaxed) }

  /// Starts the looks. Cheap when they are going on already.
  /// - Parameters:
  ///   - sample: called on the monitor's thread.
  ///   - addSpares: called there with how many workers to add; 0 tells that those added are surplus again.
  package func arm(sample: @escaping @Sendable () -> Sample?, addSpares: @escaping @Sendable (Int) -> Void) {
    if armed.exchange(true, ordering: .sequentiallyConsistent) { return }
    if started.exchange(true, ordering: .acquiringAndReleasing) {
      parker.unpark()
    } else {
      let began = PlatformThread.start(name: name) { self.watch(sample: sample, addSpares: addSpares) }
      if !began {
        started.store(false, ordering: .releasing)
        armed.store(false, ordering: .releasing)
      }
    }
  }

  package func stop() {
    stopped.store(true, ordering: .releasing)
    parker.unpark()
  }

  private func watch(sample: @Sendable () -> Sample?, addSpares: @Sendable (Int) -> Void) {
    while !stopped.load(ordering: .acquiring) {
      guard armed.load(ordering: .acquiring) else {
        parker.park()
        continue
      }
      guard look(sample: sample, addSpares: addSpares) else { return }
    }
  }

  /// One armed period.
  /// - Returns: false when the pool is gone.
  private func look(sample: @Sendable () -> Sample?, addSpares: @Sendable (Int) -> Void) -> Bool {
    guard var before = sample() else { return false }
    var lastAdded = 0
    while !stopped.load(ordering: .acquiring) {
      parker.park(timeoutNanoseconds: Self.interval)
      guard let now = sample() else { return false }
      switch Self.verdict(now: now, before: before, workerCount: workerCount, lastAdded: lastAdded) {
      case .wait: break
      case .addSpares(let count):
        addSpares(count)
        lastAdded = count
      case .disarm:
        if lastAdded > 0 { addSpares(0) }
        armed.store(false, ordering: .sequentiallyConsistent)
        // A job that came in between saw the monitor armed: look again.
        guard let again = sample() else { return false }
        if again.queued > 0, !armed.exchange(true, ordering: .sequentiallyConsistent) { break }
        return true
      }
      before = now
    }
    return true
  }
}
