import CPlatform
import Synchronization

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

  /// How often a waiting thread gives the processor away before it sleeps between two looks.
  private static let yields = 32
  /// The sleeps between two looks, in nanoseconds: the first, and the longest after doubling.
  private static let firstSleep: Int64 = 20_000
  private static let longestSleep: Int64 = 1_000_000

  /// Waits a little between two looks at something that another thread is about to change: by giving the processor
  /// away, and after some rounds by sleeping. Giving the processor away is not enough under a real-time policy: the
  /// kernel gives it to threads of the same or a higher priority only, and the other thread may have a lower one.
  /// - Parameter round: how many looks in a row have found no change. The call counts.
  package static func untilNextLook(_ round: inout Int) {
    if round < yields { cplatform_yield() } else { sleep(doublings: round - yields) }
    round += 1
  }

  @inline(never)
  private static func sleep(doublings: Int) {
    let word = Atomic<UInt32>(0)
    word.futexWait(while: 0, timeoutNanoseconds: min(firstSleep << Int64(min(doublings, 16)), longestSleep))
  }

  /// Spins until `done` holds, at first on the processor, then as `untilNextLook` does. For waits that end within a few
  /// instructions of another thread, unless that thread was preempted.
  package static func until(_ done: () -> Bool) {
    for _ in 0..<lockRounds {
      if done() { return }
      cplatform_pause()
    }
    var round = 0
    while !done() { untilNextLook(&round) }
  }
}
