/// The state of an operation in one word, and every question about the state, as pure functions.
///
/// High half: the number of unfinished dependencies that are linked, plus one until a queue owns the operation. Low
/// half: flags. The low half is also the futex word of waiters. `Lifecycle/README.md` says who may set what and why
/// nothing is lost.
@usableFromInline
struct StateWord: Equatable, Sendable {
  @usableFromInline var bits: UInt64

  @usableFromInline init(bits: UInt64) { self.bits = bits }

  /// A new operation: no flag, and the one count that a queue takes away when it owns the operation.
  static let initial = StateWord(bits: oneDependency)
  /// A new operation that a queue made for itself, ready and handed to a backend at once.
  static let initialScheduled = StateWord(bits: enqueued | listed | scheduled | linked)

  /// Whether the operation ended in its queue, and nothing happened to the operation except its closure, dependencies
  /// and dependents. The queue may have had a limit.
  var isPlainEnd: Bool {
    let harmless = Self.tracked | Self.hasDependents | Self.hasEpilogue | Self.hasDependencies | Self.asksFinished
    return bits & ~harmless == Self.enqueued | Self.listed | Self.scheduled | Self.started | Self.finished
  }

  static let oneDependency: UInt64 = 1 << 32

  // Each flag has one setter, or is set by compare-exchange. No flag is ever taken back unless its comment says so.

  /// A queue owns the operation.
  static let enqueued: UInt64 = 1 << 0
  /// The queue lists the operation: `sequence`, `slotWord` and `queueWord` have been written.
  static let listed: UInt64 = 1 << 1
  /// Somebody is responsible for starting the operation: the operation stands in a backend or in its queue's ready
  /// lists. The flag is taken back when the operation turned out not to be startable.
  static let scheduled: UInt64 = 1 << 2
  /// The operation's intrusive link is in use: a reference to the operation stands in some list, or its launch is
  /// under way. The thread that took the operation from the list takes the flag back: at once when the entry is void,
  /// else when `start()` has returned or the finish is done.
  static let linked: UInt64 = 1 << 3
  static let cancelled: UInt64 = 1 << 4
  /// One thread has claimed the operation and starts it.
  static let started: UInt64 = 1 << 5
  /// The operation was cancelled when it was claimed: `main` is skipped, and the operation is never executing.
  static let skipped: UInt64 = 1 << 6
  static let finished: UInt64 = 1 << 7
  /// A thread sleeps on this word, or is about to.
  static let hasWaiters: UInt64 = 1 << 8
  /// Some operation lists this operation as a dependency, or a task waits, or did: an edge may stand in this
  /// operation's stack of dependents.
  static let hasDependents: UInt64 = 1 << 9
  /// The operation's start and finish go through its queue's controller. The controller takes the flag back, under its
  /// lock, when nothing needs the controller any more and the operation has not started.
  static let tracked: UInt64 = 1 << 10
  static let observed: UInt64 = 1 << 11
  /// The operation's priority changed after the operation was scheduled: the intrusive entry is void, a `MovedEntry`
  /// stands for the operation.
  static let moved: UInt64 = 1 << 12
  /// Some linked dependency was removed: an edge's record says whether the edge still counts.
  static let edgesRemoved: UInt64 = 1 << 13
  /// The operation's class may override `isReady`: `isReady` must be asked when no dependency is left.
  static let asksReady: UInt64 = 1 << 14
  /// `isReady` returned false. The flag is taken back when `isReady` is asked again.
  static let heldBack: UInt64 = 1 << 15
  /// `isReady` may have changed since `isReady` was asked. The flag is taken back before `isReady` is asked again.
  static let askAgain: UInt64 = 1 << 16
  /// The operation has a completion block or dependencies, or had: there is something to do after the finish.
  static let hasEpilogue: UInt64 = 1 << 17
  /// A job that reads the overridden properties is on its way. The flag is set only before the finish, and that job
  /// takes it back.
  static let examinePending: UInt64 = 1 << 18

