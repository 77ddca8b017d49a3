import OperationJobs
import Primitives
import Synchronization

/// Calls a closure when a clock shows an instant. What ends a computation must not queue behind computations, so no
/// thread of a backend, of Swift's or of Dispatch's has to be free for that.
///
/// | clock | who calls |
/// |---|---|
/// | `ContinuousClock`, `SuspendingClock` | a thread of the library's (`AlarmThread`), started with the first alarm |
/// | the same where they show the time of a driven backend | that backend, in the order of its seed |
/// | that of a driven backend (`AlarmingClock`) | the backend, in the order of its seed |
/// | any other | that thread, in a task that sleeps on the clock; on a driven backend a task of that backend |
package final class Alarm: @unchecked Sendable {
  // Sendable: `action` and `task` are touched under the lock, `retract` is written before the alarm is known, and
  // `entry` is touched under the lock of the thread.

  private let lock = FutexLock()
  /// Nil when it was called, and when it never will be.
  private var action: (@Sendable () -> Void)?
  /// Sleeps for a clock of others.
  private var task: Task<Void, Never>?
  private var retract: (@Sendable () -> Void)?
  var entry = AlarmHeap.Entry()

  private init(_ action: @escaping @Sendable () -> Void) { self.action = action }

  /// - Parameters:
  ///   - instant: one that has passed calls at once, on the thread that calls at others.
  ///   - tolerance: how much later the call may come.
  ///   - action: must be quick, and must not block. It may be called before this function returns.
  package static func set<C: Clock>(
    _ instant: C.Instant, on clock: C, tolerance: C.Duration?, _ action: @escaping @Sendable () -> Void
  ) -> Alarm {
    let alarm = Alarm(action)
    if clock is ContinuousClock || clock is SuspendingClock, let driven = DrivenBackends.here, driven.showsItsTime,
      let delay = clock.now.duration(to: instant) as? Duration
    {
      alarm.retract = driven.call(afterNanoseconds: max(0, delay.nanosecondsUp)) { alarm.goOff() }
    } else if clock is ContinuousClock, let instant = instant as? ContinuousClock.Instant {
      AlarmThread.shared.add(alarm, at: instant)
    } else if clock is SuspendingClock, let instant = instant as? SuspendingClock.Instant {
      AlarmThread.shared.add(alarm, at: instant)
    } else if let clock = clock as? any AlarmingClock {
      alarm.set(instant, on: clock)
    } else {
      // A driven backend lets no time pass before it has run the task: the sleep has begun by then.
      let driven = DrivenBackends.hereOrOfTest.map { BackendTaskExecutor($0) }
      let task = Task(executorPreference: driven ?? AlarmThread.shared as any TaskExecutor) {
        if (try? await clock.sleep(until: instant, tolerance: tolerance)) != nil { alarm.goOff() }
      }
      // Who cancels meanwhile finds no task.
      let isOver = alarm.lock.withLock {
        alarm.task = task
        return alarm.action == nil
      }
      if isOver { task.cancel() }
    }
    return alarm
  }

  /// Calls the closure when a time has passed. Nobody takes that call back.
  /// - Parameter countsSuspended: whether the time counts in which the system is suspended.
  static func set(
    afterNanoseconds delay: Int64, countsSuspended: Bool, _ action: @escaping @Sendable () -> Void
  ) {
    AlarmThread.shared.add(Alarm(action), afterNanoseconds: delay, countsSuspended: countsSuspended)
  }

  private func set<C: AlarmingClock>(_ instant: Any, on clock: C) {
    guard let instant = instant as? C.Instant else { return }
    retract = clock.call(at: instant) { [self] in goOff() }
  }

  /// Calls the closure, unless the alarm was cancelled.
  func goOff() {
    let action = lock.withLock {
      task = nil
      return self.action.take()
    }
    action?()
  }

  /// The closure is not called from now on. It may be under way.
  package func cancel() {
    let (action, task) = lock.withLock { (self.action.take(), self.task.take()) }
    guard action != nil else { return }
    task?.cancel()
    retract?()
    AlarmThread.shared.remove(self)
  }

  /// Sleeps as `Clock.sleep(until:tolerance:)` does. On the clocks of the system the end of the sleep waits for no
  /// thread but the one to which the task returns.
  package nonisolated(nonsending) static func sleep<C: Clock>(
    until instant: C.Instant, on clock: C, tolerance: C.Duration?
  ) async throws {
    guard clock is ContinuousClock || clock is SuspendingClock else {
      return try await clock.sleep(until: instant, tolerance: tolerance)
    }
    try Task.checkCancellation()
    let waiter = FinishWaiter(host: nil)
    let alarm = set(instant, on: clock, tolerance: tolerance) { waiter.end(isFinished: true) }
    let isOver = await withTaskCancellationHandler {
      await withUnsafeContinuation { waiter.wait($0) }
    } onCancel: {
      waiter.end(isFinished: false)
    }
    if isOver { return }
    alarm.cancel()
    throw CancellationError()
  }
}

/// A clock that calls closures itself.
package protocol AlarmingClock: Clock {
  /// Calls the closure when the clock shows the instant, without locks.
  /// - Returns: takes the call back. No effect when the closure was called.
  func call(at instant: Instant, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}
