import Glibc

/// When the requests of an open loop are meant to start, all of them decided before the first is sent: a request that
/// is late because the one before was slow still counts from its intended start.
public struct ArrivalSchedule: Sendable {
  public enum Spacing: String, Sendable {
    case fixed, exponential
  }

  /// Nanoseconds from the beginning, in ascending order.
  public let offsets: [UInt64]

  /// `interval` is the mean distance in nanoseconds; with `exponential` the arrivals are a Poisson process.
  public init(count: Int, interval: Double, spacing: Spacing, seed: UInt64) {
    var random = SeededGenerator(seed: seed, purpose: "arrivals")
    var time = 0.0
    offsets = (0..<count).map { _ in
      switch spacing {
      case .fixed: time += interval
      case .exponential: time -= log(1 - Double.random(in: 0..<1, using: &random)) * interval
      }
      return UInt64(time)
    }
  }
}

/// Waits for a moment without being late for it.
public enum Pacer {
  /// What a sleeping thread may oversleep.
  private static let slack: UInt64 = 100_000

  /// Returns at `time`, or at once when that has passed: sleeps while it is far, and spins the rest.
  @inline(__always)
  public static func wait(until time: UInt64) {
    if Clock.now() + 2 * slack < time { sleep(until: time - slack) }
    while Clock.now() < time {}
  }

  /// Has the kernel wake the main thread when it asked to be woken, and not up to 50 us later. Where that is not allowed
  /// nothing changes.
  public static func sharpen() {
    let file = open("/proc/self/timerslack_ns", O_WRONLY)
    guard file >= 0 else { return }
    _ = write(file, "1", 1)
    close(file)
  }

  /// Gives the CPU away until `time`, and may be late.
  public static func sleep(until time: UInt64) {
    var moment = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nil) == EINTR {}
  }

  public static func sleep(nanoseconds: UInt64) { sleep(until: Clock.now() + nanoseconds) }
}
