import CPlatform
import Synchronization

/// A mutual-exclusion lock in one 32-bit word: Drepper's three states ("Futexes are tricky", mutex 3).
///
/// 0 free, 1 held, 2 held and some thread may sleep. The acquiring exchange of `lock` sees what the releasing
/// exchange of `unlock` published. Not recursive, not fair; waiting threads spin shortly before they sleep. This lock
/// is used instead of `Synchronization.Mutex`, because `Mutex` is a priority-inheritance futex and collapses under
/// contention.
@usableFromInline
package struct FutexLock: ~Copyable, Sendable {
  @usableFromInline let word = Atomic<UInt32>(0)

  @inlinable package init() {}

  @inlinable package borrowing func lock() {
    if !word.compareExchange(expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed).exchanged
    {
      lockContended()
    }
  }

  /// - Returns: false when another thread holds the lock.
  @inlinable package borrowing func tryLock() -> Bool {
    word.compareExchange(expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed).exchanged
  }

  @inlinable package borrowing func unlock() {
    assert(isHeld, "a lock was given up that nobody holds")
    if word.exchange(0, ordering: .releasing) == 2 { wakeOne() }
  }

  /// Whether some thread holds the lock at this moment: for assertions.
  @inlinable package var isHeld: Bool { word.load(ordering: .relaxed) != 0 }

  /// For a thread that destroys what the lock protected: what was done under the lock comes before the destruction.
  /// No thread may hold the lock any more.
  @inlinable package borrowing func acquireLastUnlock() { _ = word.load(ordering: .acquiring) }

  @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }

  @usableFromInline borrowing func lockContended() {
    for _ in 0..<Spin.lockRounds {
      if word.load(ordering: .relaxed) == 0,
        word.compareExchange(expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed).exchanged
      {
        return
      }
      cplatform_pause()
    }
    while word.exchange(2, ordering: .acquiring) != 0 { word.futexWait(while: 2) }
  }

  @usableFromInline borrowing func wakeOne() { word.futexWake(1) }
}
