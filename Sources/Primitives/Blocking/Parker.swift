import Synchronization

/// A one-token semaphore for one sleeping thread: `unpark` leaves a token; `park` takes the token, or sleeps until
/// there is one.
///
/// 0 empty, 1 token, 2 asleep. Only the owner calls `park`; any thread may call `unpark`. The releasing exchange of
/// `unpark` publishes to the acquiring exchange of `park`. Tokens do not add up.
package struct Parker: ~Copyable, Sendable {
  private let word = Atomic<UInt32>(0)

  package init() {}

  /// Sleeps until a token is there, and takes the token.
  /// - Returns: false when `timeoutNanoseconds` (negative: for ever) passed without a token.
  @discardableResult
  package borrowing func park(timeoutNanoseconds: Int64 = -1) -> Bool {
    if word.compareExchange(expected: 1, desired: 0, ordering: .acquiring).exchanged { return true }
    guard word.compareExchange(expected: 0, desired: 2, ordering: .acquiring).exchanged else {
      return word.exchange(0, ordering: .acquiring) == 1
    }
    while true {
      let inTime = word.futexWait(while: 2, timeoutNanoseconds: timeoutNanoseconds)
      if word.compareExchange(expected: 1, desired: 0, ordering: .acquiring).exchanged { return true }
      if !inTime {
        // The token may have come between the time-out and now: the exchange tells whether it has.
        return word.exchange(0, ordering: .acquiring) == 1
      }
    }
  }

  package borrowing func unpark() {
    if word.exchange(1, ordering: .releasing) == 2 { word.futexWake(1) }
  }
}