  /// Somebody who holds the operation looks for its queue: the operation therefore leaves the queue the long way,
  /// under the operation's lock.
  static let queueWanted: UInt64 = 1 << 19

  /// The operation's class posts `isExecuting` itself.
  static let postsExecuting: UInt64 = 1 << 20
  /// The operation's class posts `isFinished` itself: the examiner found `isFinished` true.
  static let postsFinished: UInt64 = 1 << 21

  /// The operation has dependencies, or had. Set together with `hasEpilogue`.
  static let hasDependencies: UInt64 = 1 << 22

  /// `main()` has returned, and the class's own `isFinished` was false: the class ends the operation by a post.
  static let mainReturned: UInt64 = 1 << 23

  /// The class of a dependency overrides `isFinished`: the class may be asked when the edge is linked.
  static let asksFinished: UInt64 = 1 << 24

  @usableFromInline func has(_ flag: UInt64) -> Bool { bits & flag != 0 }
  var dependencyCount: UInt64 { bits >> 32 }

  var isExecuting: Bool { bits & (Self.started | Self.skipped | Self.finished) == Self.started }
  /// Ready in the sense of the base class: no unfinished dependency, or cancelled.
  var isReady: Bool { dependencyCount == 0 || has(Self.cancelled) }
  /// Whether nobody has added, started or observed the operation: its first completion block needs no lock.
  var mayTakeFirstCompletion: Bool { bits & (Self.enqueued | Self.started | Self.finished | Self.observed) == 0 }

  /// Nobody refers to the operation any more on behalf of its queue: the queue's reference can go.
  var mayLeave: Bool {
    bits & (Self.finished | Self.linked | Self.enqueued | Self.examinePending) == Self.finished | Self.enqueued
      && dependencyCount == 0
  }
}

// MARK: - Transitions

extension StateWord {
  /// What happens when the operation has one unfinished dependency less.
  enum Release: Equatable {
    case nothing
    case schedule(useLink: Bool)
    case askReady, leave
  }

  /// One linked dependency finished (or the queue took away the count of its own).
  func releasingOne() -> (next: StateWord, action: Release) {
    var next = StateWord(bits: bits &- Self.oneDependency)
    guard next.dependencyCount == 0 else { return (next, .nothing) }
    if has(Self.finished) { return (next, next.mayLeave ? .leave : .nothing) }
    if has(Self.scheduled) || has(Self.started) { return (next, .nothing) }
    if has(Self.asksReady) { return (next, .askReady) }
    let useLink = next.setScheduled()
    return (next, .schedule(useLink: useLink))
  }

  /// A claimed operation is listed, and scheduled by its link in the same step: when the operation never had a
  /// dependency, and nobody is to be told or asked. Nil for any other operation.
  /// - Parameter flag: `tracked`, or 0.
  @inline(__always)
  func listingAndScheduling(_ flag: UInt64) -> StateWord? {
    guard bits & ~Self.hasEpilogue == Self.oneDependency | Self.enqueued else { return nil }
    return StateWord(bits: bits &- Self.oneDependency | Self.listed | Self.scheduled | Self.linked | flag)
  }

  /// One count less, for a word in which nothing speaks against counting, or against scheduling by the link. Nil for
  /// any other word.
  @inline(__always)
  func releasingOneSimply() -> (next: StateWord, isScheduled: Bool)? {
    let others =
      Self.scheduled | Self.linked | Self.started | Self.finished | Self.observed | Self.edgesRemoved | Self.asksReady
    guard bits & others == 0 else { return nil }
    let next = bits &- Self.oneDependency
    return next >= Self.oneDependency
      ? (StateWord(bits: next), false) : (StateWord(bits: next | Self.scheduled | Self.linked), true)
  }

