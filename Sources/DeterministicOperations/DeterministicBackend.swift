import OperationCore
import OperationForks
import OperationJobs
import Primitives
import Scheduling
import VirtualScheduling

/// Runs operations in an order that a seed decides, with a clock of its own: for tests.
///
/// The backend imitates a pool with some workers. One thread goes on at a time. A matter of chance of real threads is a
/// choice of the seed: which worker is first, who wins a race for a job, and when a thread that waited goes on. So the
/// same seed gives the same order, on every machine.
///
/// ```swift
/// import DeterministicOperations
/// import Operations
///
/// let backend = DeterministicBackend(workers: 4, seed: 7)
/// let queue = OperationQueue(backend: backend)
/// for number in 1...3 { queue.addOperation { print(number) } }
/// queue.waitUntilAllOperationsAreFinished()
/// backend.shutdown()
/// ```
///
/// Tests mostly use `withDeterministicOperations(seed:)` and `forEachSeed(_:)`, which make the backend, let nothing run
/// beside the body of the test, and shut the backend down.
///
/// *What is decided by the seed*: the order of everything that happens on the backend's own threads, as long as each
/// body waits only with the waits of this library and of this backend. *What is not*: when threads outside add or
/// finish operations, and what a body does that blocks in something else. A body that sleeps for `patience` in
/// something else is left to itself, and others go on beside it.
///
/// *Steps*: bodies run as a whole, up to the next wait. Each step costs O(log n) for n events, and O(1) more for each
/// thread that waits. Each operation that waits inside its body keeps a real thread.
public final class DeterministicBackend: Backend {
  /// `deterministic`.
  public let name = "deterministic"
  /// How many virtual workers there are.
  public let workerCount: Int
  /// What the order follows from.
  public let seed: UInt64
  /// The virtual time of this backend.
  public let clock: DeterministicClock
  let driver: Driver
  private let strategy: VirtualStrategy
  /// Written once, at the end of `init`.
  nonisolated(unsafe) package private(set) var home: BackendHome!

  /// A backend that imitates the work-stealing pool.
  /// - Parameters:
  ///   - workers: virtual workers. The default does not depend on the machine. Traps when it is not positive.
  ///   - strategy: how the imitated pool schedules.
  ///   - seed: what the order follows from.
  ///   - fairnessInterval: see `Fairness`.
  ///   - runsByItself: whether jobs run as soon as there are some, beside the thread that adds them. If not, jobs run
  ///     only while a thread waits for them, or calls `run()`, `run(until:)` or `advance(by:)`.
  ///   - advancesByItself: whether the clock goes on to the next event when nothing is left to do at the present time.
  ///     If not, only `run(until:)` and `advance(by:)` move the clock.
  ///   - patience: for how long, in real time, a body may sleep in something that the backend does not know. Then
  ///     others go on beside the body. A body that computes has ten times as long.
  ///   - recordsSteps: whether `steps` has the steps. It takes about 100 bytes for each step.
  public convenience init(
    workers: Int = 4, strategy: StealingStrategy = .init(), seed: UInt64,
    fairnessInterval: Int = Fairness.defaultInterval, runsByItself: Bool = true, advancesByItself: Bool = true,
    patience: Duration = .seconds(1), recordsSteps: Bool = false
  ) {
    self.init(
      workers: workers, strategy: .stealing(strategy.checked), seed: seed, fairnessInterval: fairnessInterval,
      runsByItself: runsByItself, advancesByItself: advancesByItself, patience: patience, recordsSteps: recordsSteps)
  }

  /// A backend that imitates the thread pool. The parameters are those of the other initializer.
  public convenience init(
    workers: Int = 4, strategy: ThreadPoolStrategy, seed: UInt64, fairnessInterval: Int = Fairness.defaultInterval,
    runsByItself: Bool = true, advancesByItself: Bool = true, patience: Duration = .seconds(1),
    recordsSteps: Bool = false
  ) {
    self.init(
      workers: workers, strategy: .threadPool(strategy.checked), seed: seed, fairnessInterval: fairnessInterval,
      runsByItself: runsByItself, advancesByItself: advancesByItself, patience: patience, recordsSteps: recordsSteps)
  }

  /// - Parameter choices: the choices in place of those of the seed; nil for the seed's.
  package init(
    workers: Int, strategy: VirtualStrategy, seed: UInt64, choices: VirtualChoices? = nil,
    fairnessInterval: Int = Fairness.defaultInterval, runsByItself: Bool, advancesByItself: Bool,
    patience: Duration = .seconds(1), recordsSteps: Bool = false
  ) {
    workerCount = WorkerNumber(workers).most
    self.strategy = strategy
    self.seed = seed
    driver = Driver(
      VirtualPool(
        workers: workerCount, strategy: strategy, choices: choices ?? VirtualChoices(seed: seed),
        fairnessInterval: Fairness.checked(fairnessInterval), threadLimit: ThreadShortage.threadLimit),
      runsByItself: runsByItself, advancesByItself: advancesByItself,
      patience: UInt64(checked(patience, "patience")), records: recordsSteps)
    clock = DeterministicClock(driver)
    driver.backend = self
    let visibility =
      switch strategy {
      case .stealing(let strategy): strategy.forks
      case .threadPool(let strategy): strategy.forks
      }
    home = BackendHome(self, host: self, visibility: visibility)
    DrivenBackends.begin()
  }

