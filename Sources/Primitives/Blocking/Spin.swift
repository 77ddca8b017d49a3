import CPlatform

/// How long a thread spins before it asks the kernel to sleep. A futex sleep and wake cost about 25 microseconds
/// together, a `pause` 10 to 50 nanoseconds.
package enum Spin {
  /// About two microseconds: longer than any critical section of this library when its holder is running.
  @usableFromInline static let lockRounds = 60

  /// Spins until `done` holds, at first on the processor, then by giving it away: for waits that end within a few
  /// instructions of another thread, unless that thread was preempted.
  /// Waits a little on the processor: 10 to 50 nanoseconds a round.
  package static func pause(_ rounds: Int) {
    for _ in 0..<rounds { cplatform_pause() }
  }

  /// One pause between two looks at something that another thread is about to change.
  package static func untilNextLook() { cplatform_yield() }

  package static func until(_ done: () -> Bool) {
    var round = 0
    while !done() {
      if round < lockRounds { cplatform_pause() } else { cplatform_yield() }
      round += 1
    }
  }
}
