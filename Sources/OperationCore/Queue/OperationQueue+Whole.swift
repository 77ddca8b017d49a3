import OperationJobs
import Primitives

// What concerns all operations of a queue at once.

extension OperationQueue {
  final func snapshot() -> [Operation] {
    var operations: [Operation] = []
    registry.visitPending { operations.append($0) }
    return operations
  }

  final func cancelAll() {
    registry.countCancel()
    RetryScope.current?.cancels(self)
    // First the list is taken, because the list holds the operations. A worker that claims an operation after the
    // instant skips the operation. An operation that is not held here could be gone before its cancel() was called.
    let bound = registry.addedCount
    var entries: [CancelRound.Entry] = []
    entries.reserveCapacity(registry.pendingCount)
    registry.visitPending(below: bound, waitForStores: true) { entries.append(CancelRound.Entry($0)) }
    for place in entries.indices { entries[place].hold() }
    let round = CancelRound(entries)
    // This is the instant. Each operation then gets the flag, so that none starts after this call has returned. What
    // waits for dependencies is released last.
    registry.cancelAll(below: bound)
    round.flag()
    round.cancel()
  }

  final func waitForAll() {
    if LaunchFrame.isRunning(operationOf: self) {
      misuse(self, "waitUntilAllOperationsAreFinished() in an operation of the same queue would wait for itself")
    }
    ThreadDebts.pay()
    guard let frame = LaunchFrame.current else { return sleepThroughAll() }
    if let level = LaunchFrame.level(at: frame) { escalate(toLevel: level) }
    helpWithAll()
  }

  /// In an operation of another queue this thread helps, in the order in which the operations would start.
  private final func helpWithAll() {
    var idleLooks = 0
    while registry.pendingCount > 0 {
      let pending = snapshot()
      for operation in pending { operation.waitHere() }
      if pending.isEmpty { Spin.untilNextLook(&idleLooks) } else { idleLooks = 0 }
    }
  }

  /// Waits for the newest operation first: when the newest has finished, most others have, and this thread was woken
  /// once. The wait takes one reference at a time: with a list of all operations this thread would write to the
  /// memory of each while the workers do.
  private final func sleepThroughAll() {
    var idleLooks = 0
    while registry.pendingCount > 0 {
      var bound = Int.max
      while let (operation, sequence) = registry.newestPending(below: bound) {
        operation.waitHere()
        bound = sequence
      }
      if bound == .max { Spin.untilNextLook(&idleLooks) } else { idleLooks = 0 }
    }
  }

  /// The queue whose operation the calling thread is running; the main queue on the main thread; nil elsewhere, also in
  /// completion blocks.
  public class var current: OperationQueue? {
    var frame = LaunchFrame.current
    var isInFork = false
    while let here = frame, here.pointee.operation != 0 || here.pointee.isFork {
      if here.pointee.isFork {
        isInFork = true
      } else if here.pointee.queue != 0, here.pointee.isOfThisTask(inFork: isInFork) {
        return unmanaged(here.pointee.queue).takeUnretainedValue()
      }
      // The operation was started by hand: the operation that started it counts. In a fork, the operation that made it.
      frame = here.pointee.previous
    }
    if frame != nil { return nil }
    return MainQueueHook.currentOnMainThread
  }
}
