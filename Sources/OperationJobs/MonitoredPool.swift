import CPlatform
import OperationTraceEvents
import Primitives

/// What a pool knows of one thread of its own, or of a call that Dispatch makes.
@usableFromInline
package protocol PoolMember: AnyObject, Sendable {
  var watched: WatchedThread { get }
}

/// A pool of threads whose jobs may block. What all pools do alike when jobs block is here: the monitor's look. A pool
/// says who its members are, counts them, and starts or wakes threads.
@usableFromInline
package protocol MonitoredPool: AnyObject, Sendable {
  associatedtype Member: PoolMember

  var workerNumber: WorkerNumber { get }
  var monitor: BlockingMonitor { get }

  func lockPool()
  func unlockPool()

  // The rest is called under the pool's lock.

  var members: [Member] { get }
  /// Members with a place that are neither marked nor in `whileBlocked`, and members that are.
  var occupancy: (active: Int, blocked: Int) { get }
  /// What the pool has told `RunningThreads` last.
  var runningThreads: Int { get }
  /// Adds to the number of blocked members.
  func countBlocked(_ change: Int)
  var bonus: BlockingMonitor.Bonus { get set }
  /// The number of workers may have changed: shows the number of places to those who look without the lock.
  func showPlaces()
  /// Whether jobs wait for a thread.
  var hasQueuedJobs: Bool { get }
  /// Gives the lock up, and then has threads run the queued jobs in the places that a look has found.
  /// - Returns: whether more has changed than the number of places.
  func unlockAfterLook(hasQueuedJobs: Bool) -> Bool
}

extension MonitoredPool {
  /// Has the monitor look from now on, if it does not look already: `armMonitor` of a pool asks `isArmed` first.
  /// - Returns: false when no monitor will look, because the system refuses the monitor a thread.
  package func startMonitor() -> Bool {
    monitor.arm { [weak self] recheck in self?.look(recheck: recheck) }
  }

  /// The most workers.
  package var workerCount: Int { workerNumber.most }

  package var runningThreads: Int { occupancy.active }

  /// The monitor's look: follows the number of CPUs, lends some to other pools, and gives away the places of members
  /// that block without announcing it.
  private func look(recheck: Bool) -> BlockingMonitor.Look {
    workerNumber.look()
    let workerCount = workerNumber.now
    lockPool()
    let members = members
    let blocked = occupancy.blocked
    unlockPool()
    var survey = BlockingMonitor.Survey(recheck: recheck)
    for member in members { survey.observe(member.watched) }
    survey.conclude(blocked: blocked, workerCount: workerCount)
    lockPool()
    for member in members { survey.settle(member.watched, countBlocked: countBlocked) }
    let isNeeded = hasQueuedJobs
    let counted = occupancy
    workerNumber.lendCPUs(running: runningThreads, hasQueuedJobs: isNeeded, longestJob: survey.longestJob)
    showPlaces()
    let before = bonus.places
    bonus.look(
      active: counted.active, blocked: counted.blocked, isNeeded: isNeeded, workerCount: workerCount,
      undecided: survey.undecided)
    let added = survey.marksAdded + bonus.places - before
    if added > 0, cplatform_is_tracing() { TraceProbe.addsSpares(added) }
    let hasChanged = unlockAfterLook(hasQueuedJobs: isNeeded)
    // What is not decided is looked at again soon.
    return BlockingMonitor.Look(isNeeded: isNeeded, hasChanged: added != 0 || hasChanged || survey.undecided > 0)
  }
}

/// A monitored pool whose jobs stand in one list under the pool's lock.
@usableFromInline
package protocol ListPool: MonitoredPool {
  /// The number of jobs in the list, for looks without the lock.
  var queuedCount: Int { get }
  /// Called under the lock: whether the list has a job of a higher level.
  func hasJob(above level: Int) -> Bool
  /// Called under the lock; gives the lock up, and has threads run the queued jobs in the free places.
  func unlockAndUsePlaces()
}

extension ListPool {
  /// A job handed on by the previous job gives way to a more urgent job.
  @inlinable @inline(__always)
  package func isOutranked(_ job: Job) -> Bool {
    guard queuedCount > 0 else { return false }
    lockPool()
    defer { unlockPool() }
    return hasJob(above: job.level)
  }

  /// Called under the lock. A thread without a job is not blocked.
  ///
  /// The parameter is not a member: how a member has its `watched` is known to its pool, and costs nothing there.
  @inlinable @inline(__always)
  package func takeMark(of thread: borrowing WatchedThread) {
    if thread.takeMark() { countBlocked(-1) }
  }

  /// Gives the place of the calling thread's job to another thread while `body` runs.
  /// - Parameter member: the calling thread's; nil outside of the pool, where there is no place to give.
  package func whileBlocked(_ member: Member?, _ body: () -> Void) {
    guard let member, member.watched.announce() else { return body() }
    lockPool()
    takeMark(of: member.watched)
    countBlocked(1)
    unlockAndUsePlaces()
    body()
    lockPool()
    countBlocked(-1)
    unlockPool()
    member.watched.retract()
  }
}
