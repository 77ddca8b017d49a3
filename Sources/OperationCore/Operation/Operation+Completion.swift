import Primitives
import Synchronization

// The completion block: set until the epilogue takes it, then run once and released.

extension Operation {
  final var completion: (@Sendable () -> Void)? {
    get {
      guard let block = lock.withLock({ extrasIfAny?.pointee.completionBlock }) else { return nil }
      return block.run
    }
    set {
      var block = StoredBlock(newValue)
      // Locked and exchanged by hand: a closure that captures the block would take a reference.
      lock.lock()
      guard block != nil || extrasIfAny != nil else { return lock.unlock() }
      swap(&extrasPlace.pointee.completionBlock, &block)
      // The finish is a change of the same word. If the finish has not come, it will look for the block; if the finish has
      // come, nobody will.
      if raise(StateWord.hasEpilogue).has(StateWord.finished) { swap(&extrasPlace.pointee.completionBlock, &block) }
      let observers =
        stateNow.has(StateWord.observed)
        ? extrasPlace.pointee.observers.enqueue(.completionBlock) { ObservedValue(value: newValue) } : []
      lock.unlock()
      // The replaced block is released outside of the lock, because the release may run code that asks this operation
      // something.
      block = nil
      deliver(observers)
    }
  }

  final func takeCompletionBlock() -> StoredBlock? {
    // A thread that set a block made the side object before it raised a flag, and the finish saw that flag.
    extrasWord.load(ordering: .acquiring) == 0 ? nil : takeStoredCompletionBlock()
  }

  /// Not inlined: most operations with an epilogue have dependencies alone.
  @inline(never)
  private final func takeStoredCompletionBlock() -> StoredBlock? {
    lock.withLock { exchange(&extras.completionBlock, with: nil) }
  }
}
