import CPlatform
import OperationCore
import OperationJobs
import Primitives
import Scheduling

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Why a seeded test ended without a result of its own.
public enum SeededTasksError: Error, Hashable, CustomStringConvertible {
  /// Every task of the test waits for something that nothing in the test will bring. `tasks`: which, for what, and in
  /// which function, for people, as `TaskDiagnosis` says it. A task has the number that it has in the steps.
  case allTasksWait(seed: UInt64, tasks: [String])
  /// The tasks of the test have made a million steps. `tasks`: as with `allTasksWait`.
  case hasNoEnd(seed: UInt64, tasks: [String])
  /// Tasks left the order of the test, which may not: `backend.departures`.
  case left(seed: UInt64, departures: [String])
  /// Swift's runtime has no place for tasks of tests, or another package has taken the place.
  case isUnsupported

  public var description: String {
    switch self {
    case .allTasksWait(let seed, let tasks):
      lines("with seed \(seed) every task of the test waits for something that nothing in the test will bring", tasks)
    case .hasNoEnd(let seed, let tasks):
      lines("with seed \(seed) the tasks of the test have made a million steps, and it has not ended", tasks)
    case .left(let seed, let departures): lines("with seed \(seed) tasks left the order of the test", departures)
    case .isUnsupported: "tasks cannot belong to a seed: Swift's runtime, or another package, does not let them"
    }
  }

  private func lines(_ title: String, _ more: [String]) -> String {
    ([title] + more).joined(separator: more.isEmpty ? "" : "\n")
  }
}

/// How a seed chooses among the tasks that can go on.
public enum TaskOrder: Hashable, Sendable {
  /// At each step each task has the same chance.
  case even
  /// Each task gets a priority by chance when it first can go on, and the highest one goes on. Up to `changes` times,
  /// at steps by chance, the task that goes on falls below all others. This finds what shows only when a task is held
  /// up for long: PCT, Burckhardt and others, ASPLOS 2010. A defect that needs two tasks in a certain order needs no
  /// change, and one more for each further hold-up. From 0 to 1,000 changes; other numbers trap. A step costs O(n),
  /// where n tasks can go on.
  case priorities(changes: Int)
}

/// Runs an asynchronous test whose tasks all belong to a seed: the test's own, children, `Task { … }`, default actors,
/// streams, sleeps and operations. They run on a fresh deterministic backend, one at a time, in an order that the seed
/// decides. Code under test needs no change.
///
/// ```swift
/// import DeterministicOperations
///
/// try await withSeededTasks(seed: 7) { backend in
///   let hour = Task { try await Task.sleep(for: .seconds(3_600)) }
///   try await hour.value
///   print(backend.now)  // 3600.0 seconds
/// }
/// ```
///
/// *Time* is the backend's: `ContinuousClock`, `SuspendingClock` and `Task.sleep` show it on the test's threads, and so
/// does the time of day. When nothing is left to do, the time goes on to the end of the next sleep.
///
/// *The main actor* of the test belongs to it: its jobs go on in the order in which they came, and the seed decides
/// when. They run on threads of the test, while the main thread runs no job of the main actor. (Blocks of the main
/// queue and timers are no such jobs, whatever they assume.) `dispatchPrecondition` for the main queue traps there.
///
/// *What leaves*: actors with executors of their own, tasks that prefer another executor, threads and
/// Dispatch run beside the test, in real time. A task that such code resumes is back in the order. The virtual time
/// goes on meanwhile: whatever leaves loses against every sleep. `backend.departures` names the tasks that came
/// back so, and the threads. With `mayLeave: false` such a test fails.
///
/// *Polling*: after 10,000 steps at one instant each step takes a millisecond, so that a task which polls with
/// `Task.yield()` sees others wake up.
///
/// Tests that run at the same time must share no actor but the main actor: the turn of an actor belongs to the test
/// that found it idle.
///
/// When the body has ended, what is due runs to its end, for up to 100,000 steps. Tasks that sleep then stay suspended
/// for ever.
///
/// Each step of a task is a hand-over to the backend. Works in a process whose default executor is Swift's or this
/// library's.
///
/// - Parameters:
///   - seed: what the order follows from. `OPERATIONS_SEED` in the environment takes its place.
///   - workers: virtual workers, for operations.
///   - strategy: how the imitated pool schedules operations.
///   - patience: how long all tasks may wait, in real time, for something outside of the test.
///   - order: how the seed chooses among the tasks that can go on.
///   - mayLeave: whether the test may leave the order. If not, one that did fails when its body has ended.
///   - recordsSteps: whether the backend's `steps` has the steps.
///   - body: the test.
/// - Throws: what the body throws, and `SeededTasksError` when all tasks wait for `patience`, make a million steps, or
///   left the order and may not.
public func withSeededTasks<Result: Sendable>(
  seed: UInt64, workers: Int = 4, strategy: StealingStrategy = .init(), patience: Duration = .seconds(1),
  order: TaskOrder = .even, mayLeave: Bool = true, recordsSteps: Bool = false,
  _ body: @escaping @Sendable (DeterministicBackend) async throws -> Result
) async throws -> Result {
  let backend = DeterministicBackend(
    forTasksOf: SeedVariable.value ?? seed, workers: workers, strategy: strategy, patience: patience,
    recordsSteps: recordsSteps)
  return try await backend.hostTasks(order: order, mayLeave: mayLeave, body)
}

extension DeterministicBackend {
  /// A backend for one seeded test.
  convenience init(
    forTasksOf seed: UInt64, workers: Int, strategy: StealingStrategy, patience: Duration, recordsSteps: Bool = true
  ) {
    self.init(
      workers: workers, strategy: strategy, seed: seed, runsByItself: false, advancesByItself: true,
      patience: patience, recordsSteps: recordsSteps)
  }

