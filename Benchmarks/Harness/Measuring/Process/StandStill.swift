/// Notices when this process stood still: stopped by a signal, frozen, or long without a CPU. Whatever it times
/// meanwhile probably stood still too, and the clock went on.
///
/// Whoever waits looks at the clock at least once an interval. A look that comes far too late shows the gap.
package struct StandStill: Sendable {
  /// The longest wait between two looks, in nanoseconds.
  package static let interval: UInt64 = 100_000_000
  /// A longer time between two looks is a gap. The kernel of a busy machine lets a process that was woken wait for tens
  /// of milliseconds.
  package static let longest: UInt64 = 300_000_000

  private var last: UInt64
  /// The sum of the gaps, in nanoseconds.
  package private(set) var nanoseconds: UInt64 = 0

  package init(since now: UInt64) { last = now }

  /// Forgets the time since the last look, in which nothing was waited for.
  package mutating func begin(_ now: UInt64) { last = now }

  /// Looks at the clock. Gives the nanoseconds that are nobody's; 0 when the look is in time.
  /// - Parameter isStopped: whether what is waited for is stopped, so that all time since the last look is a gap.
  package mutating func look(_ now: UInt64, isStopped: Bool = false) -> UInt64 {
    let passed = now > last ? now - last : 0
    last = now
    guard passed > Self.longest || isStopped else { return 0 }
    nanoseconds += passed
    return passed
  }
}
