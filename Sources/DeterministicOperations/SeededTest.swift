import CPlatform
import CVirtualTime
import OperationCore
import OperationExecutors
import OperationJobs
import Primitives
import Synchronization

/// A test all of whose tasks belong to a deterministic backend. `README.md` here says which ones do, and why.
final class SeededTest: @unchecked Sendable {
  // Sendable: constants, and what is touched under a lock. `time` is written with the lock of the driver, by atomic
  // stores.

  private let time = cvirtual_time_make()
  /// A task with a smaller number was there before the test: 0 while the test's own task is not made.
  private let firstTask = Atomic<UInt64>(0)
  private let state = Mutex(State())
  /// Where the runtime believes that the test's tasks run.
  fileprivate let executor: SeededExecutor
  /// Called once, when every task waits for something that nothing here will bring.
  private let whenStuck: @Sendable () -> Void

  private struct State {
    /// The tasks of the test that were seen, and in which order.
    var tasks: [UInt64: Int] = [:]
    var isStuck = false
  }

  init(on driver: Driver, whenStuck: @escaping @Sendable () -> Void) {
    executor = SeededExecutor(driver)
    self.whenStuck = whenStuck
  }

  deinit { cvirtual_time_free(time) }

  // MARK: - Time

  /// Called under the lock of the driver.
  func showTime(_ now: Int64) { cvirtual_time_set(time, now) }

  /// The clocks of the calling thread show the virtual time from now on.
  func beginTime() -> ShownTime { ShownTime(before: cvirtual_time_show(time)) }
  func endTime(_ time: ShownTime) { _ = cvirtual_time_show(time.before) }

  struct ShownTime {
    fileprivate let before: UnsafeMutablePointer<cvirtual_time>?
  }

  // MARK: - Tasks

  /// The test's own task was made: every task of the test comes later.
  func begins(with task: Task<Void, Never>) {
    firstTask.store(cplatform_task_number(unsafeBitCast(task, to: UnsafeMutableRawPointer.self)), ordering: .relaxed)
  }

  /// A thread of the backend, or the one that makes the test's task, hands a job over.
  /// - Returns: false for a task that was there before the test.
  fileprivate func takes(_ job: UnsafeMutableRawPointer, in driver: Driver) -> Bool {
    guard cplatform_is_task(job) else { return true }
    let number = cplatform_task_number(job)
    if number < firstTask.load(ordering: .relaxed) { return false }
    let isNew = state.withLock { state in
      if state.tasks[number] != nil { return false }
      state.tasks[number] = state.tasks.count
      return true
    }
    if isNew { SeededTasks.add(number, driver) }
    return true
  }

  /// The job in a record of steps: tasks count from 1, which is the test's own one.
  fileprivate func label(of job: UnsafeMutableRawPointer) -> String {
    guard cplatform_is_task(job) else { return "an actor" }
    let number = cplatform_task_number(job)
    return state.withLock { $0.tasks[number] }.map { "task \($0 + 1)" } ?? "a task"
  }

  func forgetTasks() { SeededTasks.remove(state.withLock { Array($0.tasks.keys) }) }

  /// Called under the lock of the driver.
  func isStuck() {
    let isFirst = state.withLock { state in
      defer { state.isStuck = true }
      return !state.isStuck
    }
    if isFirst { whenStuck() }
  }
}

/// Which tasks of the process belong to a seeded test.
enum SeededTasks {
  private static let drivers = Mutex<[UInt64: Driver]>([:])

  /// False where Swift's runtime has no place for that, or another package has taken the place.
  static let areClaimed = RuntimeHooks.claimTasks(claim)

  fileprivate static func add(_ number: UInt64, _ driver: Driver) { drivers.withLock { $0[number] = driver } }
  fileprivate static func remove(_ numbers: [UInt64]) {
    drivers.withLock { drivers in for number in numbers { drivers[number] = nil } }
  }

  /// Asked for each job of a default executor, on any thread.
  private static let claim: @convention(c) (UnsafeMutableRawPointer, Int64) -> Bool = { job, delay in
    guard DrivenBackends.exist, let driver = driver(of: job) else { return false }
    handOver(job, to: driver, after: delay)
    return true
  }

  fileprivate static func handOver(_ address: UnsafeMutableRawPointer, to driver: Driver, after delay: Int64) {
    guard let test = driver.seeded else { return }
    let (label, executor) = (test.label(of: address), test.executor.asUnownedTaskExecutor())
    let (job, isTask) = (RuntimeHooks.job(at: address), cplatform_is_task(address))
    let part = Job {
      if isTask {
        // Not the executor that the task prefers: so the runtime hands the task over anew where it goes to an actor.
        job.runSynchronously(on: executor)
      } else {
        job.runSynchronously(on: RuntimeHooks.anyExecutor)
      }
    }
    driver.goOnWithTest(part, as: label, after: delay)
  }

  private static func driver(of job: UnsafeMutableRawPointer) -> Driver? {
    let here =
      switch WorkerLocal.currentMember {
      case let carrier as Carrier: carrier.driver
      case let host as SeededHost: host.driver
      default: nil as Driver?
      }
    if let here, let test = here.seeded, test.takes(job, in: here) { return here }
    // A thread of others, or another test, goes on with a task of a test.
    guard cplatform_is_task(job) else { return nil }
    return drivers.withLock { $0[cplatform_task_number(job)] }
  }
}

/// Gets what a task of a test hands over to the executor on which it runs, such as its yields.
private final class SeededExecutor: TaskExecutor {
  /// Runs the tasks that know this executor.
  private unowned let driver: Driver

  init(_ driver: Driver) { self.driver = driver }

  func enqueue(_ job: consuming ExecutorJob) {
    SeededTasks.handOver(unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self), to: driver, after: 0)
  }
}

/// Called by C before `main`, while there is one thread: the runtime reads its executor without a lock.
@_documentation(visibility: internal)
@c(operations_claim_tasks)
public func operationsClaimTasks() { _ = SeededTasks.areClaimed }

/// The thread that makes the task of a seeded test.
final class SeededHost: DrivenThread {
  let driver: Driver

  init(_ driver: Driver) { self.driver = driver }

  var drivenBackend: (any DrivenBackend)? { driver.backend }
}
