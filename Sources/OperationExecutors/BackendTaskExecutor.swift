import OperationJobs

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
/// A task with this preference runs on the backend's threads, and so do its child tasks and the actors without an
/// executor of their own that it calls. Handing over a job of a task allocates nothing once memory for it has been used
/// before. A job has the level of its task's priority, as `qualityOfService` chooses one: user-interactive very high,
/// high and user-initiated high, medium normal, low and utility low, background very low. The runtime does not tell an
/// executor that the priority of a job rose that waits already.
///
/// The executor holds the backend. A job that comes after the backend's `shutdown()` traps, as any other job does:
/// `shutdown()` waits for operations, and knows nothing of a task that is suspended.
public final class BackendTaskExecutor: TaskExecutor {
  private let backend: any Backend
  let home: BackendHome

  init(_ backend: any Backend) {
    self.backend = backend
    home = .of(backend)
    _ = ProgramDump.isOn
  }

  /// Hands a job of a task to the backend. Swift's runtime calls this. O(1).
  public func enqueue(_ job: consuming ExecutorJob) {
    let level = Job.level(ofTask: job.priority.rawValue)
    let host = DrivenBackends.host(ofTaskOn: backend)
    handOver(TaskJob.make(UnownedJob(job), level: level, runner: self, host: host))
  }
}

extension BackendTaskExecutor: TaskJobRunner {
  @usableFromInline package var homeNumber: UInt32 { home.number }

  @usableFromInline package func submit(_ job: Job) { backend.submit(job) }

  @usableFromInline package func run(_ job: UnownedJob?) -> UInt {
    TaskSlot.run(for: self) { job?.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

extension Backend {
  /// An executor that runs tasks on this backend. Each call makes one: one allocation.
  public var taskExecutor: BackendTaskExecutor { BackendTaskExecutor(self) }

  /// A new executor that runs jobs of actors on this backend, one at a time.
  public func serialExecutor() -> BackendSerialExecutor { BackendSerialExecutor(self) }
}

extension Job {
  /// The level of a task's priority, as `qualityOfService` chooses one: user-interactive very high, user-initiated
  /// high, utility low, background very low.
  package static func level(ofTask priority: UInt8) -> Int {
    // The raw values of background, utility and user-initiated. Their names are calls into the runtime.
    switch priority {
    case ...0x09: 0
    case ...0x11: 1
    case ..<0x19: middleLevel
    case 0x19: 3
    default: highestLevel
    }
  }

  /// The other way round.
  package static func taskPriority(ofLevel level: Int) -> TaskPriority {
    switch level {
    case 0: .background
    case 1: .utility
    case middleLevel: .medium
    case 3: .userInitiated
    default: TaskPriority(rawValue: 33)
    }
  }
}
