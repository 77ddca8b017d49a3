import Primitives
import Synchronization

// The completion block: set until the epilogue takes it, then run once and released. `README.md` here has the
// protocol.

extension Operation {
  final var completion: (@Sendable () -> Void)? {
    lock.withLock { extrasIfAny?.pointee.completionBlock ?? .none }.run
  }

  final func setCompletion(_ block: consuming (@Sendable () -> Void)?) { set(CompletionBlock(run: consume block)) }

  /// Sets or removes the block. The first block of an operation that nobody has added yet is set without the lock, and
  /// makes no side object.
  private final func set(_ block: consuming CompletionBlock) {
    guard !block.isNone, extrasWord.load(ordering: .relaxed) == 0, stateNow.mayTakeFirstCompletion else {
      return replaceCompletion(consume block)
    }
    let place = SpareChunks.take().assumingMemoryBound(to: CompletionBlock.self)
    place.initialize(to: consume block)
    let word = UInt(bitPattern: place) | ExtrasMark.completionAlone
    guard replaceExtras(0, with: word) else { return replaceCompletion(ExtrasMark.takeCompletion(word)) }
    // The finish is a change of the same word. If the finish has not come, it will look for the block. If the finish
    // has come, the block goes unrun, unless somebody has taken it. Another block may stand there: that one stays.
    if raise(StateWord.hasEpilogue).has(StateWord.finished), replaceExtras(word, with: 0) {
      _ = ExtrasMark.takeCompletion(word)
    }
  }

  /// Sets or removes the block under the lock, and tells observers.
  @inline(never)
  private final func replaceCompletion(_ newBlock: CompletionBlock) {
    var block = newBlock
    // Locked and exchanged by hand: a closure that captures the block would take a reference.
    lock.lock()
    guard !block.isNone || extrasIfAny != nil else { return lock.unlock() }
    swap(&extrasPlace.pointee.completionBlock, &block)
    // The finish is a change of the same word. If the finish has not come, it will look for the block; if the finish
    // has come, nobody will.
    if raise(StateWord.hasEpilogue).has(StateWord.finished) { swap(&extrasPlace.pointee.completionBlock, &block) }
    let observers =
      stateNow.has(StateWord.observed)
      ? extrasPlace.pointee.observers.enqueue(.completionBlock) { ObservedValue(value: newBlock.run) } : []
    lock.unlock()
    // The replaced block is released outside of the lock, because the release may run code that asks this operation
    // something.
    block = .none
    deliver(observers)
  }

  final func takeCompletionBlock() -> CompletionBlock {
    // A thread that set a block changed this word before it raised a flag, and the finish saw that flag.
    extrasWord.load(ordering: .acquiring) == 0 ? .none : takeStoredCompletionBlock()
  }

  /// Not inlined: most operations with an epilogue have dependencies alone.
  @inline(never)
  private final func takeStoredCompletionBlock() -> CompletionBlock {
    let word = extrasWord.load(ordering: .acquiring)
    guard word & ExtrasMark.completionAlone != 0, replaceExtras(word, with: 0) else {
      return lock.withLock { extrasIfAny.map { exchange(&$0.pointee.completionBlock, with: .none) } ?? .none }
    }
    return ExtrasMark.takeCompletion(word)
  }
}
