/// A lock, and the state that the lock guards, in memory of its own at a stable address.
///
/// This type is used instead of `Synchronization.Mutex` for two reasons. `Mutex` is a priority-inheritance futex, which
/// collapses under contention. And a function here may give the lock up that its caller took: jobs are submitted, and
/// threads woken, behind the last access and not under the lock. A closure cannot say that.
///
/// A debug build checks at every access that somebody holds the lock.
@usableFromInline
package struct Locked<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Sendable: the pointer never changes, and the state behind it is touched under `mutex`.
  @usableFromInline let mutex = FutexLock()
  @usableFromInline let pointer: UnsafeMutablePointer<State>

  package init(_ state: consuming State) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: state)
  }

  deinit {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }

  @inlinable @inline(__always) package borrowing func lock() { mutex.lock() }
  @inlinable @inline(__always) package borrowing func unlock() { mutex.unlock() }

  /// Whether some thread holds the lock at this moment: for assertions.
  @inlinable package var isHeld: Bool { mutex.isHeld }

  @inlinable @inline(__always)
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.withLock(body)
  }

  /// The guarded state. The calling thread holds the lock.
  @inlinable package var state: State {
    @inline(__always) unsafeAddress {
      assert(mutex.isHeld, "state that a lock guards was touched without the lock")
      return UnsafePointer(pointer)
    }
    @inline(__always) nonmutating unsafeMutableAddress {
      assert(mutex.isHeld, "state that a lock guards was touched without the lock")
      return pointer
    }
  }
}