  deinit {
    driver.stop()
    DrivenBackends.end()
  }

  public func submit(_ job: Job) {
    var list = JobFIFO()
    list.append(job.word)
    driver.submit(list)
  }

  public func submit(contentsOf jobs: consuming JobList) { driver.submit(jobs.takeAll()) }

  /// A body that blocks in something that the backend does not know. Others go on beside it, and the run is not that of
  /// the seed any more. `wait(until:)` keeps the order.
  public func whileBlocked(_ body: () -> Void) { driver.whileBlocked(body) }

  public var replacesBlockedThreads: Bool { strategy.waiting == .givesPlace }

  /// What has happened so far, in order. Empty unless `recordsSteps` is on.
  public var steps: [DeterministicStep] { driver.lock.withLock { driver.lock.state.records.steps } }

  /// What the virtual workers have done so far.
  public var statistics: PoolStatistics { driver.lock.withLock { driver.lock.state.pool.statistics.pool } }

  /// Real threads started since the backend was made.
  public var threadsCreated: Int { driver.threads.createdCount }

  /// Runs the queued jobs and the jobs that they add, waits for
  /// operations that have begun and go on elsewhere, and lets virtual time pass for them. Submitting a job afterwards
  /// traps. Timers that are then left are dropped, and tasks that sleep on the clock are cancelled. Returns when every
  /// real thread has ended. Traps inside one of the backend's jobs.
  public func shutdown() {
    driver.stop()
    driver.threads.join(isOwnThread: driver.currentCarrier != nil)
  }

  /// The choices so far, when they are recorded.
  package var choices: [Int] { driver.lock.withLock { driver.lock.state.pool.choices.taken } }
}

extension DeterministicBackend: ForkHost {
  package func beginForks() -> Bool {
    driver.refuseJoinAfterShutdown()
    return false
  }

  package func countGuest(_ change: Int) {}

  /// Nobody uncovers forks here: all are shown for which there is room.
  package var idlePlaces: Int { Forks.mostShown }

  package func show(_ ticket: Job, wakes: Bool) -> Bool {
    if driver.refusesJobs { return false }
    submit(ticket)
    return true
  }

  package func wakeForForks() {}
}

extension DeterministicBackend: DrivenBackend {
  package var lacksThreads: Bool { false }
  package func countBegun() { driver.threads.begun.begin() }
  package func countEnded() { driver.countEnded() }
  package var givenUpRows: [Int] {
    switch strategy {
    case .stealing(let strategy): strategy.givenUpRows
    case .threadPool(let strategy): strategy.givenUpRows
    }
  }

  package var report: BackendReport {
    driver.lock.withLock {
      BackendReport(
        queued: driver.lock.state.pool.queuedCount, threads: driver.lock.state.carriers.all.map { $0.watched.report },
        shortage: driver.threads.shortage)
    }
  }

  package func wait(until condition: () -> Bool, whenQuiet: (() -> Void)?) {
    if condition() { return }
    // The closures are called while this thread waits, and not afterwards.
    withoutActuallyEscaping(condition) {
      driver.wait(for: .holds($0), givesPlace: true, whenQuiet: whenQuiet)
    }
  }

  package func run(until condition: @escaping @Sendable () -> Bool) {
    _ = driver.enterTask(Waiter(.holds(condition), resume: { _ in }))
  }

  package func beginTaskWait() { driver.beginTaskWait() }
  package func endTaskWait() { driver.endTaskWait() }
  package func expectTaskJob() { driver.expectTaskJob() }
  package func lookAgain() { driver.lookAgain() }
  package func complain(_ reason: String) { driver.lock.withLock { driver.complain(reason) } }

  package func ask(_ question: Job) { driver.ask(question) }

  package var showsItsTime: Bool { driver.seeded != nil }

  /// The closure is a block of the run: what it calls sees the time of the backend.
  package func call(afterNanoseconds delay: Int64, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    clock.call(at: clock.now.advanced(by: .nanoseconds(delay))) { [driver] in driver.run(after: 0, body) }
  }
}

/// The deterministic backend in the place of any backend: `OperationQueue(backend: .deterministic(seed: 1))`.
extension Backend where Self == DeterministicBackend {
  /// A new deterministic backend that runs by itself.
  public static func deterministic(
    workers: Int = 4, seed: UInt64, fairnessInterval: Int = Fairness.defaultInterval,
    strategy: StealingStrategy = .init()
  ) -> DeterministicBackend {
    DeterministicBackend(workers: workers, strategy: strategy, seed: seed, fairnessInterval: fairnessInterval)
  }
}
