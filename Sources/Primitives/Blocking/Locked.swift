import Synchronization

/// A lock, and the state that the lock guards, side by side in memory of their own at a stable address.
///
/// The memory begins at a cache line and shares none. Else what happens to be allocated beside decides what lies in the
/// lock's line, and so how fast a pool is.
///
/// This type is used instead of `Synchronization.Mutex` for two reasons. `Mutex` is a priority-inheritance futex, which
/// collapses under contention. And a function here may give the lock up that its caller took: jobs are submitted, and
/// threads woken, behind the last access and not under the lock. A closure cannot say that.
///
/// A debug build checks at every access that somebody holds the lock.
@usableFromInline
package struct Locked<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Sendable: the pointers never change, and the state behind `pointer` is touched under `mutex`.

  #if SANITIZE_THREAD
    // The sanitizer takes a change of the state for a change of this structure's first byte. So nobody may read that
    // byte. A structure that holds an atomic is never read as a whole.
    private let firstByte = Atomic<UInt>(0)
  #endif
  @usableFromInline let mutex: UnsafeMutablePointer<FutexLock>
  @usableFromInline let pointer: UnsafeMutablePointer<State>

  package init(_ state: consuming State) {
    let offset = max(MemoryLayout<FutexLock>.stride, MemoryLayout<State>.alignment)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: CacheLine.rounded(offset + MemoryLayout<State>.size), alignment: CacheLine.bytes)
    mutex = memory.bindMemory(to: FutexLock.self, capacity: 1)
    mutex.initialize(to: FutexLock())
    pointer = (memory + offset).bindMemory(to: State.self, capacity: 1)
    pointer.initialize(to: state)
  }

  deinit {
    pointer.deinitialize(count: 1)
    mutex.deinitialize(count: 1)
    UnsafeMutableRawPointer(mutex).deallocate()
  }

  @inlinable @inline(__always) package borrowing func lock() { mutex.pointee.lock() }
  @inlinable @inline(__always) package borrowing func unlock() { mutex.pointee.unlock() }

  /// Whether some thread holds the lock at this moment: for assertions.
  @inlinable package var isHeld: Bool { mutex.pointee.isHeld }

  @inlinable @inline(__always)
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.pointee.withLock(body)
  }

  /// The guarded state. The calling thread holds the lock.
  @inlinable package var state: State {
    @inline(__always) unsafeAddress {
      assert(mutex.pointee.isHeld, "state that a lock guards was touched without the lock")
      return UnsafePointer(pointer)
    }
    @inline(__always) nonmutating unsafeMutableAddress {
      assert(mutex.pointee.isHeld, "state that a lock guards was touched without the lock")
      return pointer
    }
  }
}
