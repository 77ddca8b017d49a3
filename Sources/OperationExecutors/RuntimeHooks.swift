import CPlatform
import OperationJobs

// Swift 6.3 has the executor object and its factory under SPI. A later version may have another form of them: there
// nothing is set, until somebody has looked.
#if compiler(<6.4)
  @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency
#endif

/// The places where Swift's runtime hands over a job that belongs to no executor in particular: three hooks, and the
/// object that `Task.yield()` asks.
package enum RuntimeHooks {
  /// Two zero words are the runtime's own name of "any executor". A task that runs there takes an actor over in place.
  package static var anyExecutor: UnownedSerialExecutor {
    unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
  }

  /// Both are one word, the address of the job.
  package static func job(at address: UnsafeMutableRawPointer) -> UnownedJob {
    unsafeBitCast(address, to: UnownedJob.self)
  }

  package static func address(of job: UnownedJob) -> UnsafeMutableRawPointer {
    unsafeBitCast(job, to: UnsafeMutableRawPointer.self)
  }

  /// Lets a test take jobs, on whatever executor they would run otherwise. To be called before other threads use
  /// tasks: the runtime reads its executors without a lock.
  /// - Parameter claimMain: takes each job of the main actor.
  package static func claimTasks(
    _ claim: @escaping cplatform_task_claim, main claimMain: @escaping @Sendable (UnownedJob) -> Void
  ) -> Bool {
    guard areKnown, isFree, cplatform_claim_tasks(claim) == cplatform_hook_set else { return false }
    takesMainActor = claimMain
    takeExecutor()
    return true
  }

  /// Written once, before other threads use tasks.
  nonisolated(unsafe) fileprivate private(set) static var takesMainActor: (@Sendable (UnownedJob) -> Void)?

  /// Whether this version of Swift has what is set here.
  static var areKnown: Bool {
    #if compiler(<6.4)
      true
    #else
      false
    #endif
  }

  /// Whether nobody else has set an executor.
  static var isFree: Bool {
    #if compiler(<6.4)
      let now = Task.defaultExecutor as AnyObject
      return now === HookedExecutor.platform as AnyObject || now === HookedExecutor.shared
    #else
      return false
    #endif
  }

  /// `Task.yield()` asks for the executor as an object, and no hook.
  static func takeExecutor() {
    #if compiler(<6.4)
      if Task.defaultExecutor as AnyObject !== HookedExecutor.shared { _createExecutors(factory: HookedExecutors.self) }
    #endif
  }
}

#if compiler(<6.4)
  private struct HookedExecutors: ExecutorFactory {
    static var mainExecutor: any MainExecutor {
      RuntimeHooks.takesMainActor.map { ClaimedMainExecutor(claim: $0) } ?? PlatformExecutorFactory.mainExecutor
    }
    static var defaultExecutor: any TaskExecutor { HookedExecutor.shared }
  }

  /// Hands jobs to a test, and else does what the system's main executor does. No hook is asked for these jobs.
  private final class ClaimedMainExecutor: MainExecutor {
    private let platform = PlatformExecutorFactory.mainExecutor
    private let claim: @Sendable (UnownedJob) -> Void

    init(claim: @escaping @Sendable (UnownedJob) -> Void) { self.claim = claim }

    func enqueue(_ job: consuming ExecutorJob) { claim(UnownedJob(job)) }
    func run() throws { try platform.run() }
    func runUntil(_ condition: () -> Bool) throws { try platform.runUntil(condition) }
    func stop() { platform.stop() }
    func checkIsolated() { platform.checkIsolated() }
    func isIsolatingCurrentContext() -> Bool? { platform.isIsolatingCurrentContext() }
  }

  /// Does what the hooks do, and else what the system's executor does.
  private final class HookedExecutor: TaskExecutor, SchedulingExecutor {
    static let shared = HookedExecutor()
    static let platform = PlatformExecutorFactory.defaultExecutor

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      if !cplatform_hand_over(RuntimeHooks.address(of: job)) { Self.platform.enqueue(job) }
    }

    // `Task.sleep` asks the executor, if it can do this, and no hook.

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
      let job = UnownedJob(job)
      if Self.handsOver(job, after: delay, on: clock) { return }
      Self.scheduling.enqueue(ExecutorJob(job), after: delay, tolerance: tolerance, clock: clock)
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
      let job = UnownedJob(job)
      if Self.handsOver(job, after: clock.now.duration(to: instant), on: clock) { return }
      Self.scheduling.enqueue(ExecutorJob(job), at: instant, tolerance: tolerance, clock: clock)
    }

    private static func handsOver<C: Clock>(_ job: UnownedJob, after delay: C.Duration, on clock: C) -> Bool {
      guard let delay = delay as? Duration, clock is ContinuousClock || clock is SuspendingClock else { return false }
      return cplatform_hand_over_later(RuntimeHooks.address(of: job), delay.nanosecondsUp, clock is ContinuousClock)
    }

    private static var scheduling: any SchedulingExecutor {
      guard let scheduling = platform as? any SchedulingExecutor else {
        fatalError("Operations: the system's default executor cannot let a task sleep")
      }
      return scheduling
    }
  }
#endif
