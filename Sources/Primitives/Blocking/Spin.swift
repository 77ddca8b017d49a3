import CPlatform

/// How long a thread spins before it asks the kernel to sleep. A futex sleep and wake cost about 25 microseconds
/// together, a `pause` 10 to 65 nanoseconds.
package enum Spin {
  /// About two microseconds: longer than any critical section of this library when its holder is running.
  @usableFromInline static let lockRounds = 60

  /// How long a thread that found no job goes on looking before it sleeps. `Patience.Times()` is what the pools do.
  /// `docs/decisions/2026-11-22-how-long-a-thread-spins.md` has the trials.
  ///
  /// Looks for a job again and again, about every hundred nanoseconds, and at least once.
  /// - Parameters:
  ///   - look: returns a job, or 0.
  ///   - goesOn: called when the short time is over: whether to look for the long time.
  /// - Returns: the first job that was found; 0 when the time was over before a job was found.
  @inline(__always)
  package static func search(
    _ times: Patience.Times = .init(), _ look: () -> UInt, goesOn: () -> Bool = { false }
  ) -> UInt {
    let start = cplatform_now_ns()
    var duration = times.short
    while true {
      if times.yields {
        cplatform_yield()
      } else {
        cplatform_pause()
        cplatform_pause()
      }
      if case let job = look(), job != 0 { return job }
      guard cplatform_now_ns() &- start >= duration else { continue }
      guard duration == times.short, goesOn() else { return 0 }
      duration = times.long
    }
  }

  /// One pause between two looks at something that another thread is about to change.
  package static func untilNextLook() { cplatform_yield() }

  /// Spins until `done` holds, at first on the processor, then by giving the processor away. For waits that end
  /// within a few instructions of another thread, unless that thread was preempted.
  package static func until(_ done: () -> Bool) {
    var round = 0
    while !done() {
      if round < lockRounds { cplatform_pause() } else { cplatform_yield() }
      round += 1
    }
  }
}
