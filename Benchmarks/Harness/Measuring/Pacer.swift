import Glibc

/// Waits until a moment, and is not late.
package enum Pacer {
  /// The most time, in nanoseconds, that a sleeping thread may oversleep.
  private static let slack: UInt64 = 100_000

  /// Returns at `time`, or at once when `time` has passed. The thread sleeps while `time` is far, and spins the rest.
  @inline(__always)
  package static func wait(until time: UInt64) {
    if Clock.now() + 2 * slack < time { sleep(until: time - slack) }
    while Clock.now() < time {}
  }

  /// Makes the kernel wake the main thread at the time that the thread asked for, and not up to 50 us later. Where the
  /// kernel does not allow this, nothing changes.
  package static func sharpen() {
    let file = open("/proc/self/timerslack_ns", O_WRONLY)
    guard file >= 0 else { return }
    _ = write(file, "1", 1)
    close(file)
  }

  /// Gives up the CPU until `time`. The thread may return late.
  package static func sleep(until time: UInt64) {
    var moment = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nil) == EINTR {}
  }

  package static func sleep(nanoseconds: UInt64) { sleep(until: Clock.now() + nanoseconds) }
}
