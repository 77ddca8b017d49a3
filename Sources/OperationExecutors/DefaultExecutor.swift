import CPlatform
import OperationJobs
import Primitives
import Synchronization

/// Why a backend did not become the default executor. The program goes on with the executor that it had.
public enum DefaultExecutorError: Error, Hashable, CustomStringConvertible {
  /// This version of Swift's runtime has no place for another default executor.
  case isUnsupported
  /// Another package has set an executor: SwiftNIO, or a second copy of this library.
  case isTaken
  /// The system refuses the thread that ends sleeps.
  case lacksThread

  public var description: String {
    switch self {
    case .isUnsupported: "this version of Swift's runtime takes no other default executor"
    case .isTaken: "another package has already set the default executor of this process"
    case .lacksThread: "the system refuses the thread that ends the sleeps of tasks"
    }
  }
}

/// Runs the tasks of the process that prefer no executor, and the default actors that they call. `README.md` here has
/// the protocol.
private final class DefaultExecutor: TaskJobRunner {
  private static let isBegun = Atomic<Bool>(false)

  private let backend: any Backend
  private let home: BackendHome
  let homeNumber: UInt32

  private init(_ backend: any Backend) {
    self.backend = backend
    home = .of(backend)
    homeNumber = home.number
  }

  static func install(_ backend: any Backend) throws(DefaultExecutorError) {
    check(backend)
    guard RuntimeHooks.areKnown else { return try fail(.isUnsupported) }
    guard RuntimeHooks.isFree else { return try fail(.isTaken) }
    guard AlarmThread.shared.startNow() else { return try fail(.lacksThread) }
    // Never freed: the runtime counts no references.
    let new = Unmanaged.passRetained(DefaultExecutor(backend))
    let state = cplatform_set_default_executor(
      cplatform_default_executor(
        context: new.toOpaque(),
        enqueue: { context, job in executor(context)._withUnsafeGuaranteedRef { $0.enqueue(RuntimeHooks.job(at: job)) }
        },
        enqueue_after: { context, delay, countsSuspended, job in
          executor(context)._withUnsafeGuaranteedRef {
            $0.enqueue(RuntimeHooks.job(at: job), after: delay, countsSuspended: countsSuspended)
          }
        }))
    if state != cplatform_hook_set {
      new.release()
      return try fail(state == cplatform_hook_taken ? .isTaken : .isUnsupported)
    }
    RuntimeHooks.takeExecutor()
    if ProgramDump.isOn, let backend = backend as? any SupervisedBackend {
      ProgramDump.add { ["the default executor is \(backend.threadsInWords)"] }
    }
    new._withUnsafeGuaranteedRef { $0.home.isDefaultExecutor.store(true, ordering: .relaxed) }
    checkNoTaskWasMade()
  }

  private static func fail(_ error: DefaultExecutorError) throws(DefaultExecutorError) {
    isBegun.store(false, ordering: .sequentiallyConsistent)
    throw error
  }

  private static func check(_ backend: any Backend) {
    let subject = "the backend \"\(backend.name)\" cannot become the default executor"
    guard cplatform_is_main_thread() else {
      fatalError("Operations: \(subject) on this thread: the main thread does that, at the start of the program")
    }
    if backend.workerCount < 1 { fatalError("Operations: \(subject): it has no workers") }
    if backend is any DrivenBackend {
      fatalError("Operations: \(subject): it runs jobs only while somebody waits for them")
    }
    if isBegun.exchange(true, ordering: .sequentiallyConsistent) {
      fatalError("Operations: \(subject): the process has one already, and that one stays")
    }
  }

  /// The runtime numbers tasks, so a new one tells how many there were.
  private static func checkNoTaskWasMade() {
    let own: UInt64 = cplatform_runs_task() ? 1 : 0
    let task = Task.detached {}
    let number = withExtendedLifetime(task) {
      cplatform_task_number(unsafeBitCast(task, to: UnsafeMutableRawPointer.self))
    }
    guard number > own + 1 else { return }
    fatalError(
      "Operations: installAsDefaultExecutor() came too late: \(number - own - 1) tasks were made before. "
        + "Call it first in main()")
  }

  fileprivate func enqueue(_ job: UnownedJob) {
    handOver(TaskJob.make(job, level: Job.level(ofTask: job.priority.rawValue), runner: self))
  }

  fileprivate func enqueue(_ job: UnownedJob, after delay: Int64, countsSuspended: Bool) {
    if delay <= 0 { return enqueue(job) }
    Alarm.set(afterNanoseconds: delay, countsSuspended: countsSuspended) { self.enqueue(job) }
  }

  func submit(_ job: Job) { backend.submit(job) }

  func run(_ job: UnownedJob?) -> UInt {
    guard let job else { return 0 }
    if cplatform_is_task(RuntimeHooks.address(of: job)) {
      return TaskSlot.run(for: self) { job.runSynchronously(on: RuntimeHooks.anyExecutor) }
    }
    // The turn of an actor: the tasks that it runs may block, and may go on when their calls have ended.
    TaskSlot.without { job.runSynchronously(on: RuntimeHooks.anyExecutor) }
    return 0
  }
}

/// A function of its own, since a function pointer of C captures nothing.
private func executor(_ context: UnsafeMutableRawPointer) -> Unmanaged<DefaultExecutor> { .fromOpaque(context) }

extension Backend {
  /// Makes this backend the default executor of the process, until the process ends: where tasks run that prefer no
  /// executor, their child tasks, and the actors without an executor of their own. To be called once, at the start of
  /// the program, before any task is made:
  ///
  /// ```swift
  /// import Operations
  ///
  /// @main struct Server {
  ///   static func main() async throws {
  ///     try StealingBackend.shared.installAsDefaultExecutor()
  ///     await withTaskGroup { group in for _ in 0..<100 { group.addTask { serve() } } }
  ///   }
  ///
  ///   static func serve() { /* may block: the pool replaces the thread */ }
  /// }
  /// ```
  ///
  /// The main actor stays on the main thread. A task or an actor with another executor stays there. `Task.sleep` ends
  /// by a thread of this library, without the tolerance. `OPERATIONS_WORKERS` says how many workers the shared pool
  /// has.
  ///
  /// A job has the level of its task's priority, as ``BackendTaskExecutor`` says. A task that blocks its thread takes
  /// no thread from the others where the backend replaces blocked threads, as ``StealingBackend`` and
  /// ``ThreadPoolBackend`` do.
  ///
  /// *Cost*: a task job allocates nothing once memory for it has been used before. A sleep allocates an alarm, and
  /// takes O(log n) among n sleeps.
  ///
  /// Traps on another thread than the main thread, when a task was made before (the one of an asynchronous `main` does
  /// not count), when the process has such a backend already, and for a backend that has no workers or runs jobs only
  /// while somebody waits for them. `shutdown()` of the backend traps from now on.
  ///
  /// - Throws: ``DefaultExecutorError`` where the runtime has no place for an executor, or another package has taken
  ///   it. The executor is as before then.
  public func installAsDefaultExecutor() throws(DefaultExecutorError) { try DefaultExecutor.install(self) }
}
