import Synchronization

/// How many operations have begun on a pool and go on after their `start()`, on whatever thread: such an operation is
/// work, also while no job of it is queued. So the pool is not over before it has ended.
///
/// The thread that launched the operation counts the beginning, when `start()` has returned without a finish. The
/// thread that finishes the operation counts the end, behind everything that the finish hands over. The two may come in
/// either order. As the first one is inside of a job of the pool, the difference is exact when no thread of the pool is
/// alive.
///
/// Two counts that only grow: most operations begin and end on different threads, so each has a cache line.
package struct BegunOperations: ~Copyable, @unchecked Sendable {
  // Sendable: the pointers never change, and what they point to are atomics.
  private let beginnings = PaddedPointer(Atomic<UInt>(0))
  private let ends = PaddedPointer(Atomic<UInt>(0))
  /// Whether somebody waits for an end.
  private let isAwaited = Atomic<Bool>(false)
  /// Changes with each end that somebody waits for: a futex.
  private let awaitedEnds = Atomic<UInt32>(0)

  package init() {}

  deinit {
    beginnings.deallocate()
    ends.deallocate()
  }

  package borrowing func begin() { beginnings.pointer.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent) }

  package borrowing func end() {
    ends.pointer.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    guard isAwaited.load(ordering: .sequentiallyConsistent) else { return }
    awaitedEnds.wrappingAdd(1, ordering: .sequentiallyConsistent)
    awaitedEnds.futexWake(.max)
  }

  /// May be below 0 for a moment: an operation may end before its beginning is counted.
  package var count: Int {
    let ended = ends.pointer.pointee.load(ordering: .sequentiallyConsistent)
    return Int(bitPattern: beginnings.pointer.pointee.load(ordering: .sequentiallyConsistent) &- ended)
  }

  package var isNone: Bool { count == 0 }

  /// Whether as many have ended as have begun, `isQuiet` holds then, and none has begun in between.
  borrowing func endsStay(_ isQuiet: () -> Bool) -> Bool {
    let begun = beginnings.pointer.pointee.load(ordering: .sequentiallyConsistent)
    return ends.pointer.pointee.load(ordering: .sequentiallyConsistent) == begun && isQuiet()
      && beginnings.pointer.pointee.load(ordering: .sequentiallyConsistent) == begun
  }

  /// Returns when an operation has ended, or none is left.
  /// - Returns: false when the time passed.
  borrowing func waitForAnEnd(nanoseconds: Int64) -> Bool {
    isAwaited.store(true, ordering: .sequentiallyConsistent)
    let before = awaitedEnds.load(ordering: .sequentiallyConsistent)
    if isNone { return true }
    return awaitedEnds.futexWait(while: before, timeoutNanoseconds: nanoseconds)
  }
}
