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

  /// An end that the test does not bring about itself.
  enum Failure {
    /// Every task waits for something that nothing here will bring.
    case allTasksWait
    case hasNoEnd
  }

  private let time = cvirtual_time_make()
  private let state = Mutex(State())
  /// Where the runtime believes that the test's tasks run.
  fileprivate let executor: SeededExecutor
  private let whenFailed: @Sendable (Failure, SeededTest) -> Void

  private struct State {
    /// A task with a smaller number was there before the test: 0 while the test's own task is not made.
    var firstTask: UInt64 = 0
    /// The tasks of the test that were seen: where each lies, and as which number it is shown.
    var tasks: [UInt64: (address: UInt, shown: UInt64)] = [:]
    var departures: [String] = []
    /// The jobs of the main actor that have not ended, in the order in which they came.
    var mainLine: ArraySlice<UInt> = []

    func label(_ number: UInt64) -> String { tasks[number].map { "task \($0.shown)" } ?? "a task" }
  }

  /// - Parameter whenFailed: called without locks. May be called several times.
  init(on driver: Driver, whenFailed: @escaping @Sendable (Failure, SeededTest) -> Void) {
    executor = SeededExecutor(driver)
    self.whenFailed = whenFailed
  }

  deinit { cvirtual_time_free(time) }

  func end(_ failure: Failure) { whenFailed(failure, self) }

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

  /// A thread of the backend, or the thread that makes the test's own task, hands over a task that nobody else owns.
  /// The test's own task is the first.
  /// - Returns: false for a task that was there before the test.
  fileprivate func adds(_ number: UInt64, at task: UnsafeMutableRawPointer) -> Bool {
    state.withLock { state in
      if state.firstTask == 0 { state.firstTask = number }
      if number < state.firstTask { return false }
      if state.tasks[number] == nil {
        state.tasks[number] = (UInt(bitPattern: task), UInt64(state.tasks.count + 1))
      }
      return true
    }
  }

  /// What the job is a step of, for an order by priorities: the task's number, or one lane for all turns of actors.
  fileprivate func lane(of job: UnsafeMutableRawPointer) -> UInt32 {
    guard cplatform_is_task(job) else { return 1 << 30 }
    let number = cplatform_task_number(job)
    return state.withLock { UInt32($0.tasks[number]?.shown ?? 0) }
  }

  /// The job in a record of steps: tasks count from 1, which is the test's own one.
  fileprivate func label(of job: UnsafeMutableRawPointer) -> String {
    guard cplatform_is_task(job) else { return "an actor" }
    let number = cplatform_task_number(job)
    return state.withLock { $0.label(number) }
  }

  /// The tasks that have not ended, and what each does or waits for.
  var tasksInWords: [String] { TaskDiagnosis.lines(of: state.withLock { $0.tasks }) }

  // MARK: - The main actor

  /// A job of the main actor comes.
  /// - Returns: whether the job is the first in the line.
  fileprivate func joinsMainLine(_ job: UnsafeMutableRawPointer) -> Bool {
    state.withLock {
      $0.mainLine.append(UInt(bitPattern: job))
      return $0.mainLine.count == 1
    }
  }

  /// The first in the line has run.
  /// - Returns: the next one.
  fileprivate func leavesMainLine() -> UnsafeMutableRawPointer? {
    state.withLock {
      _ = $0.mainLine.popFirst()
      return $0.mainLine.first.flatMap(UnsafeMutableRawPointer.init(bitPattern:))
    }
  }

  // MARK: - What leaves the order

  private static let mostDepartures = 100

  /// The tasks that came back from outside.
  var departures: [String] { state.withLock { $0.departures } }

  fileprivate func comesBack(_ number: UInt64, by thread: String) {
    state.withLock {
      guard $0.departures.count < Self.mostDepartures else { return }
      $0.departures.append("\($0.label(number)) was handed over by the thread \"\(thread)\"")
    }
  }
}

/// Which tasks of the process belong to a seeded test.
enum SeededTasks {
  private struct Owners {
    var drivers: [UInt64: Driver] = [:]
    /// Tasks of nobody's that were seen while tests were under way: a test that hands one over only lets it go on.
    var foreign: Set<UInt64> = []
    var testsUnderWay = 0
  }

  private static let owners = Mutex(Owners())

  /// False where Swift's runtime has no place for that, or another package has taken the place.
  static let areClaimed = RuntimeHooks.claimTasks(claim, main: takeMainActor)

  /// Tasks are noted while a test is under way, for what its error says of them.
  static func testBegins() {
    owners.withLock {
      $0.testsUnderWay += 1
      cplatform_watch_tasks(true)
    }
  }

