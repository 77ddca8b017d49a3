import Primitives

// What concerns all operations of a queue at once.

extension OperationQueue {
  final func snapshot() -> [Operation] {
    var found: [Operation] = []
    registry.visitPending { found.append($0) }
    return found
  }

  final func cancelAll() {
    // First the list: whoever claims one of them after the instant skips it, and it may be gone before its cancel() was
    // called, were it not held here.
    let bound = registry.addedCount
    var concerned: [Operation] = []
    registry.visitPending(below: bound, waitForStores: true) { concerned.append($0) }
    // The instant. Then the flag on each, so that none starts after this has returned; and only then the overridable
    // cancel(), which releases what waits for dependencies.
    registry.cancelAll(below: bound)
    for operation in concerned { operation.flagCancelled() }
    var batch = ReadyBatch()
    for (place, operation) in concerned.enumerated() {
      if operation.isPlain {
        operation.markCancelled(into: &batch)
      } else {
        batch.flush(frame: nil)
        operation.cancel()
      }
      // The workers begin while this thread goes on.
      if place % Self.cancelledTogether == Self.cancelledTogether - 1 { batch.flush(frame: nil) }
    }
    batch.submit()
  }

  /// Operations that `cancelAll` hands over at once.
  private static var cancelledTogether: Int { 64 }

  final func waitForAll() {
    if LaunchFrame.isRunning(operationOf: self) {
      misuse(self, "waitUntilAllOperationsAreFinished() in an operation of the same queue would wait for itself")
    }
    ReadyBatch.handOverPending()
    if LaunchFrame.current != nil { helpWithAll() } else { sleepThroughAll() }
  }

  /// In an operation of another queue: this thread helps, in the order in which they would start.
  private final func helpWithAll() {
    while registry.pendingCount > 0 {
      let pending = snapshot()
      for operation in pending { operation.waitHere() }
      if pending.isEmpty { Spin.untilNextLook() }
    }
  }

  /// Waits for the newest first: when it has finished, most others have, and this thread was woken once. One reference at a
  /// time: a list of all of them would make this thread write to the memory of each while the workers do.
  private final func sleepThroughAll() {
    while registry.pendingCount > 0 {
      var bound = Int.max
      while let (operation, sequence) = registry.newestPending(below: bound) {
        operation.waitHere()
        bound = sequence
      }
      if bound == .max { Spin.untilNextLook() }
    }
  }

  /// The queue whose operation the calling thread is running; the main queue on the main thread; nil elsewhere, also in
  /// completion blocks.
  public class var current: OperationQueue? {
    var frame = LaunchFrame.current
    while let here = frame, here.pointee.operation != 0 {
      if here.pointee.queue != 0 { return unmanaged(here.pointee.queue).takeUnretainedValue() }
      // Started by hand: what counts is the operation that did it.
      frame = here.pointee.previous
    }
    if frame != nil { return nil }
    return MainQueueHook.currentOnMainThread
  }
}
