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
      let block = StoredBlock(newValue)
      // The replaced block is released outside of the lock, because the release may run code that asks this operation
      // something.
      let old = lock.withLock { () -> StoredBlock? in
        guard block != nil || extrasIfAny != nil else { return nil }
        let old = exchange(&extras.completionBlock, with: block)
        // The finish is a change of the same word. If the finish has not come, it will look for the block; if the
        // finish has come, nobody will.
        if raise(StateWord.hasEpilogue).has(StateWord.finished) { return exchange(&extras.completionBlock, with: old) }
        return old
      }
      withExtendedLifetime(old) {}
      if stateNow.has(StateWord.observed) { notify(.completionBlock) }
    }
  }

  final func takeCompletionBlock() -> StoredBlock? {
    // A thread that set a block made the side object before it raised a flag, and the finish saw that flag.
    guard extrasWord.load(ordering: .acquiring) != 0 else { return nil }
    return lock.withLock { exchange(&extras.completionBlock, with: nil) }
  }
}
