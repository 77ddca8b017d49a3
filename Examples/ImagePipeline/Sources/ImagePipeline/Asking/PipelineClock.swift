import FoundationEssentials

/// The clock of a pipeline: waits, deadlines and ages. A test gives the clock of its deterministic backend, and nothing
/// waits.
public struct PipelineClock: Clock {
  /// Since the clock was made.
  public struct Instant: InstantProtocol {
    public let offset: Duration

    public init(offset: Duration) { self.offset = offset }
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let sinceStart: @Sendable () -> Duration
  private let sleepUntil: @Sendable (Duration, Duration?) async throws -> Void
  /// Seconds since 1970: the ages of files on disk outlive the program.
  let wallTime: @Sendable () -> Double

  /// - Parameters:
  ///   - clock: what measures and sleeps.
  ///   - wallTime: seconds since 1970.
  public init<C: Clock>(
    _ clock: C, wallTime: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 }
  ) where C.Duration == Duration {
    let start = clock.now
    sinceStart = { start.duration(to: clock.now) }
    sleepUntil = { try await clock.sleep(until: start.advanced(by: $0), tolerance: $1) }
    self.wallTime = wallTime
  }

  public static var continuous: PipelineClock { PipelineClock(ContinuousClock()) }

  public var now: Instant { Instant(offset: sinceStart()) }
  public var minimumResolution: Duration { .nanoseconds(1) }
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try await sleepUntil(deadline.offset, tolerance)
  }
}
