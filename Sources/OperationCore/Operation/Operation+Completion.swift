import Primitives
import Synchronization

// The completion block: set until the epilogue takes it, then run once and gone.

extension Operation {
  final var completion: (@Sendable () -> Void)? {
    get { lock.withLock { extrasIfAny?.pointee.completionBlock } }
    set {
      // What is replaced is released outside of the lock: that may run code which asks this operation something.
      let old = lock.withLock { () -> (@Sendable () -> Void)? in
        guard newValue != nil || extrasIfAny != nil else { return nil }
        let old = exchange(&extras.completionBlock, with: newValue)
        // The finish is a change of the same word: it has not come, and will look for the block; or nobody will.
        if raise(StateWord.hasEpilogue).has(StateWord.finished) { return exchange(&extras.completionBlock, with: old) }
        return old
      }
      withExtendedLifetime(old) {}
      if stateNow.has(StateWord.observed) { notify(.completionBlock) }
    }
  }

  final func takeCompletionBlock() -> (@Sendable () -> Void)? {
    // Whoever set one made the side object before it raised a flag that the finish saw.
    guard extrasWord.load(ordering: .acquiring) != 0 else { return nil }
    return lock.withLock {
      defer { extrasIfAny?.pointee.completionBlock = nil }
      return extrasIfAny?.pointee.completionBlock
    }
  }
}