  /// Runs the body as a task of its own, on this backend with all tasks that it makes, and shuts the backend down.
  /// - Parameters:
  ///   - ending: what becomes of a body that will not end by itself.
  ///   - name: the test in the line behind which the process ends.
  package func hostTasks<Value: Sendable>(
    order: TaskOrder, mayLeave: Bool, ending: EndlessBody = .isAbandoned, name: String = "the test",
    _ body: @escaping @Sendable (DeterministicBackend) async throws -> Value
  ) async throws -> Value {
    guard SeededTasks.areClaimed else { throw SeededTasksError.isUnsupported }
    driver.setOrder(order)
    let end = SeededEnd<Value>()
    driver.seeded = SeededTest(on: driver) { [seed, weak driver] failure, test in
      func error() -> SeededTasksError {
        switch failure {
        case .allTasksWait: .allTasksWait(seed: seed, tasks: test.tasksInWords)
        case .hasNoEnd: .hasNoEnd(seed: seed, tasks: test.tasksInWords)
        }
      }
      switch ending {
      case .isAbandoned: end.end(.failure(error()))
      case .isCancelled:
        switch end.isEndless(failure, error()) {
        case .cancelled: driver?.cancelBody { end.cancel() }
        case .goesOn: break
        case .cannotEnd:
          let text = "Operations: \(name) did not end when it was cancelled, so the process ends"
          "\(text). \(SeedVariable.name)=\(seed) runs it again.\n\(error())".withCString { cplatform_print_error($0) }
          exit(EX_SOFTWARE)
        }
      }
    }
    SeededTasks.testBegins()
    driver.setTest(isUnderWay: true)
    let outcome = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        end.wait(continuation)
        let host = HostThread(self)
        WorkerLocal.become(host, of: host) {
          DrivenBackends.$ofTest.withValue(self) {
            let task = Task {
              let outcome: Swift.Result<Value, any Error>
              do { outcome = .success(try await body(self)) } catch { outcome = .failure(error) }
              // Before anything else can go on.
              driver.setTest(isUnderWay: false)
              end.end(outcome)
            }
            end.begins(task)
          }
        }
      }
    } onCancel: {
      end.cancel()
    }
    driver.setTest(isUnderWay: false)
    self.end(outcome)
    driver.dropLateJobs()
    SeededTasks.testEnds(on: driver)
    if ending == .isCancelled { await end.bodyIsGone() }
    let value = try outcome.get()
    let departures = departures
    if !mayLeave, !departures.isEmpty { throw SeededTasksError.left(seed: seed, departures: departures) }
    return value
  }

  /// The backend on whose threads the caller runs, or else that of the test to which the calling task belongs. Nil
  /// outside of both.
  public static var current: DeterministicBackend? { DrivenBackends.hereOrOfTest as? DeterministicBackend }

  /// What left the order of a seeded test and came back, for people: which task, and the thread that handed it over.
  /// The first hundred. A task has the number that it has in the steps.
  public var departures: [String] { driver.seeded?.departures ?? [] }
}

/// What becomes of a test's body when all tasks wait, or when they have made a million steps.
package enum EndlessBody {
  /// The test ends, and the body stays where it is.
  case isAbandoned
  /// The body is cancelled, and then the test goes on until the body has ended. A body that goes on waiting ends the
  /// process. Swift Testing lends the body, and takes it back at the end of the test: it must be gone by then.
  case isCancelled
}

/// The end of a seeded test: the first one counts.
private final class SeededEnd<Value: Sendable>: @unchecked Sendable {
  // Sendable: everything is touched under the lock.

  typealias Outcome = Result<Value, any Error>
  typealias Waiter = UnsafeContinuation<Outcome, Never>

  private let lock = FutexLock()
  private var continuation: Waiter?
  private var task: Task<Void, Never>?
  private var isCancelled = false
  /// Why the body was cancelled. Then its own end does not count.
  private var reason: (any Error)?
  private var failures = 0

  func wait(_ continuation: Waiter) {
    lock.withLock { self.continuation = continuation }
  }

  func begins(_ task: Task<Void, Never>) {
    let cancels = lock.withLock {
      self.task = task
      return isCancelled
    }
    if cancels { task.cancel() }
  }

  func cancel() {
    let task = lock.withLock {
      isCancelled = true
      return self.task
    }
    task?.cancel()
  }

  /// What follows where a body has no end by itself.
  enum Verdict { case cancelled, goesOn, cannotEnd }

  /// How often all tasks may wait for `patience` behind the cancellation, before the process ends.
  private static var mostWaits: Int { 10 }

  /// Several threads may call: the first one cancels.
  func isEndless(_ failure: SeededTest.Failure, _ error: @autoclosure () -> any Error) -> Verdict {
    let verdict = lock.withLock { () -> Verdict in
      // The body has ended meanwhile.
      if continuation == nil { return .goesOn }
      defer { failures += 1 }
      if failures == 0 { return .cancelled }
      return failure == .hasNoEnd || failures >= Self.mostWaits ? .cannotEnd : .goesOn
    }
    if verdict == .cancelled {
      let error = error()
      lock.withLock { reason = error }
    }
    return verdict
  }

  func end(_ outcome: Outcome) {
    let (waiter, outcome) = lock.withLock { () -> (Waiter?, Outcome) in
      (continuation.take(), reason.map { .failure($0) } ?? outcome)
    }
    waiter?.resume(returning: outcome)
  }

  /// Returns when the task of the body has let go of the body.
  func bodyIsGone() async { await lock.withLock { task }?.value }
}
