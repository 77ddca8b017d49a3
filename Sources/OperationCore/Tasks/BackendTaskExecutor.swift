/// Runs tasks on a backend: for `Task(executorPreference:)` and `withTaskExecutorPreference(_:)`.
///
/// ```swift
/// import Operations
///
/// func answer() async -> Int {
///   let executor = StealingBackend.shared.taskExecutor
///   return await Task(executorPreference: executor) { 6 * 7 }.value
/// }
/// ```
///
/// A task with this preference runs on the backend's threads, and so do its child tasks and the actors without an executor
/// of their own that it calls. Handing over a job of a task allocates nothing once memory for it has been used before. A
/// job has the level of its task's priority, as `qualityOfService` chooses one: user-interactive very high, high and
/// user-initiated high, medium normal, low and utility low, background very low. The runtime does not tell an executor that
/// the priority of a job rose that waits already.
///
/// The executor holds the backend. A job that comes after the backend's `shutdown()` traps, as any other job does.
public final class BackendTaskExecutor: TaskExecutor {
  private let owner: any Backend

  init(_ backend: any Backend) { owner = backend }

  /// Hands a job of a task to the backend. Swift's runtime calls this. O(1).
  public func enqueue(_ job: consuming ExecutorJob) {
    let level = Operation.QueuePriority(of: job.priority.rawValue).level
    TaskSlot.submit(TaskJob.make(UnownedJob(job), level: level, runner: self), to: owner)
  }
}

extension BackendTaskExecutor: TaskJobRunner {
  var backend: (any Backend)? { owner }

  func run(_ job: UnownedJob?) -> UInt {
    job?.runSynchronously(on: asUnownedTaskExecutor())
    return 0
  }
}

extension Backend {
  /// An executor that runs tasks on this backend. Each call makes one: one allocation.
  public var taskExecutor: BackendTaskExecutor { BackendTaskExecutor(self) }

  /// A new executor that runs jobs of actors on this backend, one at a time.
  public func serialExecutor() -> BackendSerialExecutor { BackendSerialExecutor(self) }
}

extension Operation.QueuePriority {
  /// The priority of a task, as `qualityOfService` chooses one: user-interactive very high, user-initiated high, utility low, background
  /// very low.
  init(of taskPriority: UInt8) {
    switch taskPriority {
    case ...TaskPriority.background.rawValue: self = .veryLow
    case ...TaskPriority.utility.rawValue: self = .low
    case ..<TaskPriority.userInitiated.rawValue: self = .normal
    case TaskPriority.userInitiated.rawValue: self = .high
    default: self = .veryHigh
    }
  }

  /// The other way round.
  var ofTask: TaskPriority {
    switch self {
    case .veryLow: .background
    case .low: .utility
    case .normal: .medium
    case .high: .userInitiated
    case .veryHigh: TaskPriority(rawValue: 33)
    }
  }
}
