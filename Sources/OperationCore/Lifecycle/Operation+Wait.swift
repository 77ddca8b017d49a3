import CPlatform
import OperationJobs
import OperationTraceEvents
import Primitives
import Synchronization

// Waiting for an operation. A waiter sleeps on the operation's state word, and inside of an operation another thread
// takes the waiter's place. Where no other thread would, a waiter inside of an operation helps first.

extension Operation {
  /// How deep waits may run other operations on one stack before they sleep instead.
  private static let helpDepth = 100
  /// How far a wait looks along unfinished dependencies for something to run.
  private static let helpReach = 1000

  /// Whether what the operation has computed may be read.
  @usableFromInline
  final var hasEnded: Bool { stateNow.has(StateWord.finished) }

  /// Whether those who wait for the operation may go on. Comes soon behind the finish.
  final var hasDeparted: Bool { departed.load(ordering: .acquiring) != 0 }

  final func waitHere() {
    if hasDeparted { return }
    ThreadDebts.pay()
    guard let frame = LaunchFrame.current else { return LaunchFrame.whileBlocked(sleepUntilDeparted) }
    if LaunchFrame.isRunning(self) { misuse(self, "the operation waits for itself and would never finish") }
    LaunchFrame.checkWait(in: frame, for: self)
    lendLevel(of: frame)
    let home = frame.pointee.home
    while !hasDeparted {
      if home != 0, !LaunchFrame.givesPlace, Self.mayHelp(frame) {
        while !hasDeparted, helpOnce(home: home) {}
      }
      if hasDeparted { return }
      if DrivenBackends.here != nil { return sleepUntilDeparted() }
      LaunchFrame.whileBlocked {
        // The backend knows now that this thread blocks. The backend may have no thread to put in this thread's
        // place. If there is something that this thread may run after all, running that comes first.
        if home == 0 || !LaunchFrame.lacksThreads || !Self.mayHelp(frame) || !canHelp(home: home) {
          sleepUntilDeparted()
        }
      }
    }
  }

  /// The operation whose body waits here lends this one its urgency.
  private final func lendLevel(of frame: UnsafeMutablePointer<LaunchFrame>) {
    if let level = LaunchFrame.level(at: frame) { escalate(toLevel: level) }
  }

  /// Whether the stack has room for another operation's body. Nobody knows how much stack a body takes. So half of
  /// the stack is left to the body, and less where nobody else could run the operation.
  private static func mayHelp(_ frame: UnsafeMutablePointer<LaunchFrame>) -> Bool {
    let size = Int(cplatform_stack_size())
    let left = Int(cplatform_stack_left())
    if left >= size / 2, frame.pointee.depth < helpDepth { return true }
    return left >= size / 8 && LaunchFrame.lacksThreads
  }

  /// Runs this operation, or an unstarted operation that it waits for, on the calling thread.
  /// - Returns: false when nothing could be run.
  private final func helpOnce(home: UInt32) -> Bool {
    while let (target, claim) = findHelp(home: home) {
      guard target.replaceState(claim.before, with: claim.after) else { continue }
      // No successor comes back: without the entry's link, the finish hands everything to the backend.
      _ = target.launch(ownsLink: false, claimed: claim.after, before: claim.before)
      return true
    }
    return false
  }

  private final func canHelp(home: UInt32) -> Bool { findHelp(home: home) != nil }

  /// This operation, or the first unstarted operation that it waits for, if a waiter may run it. `claim` is that
  /// operation's word now, and the word when claimed.
  private final func findHelp(
    home: UInt32
  ) -> (target: Operation, claim: (before: StateWord, after: StateWord))? {
    var target = self
    for _ in 0..<Self.helpReach {
      if target.home.load(ordering: .relaxed) == home, let claim = target.claimForWaiter() { return (target, claim) }
      let now = target.stateNow
      if now.has(StateWord.started) || now.dependencyCount == 0 { return nil }
      guard let further = target.firstUnfinishedDependency() else { return nil }
      target = further
    }
    return nil
  }

  /// The word now, and the word as a waiter's claim would leave it; nil when a waiter may not run the operation.
  private final func claimForWaiter() -> (before: StateWord, after: StateWord)? {
    guard stateNow.claimingForWaiter(queueCancelled: true) != nil, let owner else { return nil }
    // As in any claim: the word, then the queue's bound, then the compare-exchange. The compare-exchange fails if the
    // flag came in between.
    let before = stateNow
    guard let after = before.claimingForWaiter(queueCancelled: queueCancelledThis), endsWithItsStart(after) else {
      return nil
    }
    withExtendedLifetime(owner) {}
    return (before, after)
  }

  /// Whether `start()` returns when the operation finishes, and not before or long after. The waiter gets its thread
  /// back when `start()` returns.
  private final func endsWithItsStart(_ claimed: StateWord) -> Bool {
    finishesItself ? claimed.has(StateWord.skipped) : !claimed.has(StateWord.asksReady) || !isAsynchronous
  }

  final func sleepUntilDeparted() {
    if cplatform_is_tracing() { TraceProbe.waiting(for: word, sleepThroughChanges) } else { sleepThroughChanges() }
  }

  /// Sleeps again after each change of the word that is not the finish.
  private final func sleepThroughChanges() {
    if let backend = DrivenBackends.concerned(with: self) { return DrivenBackends.wait(for: self, on: backend) }
    while !hasDeparted {
      let before = raise(StateWord.hasWaiters)
      if before.has(StateWord.finished) {
        // Another thread is between the finish and the queue's books: a few instructions.
        return Spin.until { hasDeparted }
      }
      let low = UInt32(truncatingIfNeeded: stateNow.bits)
      guard low & UInt32(StateWord.finished) == 0 else { continue }
      sleep(while: low, timeout: RefusedPools.shared.retryInterval)
      RefusedPools.shared.retry()
    }
  }

  private final func sleep(while low: UInt32, timeout: Int64) {
    withUnsafePointer(to: state) { pointer in
      // The low half comes first in memory: Swift runs on little-endian Linux only.
      _ = cplatform_futex_wait(
        UnsafeMutableRawPointer(mutating: UnsafeRawPointer(pointer)).assumingMemoryBound(to: UInt32.self), low, timeout)
    }
  }

  final func wakeWaiters() {
    withUnsafePointer(to: state) { pointer in
      cplatform_futex_wake(
        UnsafeMutableRawPointer(mutating: UnsafeRawPointer(pointer)).assumingMemoryBound(to: UInt32.self), .max)
    }
  }
}

extension LaunchFrame {
  /// The queue of the innermost operation on this thread that has a queue.
  static var currentQueue: OperationQueue? {
    let queue = currentQueueWord
    return queue == 0 ? nil : OperationQueue.retained(queue)
  }

  /// Whether no thread would take this thread's place while this thread blocks.
  static var lacksThreads: Bool { currentQueue?.supervisedBackend?.lacksThreads ?? false }

  /// Whether another thread takes this thread's place at once while this thread waits.
  static var givesPlace: Bool { currentQueue?.backend.replacesBlockedThreads ?? false }
}
