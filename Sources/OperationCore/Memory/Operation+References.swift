import Primitives
import Synchronization

// Words that stand for an operation, and the references between an operation and its queue. An operation in a queue and
// its queue hold each other until the operation leaves.

extension Operation {
  /// The operation as a job's word.
  final var word: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  static func unmanaged(_ word: UInt) -> Unmanaged<Operation> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
  }

  /// A reference to the operation of a word that something else keeps alive at this moment. The function is never
  /// inlined: the optimizer may otherwise take the reference later than here, when nothing keeps the object alive any
  /// more.
  @inline(never)
  static func retained(_ word: UInt) -> Operation { unmanaged(word).takeUnretainedValue() }

  /// A reference to the operation's queue, taken now. To be called only where the operation cannot leave its queue
  /// meanwhile.
  @inline(never)
  final func retainedQueue() -> OperationQueue? {
    let word = queueWord.load(ordering: .acquiring)
    return word == 0 ? nil : OperationQueue.unmanaged(word).takeUnretainedValue()
  }

  /// Gives back the operation's reference to its queue. The caller gives back the queue's reference to the operation.
  final func leaveQueue() {
    assert(stateNow.mayLeave, "an operation leaves its queue that others may still touch")
    // `lockedQueue` reads `queueWord` under the same lock.
    let queue = lock.withLock { queueWord.exchange(0, ordering: .acquiringAndReleasing) }
    if queue != 0 { OperationQueue.unmanaged(queue).release() }
  }

  /// The operation's queue, for a thread that only holds the operation. Nil when the operation is in no queue, or has
  /// finished.
  final var owner: OperationQueue? {
    // The flag comes before the finish: from now on the operation leaves the long way, under the lock.
    raise(StateWord.queueWanted).has(StateWord.finished) ? nil : lockedQueue
  }

  /// The operation's queue, where the operation cannot have left or leaves only the long way. Nil when the operation
  /// has left.
  final var lockedQueue: OperationQueue? { lock.withLock { retainedQueue() } }
}
