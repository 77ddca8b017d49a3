import CPlatform
import Synchronization

extension Atomic where Value == UInt32 {
  /// Sleeps while the word equals `expected`. The call may return spuriously, so callers re-check.
  /// - Returns: false when `timeoutNanoseconds` (negative: for ever) passed.
  @discardableResult
  package borrowing func futexWait(while expected: UInt32, timeoutNanoseconds: Int64 = -1) -> Bool {
    withUnsafePointer(to: self) { pointer in
      cplatform_futex_wait(
        UnsafeMutableRawPointer(mutating: UnsafeRawPointer(pointer)).assumingMemoryBound(to: UInt32.self), expected,
        timeoutNanoseconds) == 0
    }
  }

  /// Wakes up to `count` threads that sleep on the word.
  package borrowing func futexWake(_ count: Int32) {
    withUnsafePointer(to: self) { pointer in
      cplatform_futex_wake(
        UnsafeMutableRawPointer(mutating: UnsafeRawPointer(pointer)).assumingMemoryBound(to: UInt32.self), count)
    }
  }
}
