import CPlatform
import Primitives
import Synchronization

// Waiting for an operation. Outside of operations: sleep on its state word. Inside: help first.

extension Operation {
  /// How deep waits may run other operations on one stack before they sleep instead.
  private static let helpDepth = 100
  /// How far a wait looks along unfinished dependencies for something to run.
  private static let helpReach = 1000

  final var hasDeparted: Bool { departed.load(ordering: .acquiring) != 0 }

  final func waitHere() {
    if hasDeparted { return }
    guard let frame = LaunchFrame.current else { return sleepUntilDeparted() }
    if LaunchFrame.isRunning(self) { misuse(self, "the operation waits for itself and would never finish") }
    let home = frame.pointee.home
    if home != 0, frame.pointee.depth < Self.helpDepth {
      while !hasDeparted, helpOnce(home: home) {}
    }
    if hasDeparted { return }
    LaunchFrame.whileBlocked { sleepUntilDeparted() }
  }

  /// Runs this operation, or something unstarted that it waits for, on the calling thread.
  /// - Returns: false when nothing could be run.
  private final func helpOnce(home: UInt32) -> Bool {
    var target = self
    for _ in 0..<Self.helpReach {
      let now = target.stateNow
      if target.home.load(ordering: .relaxed) == home, let next = now.claimingForWaiter() {
        guard target.replaceState(now, with: next) else { continue }
        return target.runForWaiter(claimed: next, before: now)
      }
      if now.has(StateWord.started) || now.dependencyCount == 0 { return false }
      guard let further = target.firstUnfinishedDependency() else { return false }
      target = further
    }
    return false
  }

  private final func runForWaiter(claimed: StateWord, before: StateWord) -> Bool {
    var claimed = claimed
    if queueCancelledThis {
      raise(StateWord.cancelled)
    } else {
      claimed = StateWord(
        bits: state.bitwiseAnd(~StateWord.skipped, ordering: .sequentiallyConsistent).newValue)
    }
    // No successor comes back: without the entry's link the finish hands everything to the backend.
    _ = launch(ownsLink: false, claimed: claimed, before: before)
    return true
  }

  final func sleepUntilDeparted() {
    if cplatform_is_tracing() { TraceProbe.waiting(for: word, sleepThroughChanges) } else { sleepThroughChanges() }
  }

  /// The word changes for other reasons than the finish, too.
  private final func sleepThroughChanges() {
    while !hasDeparted {
      let before = raise(StateWord.hasWaiters)
      if before.has(StateWord.finished) {
        // Between the finish and the queue's books: a few instructions of another thread.
        return Spin.until { hasDeparted }
      }
      let low = UInt32(truncatingIfNeeded: stateNow.bits)
      if low & UInt32(StateWord.finished) == 0 { sleep(while: low) }
    }
  }

  private final func sleep(while low: UInt32) {
    withUnsafePointer(to: state) { pointer in
      // The low half comes first in memory: Swift runs on little-endian Linux only.
      _ = cplatform_futex_wait(
        UnsafeMutableRawPointer(mutating: UnsafeRawPointer(pointer)).assumingMemoryBound(to: UInt32.self), low, -1)
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
  /// The backend of the innermost operation with a queue on this thread.
  static var currentBackend: (any Backend)? {
    var frame = current
    while let here = frame, here.pointee.queue == 0 { frame = here.pointee.previous }
    return frame.map { OperationQueue.unmanaged($0.pointee.queue)._withUnsafeGuaranteedRef { $0.backend } }
  }

  /// Runs `body`, which blocks, telling the backend whose thread this is (if any) that its place is free meanwhile.
  static func whileBlocked(_ body: () -> Void) {
    if let backend = currentBackend { backend.whileBlocked(body) } else { body() }
  }
}