  /// Behind the end of the backend: no task of the test is handed over there any more.
  static func testEnds(on driver: Driver) {
    let left = owners.withLock { owners in
      let left = owners.drivers
      owners.drivers = left.filter { $0.value !== driver }
      owners.testsUnderWay -= 1
      if owners.testsUnderWay == 0 {
        owners.foreign = []
        cplatform_watch_tasks(false)
      }
      return left
    }
    // The last reference to a driver goes without the lock.
    withExtendedLifetime(left) {}
  }

  /// Asked for each job of a default executor, on any thread.
  private static let claim: @convention(c) (UnsafeMutableRawPointer, Int64) -> Bool = { job, delay in
    guard DrivenBackends.exist, let driver = driver(of: job) else { return false }
    handOver(job, to: driver, after: delay)
    return true
  }

  fileprivate static func handOver(_ address: UnsafeMutableRawPointer, to driver: Driver, after delay: Int64) {
    guard let test = driver.seeded else { fatalError("Operations: a task belongs to a test that is none") }
    let (job, isTask) = (RuntimeHooks.job(at: address), cplatform_is_task(address))
    TaskWatch.note(job)
    let part = Job {
      // The driver holds the test, and the test the executor.
      withExtendedLifetime(driver) {
        if isTask {
          // Not the executor that the task prefers: so the runtime hands the task over anew where it goes to an actor.
          TaskWatch.running(job) { job.runSynchronously(on: test.executor.asUnownedTaskExecutor()) }
        } else {
          job.runSynchronously(on: RuntimeHooks.anyExecutor)
        }
      }
    }
    driver.goOnWithTest(part, as: test.label(of: address), lane: test.lane(of: address), after: delay)
  }

  /// Gets each job of the main actor, on any thread. Those of a test go on where the seed lets the main actor go on, in
  /// the order in which they came. The others run on the main thread.
  private static func takeMainActor(_ job: UnownedJob) {
    let address = RuntimeHooks.address(of: job)
    guard DrivenBackends.exist, let driver = driver(of: address), let test = driver.seeded else {
      return MainActorTurn.runOnMainThread(job)
    }
    TaskWatch.note(job)
    if test.joinsMainLine(address) { giveMainTurn(to: address, of: test, on: driver) }
  }

  private static func giveMainTurn(to address: UnsafeMutableRawPointer, of test: SeededTest, on driver: Driver) {
    let job = RuntimeHooks.job(at: address)
    let part = Job {
      // The driver holds the test, and the test the executor.
      withExtendedLifetime(driver) {
        let executor = test.executor.asUnownedTaskExecutor()
        MainActorTurn.run(for: driver) {
          TaskWatch.running(job) {
            job.runSynchronously(isolatedTo: MainActor.sharedUnownedExecutor, taskExecutor: executor)
          }
        }
        if let next = test.leavesMainLine() { giveMainTurn(to: next, of: test, on: driver) }
      }
    }
    driver.goOnWithTest(
      part, as: "the main actor with \(test.label(of: address))", lane: test.lane(of: address), mayPause: false)
  }

  private static func driver(of job: UnsafeMutableRawPointer) -> Driver? {
    let here =
      switch WorkerLocal.currentMember {
      case let carrier as Carrier: carrier.driver
      case let host as HostThread: host.backend.driver
      default: nil as Driver?
      }
    let test = here?.seeded
    // The turn of an actor has no task: it belongs to who found the actor idle.
    guard cplatform_is_task(job) else { return test == nil ? nil : here }
    let number = cplatform_task_number(job)
    let owner = owners.withLock { owners -> Driver? in
      guard owners.testsUnderWay > 0 else { return nil }
      if let owner = owners.drivers[number] { return owner }
      if let here, let test, !owners.foreign.contains(number), test.adds(number, at: job) {
        owners.drivers[number] = here
        return here
      }
      owners.foreign.insert(number)
      return nil
    }
    if let owner, owner !== here { owner.seeded?.comesBack(number, by: threadName) }
    return owner
  }

  private static var threadName: String {
    var name = [CChar](repeating: 0, count: 16)
    cplatform_thread_get_name(&name)
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// Gets what a task of a test hands over to the executor on which it runs, such as its yields.
private final class SeededExecutor: TaskExecutor {
  /// Holds the executor, and is held by who runs a part.
  private unowned let driver: Driver

  init(_ driver: Driver) { self.driver = driver }

  func enqueue(_ job: consuming ExecutorJob) {
    SeededTasks.handOver(RuntimeHooks.address(of: UnownedJob(job)), to: driver, after: 0)
  }
}

/// Called by C before `main`, while there is one thread: the runtime reads its executor without a lock.
@_documentation(visibility: internal)
@c(operations_claim_tasks)
public func operationsClaimTasks() { _ = SeededTasks.areClaimed }
