import Primitives
import Synchronization

// The completion block: set until the epilogue takes it, then run once and gone.

extension Operation {
  final var completion: (@Sendable () -> Void)? {
    get {
      guard let block = lock.withLock({ extrasIfAny?.pointee.completionBlock }) else { return nil }
      return block.run
    }
    set {
      let block = StoredBlock(newValue)
      // What is replaced is released outside of the lock: that may run code which asks this operation something.
      let old = lock.withLock { () -> StoredBlock? in
        guard block != nil || extrasIfAny != nil else { return nil }
        let old = exchange(&extras.completionBlock, with: block)
        // The finish is a change of the same word: it has not come, and will look for the block; or nobody will.
        if raise(StateWord.hasEpilogue).has(StateWord.finished) { return exchange(&extras.completionBlock, with: old) }
        return old
      }
      withExtendedLifetime(old) {}
      if stateNow.has(StateWord.observed) { notify(.completionBlock) }
    }
  }

  final func takeCompletionBlock() -> StoredBlock? {
    // Whoever set one made the side object before it raised a flag that the finish saw.
    guard extrasWord.load(ordering: .acquiring) != 0 else { return nil }
    return lock.withLock { exchange(&extras.completionBlock, with: nil) }
  }
}