  /// - Returns: whether the intrusive link is free for the entry; if not, the entry is a `MovedEntry`.
  mutating func setScheduled() -> Bool {
    let free = !has(Self.linked)
    bits = (bits | Self.scheduled | (free ? Self.linked : Self.moved)) & ~Self.heldBack
    return free
  }

  /// `cancel()`: nil when there is nothing left to do. `schedule`: the operation's dependencies no longer hold the
  /// operation back.
  func cancelling() -> (next: StateWord, schedule: Bool, useLink: Bool)? {
    if has(Self.finished) { return nil }
    var next = StateWord(bits: bits | Self.cancelled)
    if has(Self.listed) && !has(Self.scheduled) && !has(Self.started) {
      let useLink = next.setScheduled()
      return (next, true, useLink)
    }
    return next == self ? nil : (next, false, false)
  }

  /// What a thread that took an entry for this operation from a list may do with it.
  enum Claim: Equatable {
    /// Start the operation.
    case start
    /// Start the operation as cancelled: `main` is skipped.
    case skip
    /// The entry is void. `leave`: the last reference on behalf of the queue goes with the entry.
    case drop(leave: Bool)
    /// The queue's controller decides.
    case divert
  }

  /// - Parameters:
  ///   - byLink: the entry was the operation itself, through its link. False: the entry is a `MovedEntry` that is
  ///     current.
  ///   - admitted: the controller took the entry from its own lists, or there is no controller to ask.
  ///   - queueCancelled: `cancelAllOperations` was called after this operation was added.
  func claiming(byLink: Bool, admitted: Bool, queueCancelled: Bool) -> (next: StateWord, claim: Claim) {
    var next = self
    if has(Self.started) || !has(Self.scheduled) || byLink == has(Self.moved) {
      if byLink { next.bits &= ~Self.linked }
      return (next, .drop(leave: byLink && next.mayLeave))
    }
    if has(Self.tracked) && !admitted { return (next, .divert) }
    if has(Self.cancelled) || queueCancelled {
      next.bits |= Self.started | Self.skipped | Self.cancelled
      return (next, .skip)
    }
    if dependencyCount != 0 {
      // A dependency was added after the operation was scheduled: whoever releases the last dependency schedules the
      // operation again.
      next.bits &= ~(Self.scheduled | Self.moved)
      if byLink { next.bits &= ~Self.linked }
      return (next, .drop(leave: false))
    }
    next.bits |= Self.started
    return (next, .start)
  }

  /// The operation is ready, and nothing needs the controller any more. Nil when there is nothing to take back.
  func leavingController() -> StateWord? {
    guard has(Self.tracked), !has(Self.started) else { return nil }
    return StateWord(bits: bits & ~Self.tracked)
  }

  /// The one-step finish of an operation whose link the finishing thread owns: nobody else can let the operation
  /// leave. Nil when the longer way is needed.
  func finishingAndLeaving() -> StateWord? {
    guard bits & (Self.linked | Self.examinePending | Self.finished | Self.queueWanted) == Self.linked,
      dependencyCount == 0
    else {
      return nil
    }
    return StateWord(bits: bits & ~Self.linked | Self.finished)
  }

  /// A thread that waits for this operation runs the operation itself, or skips a cancelled one. The operation's entry,
  /// now void, stays where it is.
  /// - Parameter queueCancelled: as for `claiming`.
  func claimingForWaiter(queueCancelled: Bool) -> StateWord? {
    let wanted = Self.listed | Self.scheduled
    let excluded = Self.started | Self.tracked | Self.finished | Self.moved
    guard bits & (wanted | excluded) == wanted else { return nil }
    if has(Self.cancelled) || queueCancelled {
      return StateWord(bits: bits | Self.started | Self.skipped | Self.cancelled)
    }
    return dependencyCount == 0 ? StateWord(bits: bits | Self.started) : nil
  }

  /// The operation's effective priority changed. True when the operation's place in a list must change too.
  var movesOnPriorityChange: Bool { has(Self.scheduled) && !has(Self.started) }
}
