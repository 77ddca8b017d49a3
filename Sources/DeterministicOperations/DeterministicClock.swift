import OperationCore
import OperationExecutors
import Primitives

/// The virtual time of a `DeterministicBackend`. The time begins at 0, and goes on from event to event.
///
/// A task that sleeps on the clock lets the backend run, as a thread that waits does. The task itself goes on where its
/// executor has it: the body of a test and of an operation on the backend, in the order of the seed. Another task goes
/// on beside the backend: what it does then is ordered by the seed only as long as nothing else waits.
///
/// ```swift
/// import DeterministicOperations
///
/// let backend = DeterministicBackend(seed: 1, runsByItself: false)
/// let start = backend.clock.now
/// backend.advance(by: .seconds(60))
/// print(start.duration(to: backend.clock.now))  // 60.0 seconds
/// backend.shutdown()
/// ```
public struct DeterministicClock: Clock {
  /// An instant of virtual time.
  public struct Instant: InstantProtocol {
    /// The time since the backend was made.
    public let offset: Duration

    /// An instant so long after the backend was made.
    public init(offset: Duration) { self.offset = offset }

    /// The instant so much later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// How much later the other instant is.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let driver: Driver

  init(_ driver: Driver) { self.driver = driver }

  /// The virtual time.
  public var now: Instant { Instant(offset: .nanoseconds(driver.now(after: 0))) }

  /// One nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Sleeps until the clock shows `deadline`. The tolerance changes nothing: the clock is exact.
  ///
  /// Throws `CancellationError` when the task is cancelled, or the backend is shut down.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let sleep = SleepingTask()
    let time = deadline.wholeNanoseconds
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let waiter = Waiter(
          .time(time), isInJob: driver.isInBody,
          resume: { isCancelled in
            if isCancelled { continuation.resume(throwing: CancellationError()) } else { continuation.resume() }
          })
        guard driver.enterTask(waiter) else { return continuation.resume(throwing: CancellationError()) }
        if sleep.begins(waiter) { driver.cancelTask(waiter) }
      }
    } onCancel: {
      if let waiter = sleep.isCancelled() { driver.cancelTask(waiter) }
    }
  }
}

extension DeterministicClock.Instant {
  /// The first whole nanosecond that is not before the instant: who sleeps until an instant does not wake before it.
  fileprivate var wholeNanoseconds: Int64 {
    let whole = max(0, offset.wholeNanoseconds)
    return whole < .max && .nanoseconds(whole) < offset ? whole + 1 : whole
  }
}

extension DeterministicClock: AlarmingClock {
  /// The driver calls, as it lets tasks go on that sleep. A backend that has been shut down never calls.
  package func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let waiter = Waiter(
      .time(instant.wholeNanoseconds), isInJob: driver.isInJob,
      resume: { isCancelled in if !isCancelled { body() } })
    guard driver.enterTask(waiter) else { return {} }
    return { [driver] in driver.cancelTask(waiter) }
  }
}

/// Whether a task that sleeps was cancelled, whatever comes first.
private final class SleepingTask: Sendable {
  private let locked = Locked<(waiter: Waiter?, isCancelled: Bool)>((nil, false))

  /// - Returns: whether the task was cancelled already.
  func begins(_ waiter: Waiter) -> Bool {
    locked.withLock {
      locked.state.waiter = waiter
      return locked.state.isCancelled
    }
  }

  /// - Returns: the waiter, when the task sleeps already.
  func isCancelled() -> Waiter? {
    locked.withLock {
      locked.state.isCancelled = true
      return locked.state.waiter
    }
  }
}
