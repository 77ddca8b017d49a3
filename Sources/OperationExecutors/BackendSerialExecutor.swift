import CPlatform
import OperationJobs
import Primitives
import Synchronization

/// Runs the jobs of actors on a backend, one at a time: the most urgent first, first in, first out within a priority.
///
/// ```swift
/// import Operations
///
/// actor Account {
///   private let executor = StealingBackend.shared.serialExecutor()
///   nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
///   private(set) var balance = 0
///
///   func pay(_ amount: Int) { balance += amount }
/// }
/// ```
///
/// The actor holds the executor, because Swift's runtime does not. An `unownedExecutor` that makes an executor on each
/// call is wrong:
/// ```swift
/// import Operations
///
/// actor Wrong {
///   nonisolated var unownedExecutor: UnownedSerialExecutor {
///     // The executor is freed before the actor's first job comes. The next call would have another executor: two
///     // calls of the actor would run at the same time.
///     StealingBackend.shared.serialExecutor().asUnownedSerialExecutor()
///   }
/// }
/// ```
/// Such a program hangs or crashes.
///
/// Actors that share one executor never run at the same time, and a call from one to another is made in place. (Where
/// the task prefers a task executor, the runtime hands each call over to this executor anew.) The executor holds the
/// backend. Handing over a job allocates nothing once memory for it has been used before. O(1).
///
/// A job that comes after the backend's `shutdown()` traps, as any other job does.
public final class BackendSerialExecutor: SerialExecutor, @unchecked Sendable {
  // Sendable: `jobs` and `state` are touched under the lock. `thread` is an atomic.

  private enum State: Equatable {
    case idle
    /// A turn is queued on the backend. Turns at lower levels may be queued, too: they do nothing when they come late.
    case queued(level: Int)
    case running
  }

  /// How many jobs run before other work of the backend comes in between.
  private static let jobsOfATurn = 64

  private let backend: any Backend
  let home: BackendHome
  private let lock = FutexLock()
  private var jobs = PriorityFIFO(fairnessInterval: 0)
  private var state = State.idle
  /// What tells the thread that runs jobs here from others; 0 for none.
  private let thread = Atomic<UInt>(0)

  init(_ backend: any Backend) {
    self.backend = backend
    home = .of(backend)
    _ = ProgramDump.isOn
  }

  /// Hands over a job of an actor. Swift's runtime calls this. O(1).
  public func enqueue(_ job: consuming ExecutorJob) {
    let level = Job.level(ofTask: job.priority.rawValue)
    let host = DrivenBackends.host(ofTaskOn: backend)
    let entry = TaskJob.make(UnownedJob(job), level: level, runner: self, host: host)
    let needsTurn = lock.withLock {
      jobs.append(entry.word)
      switch state {
      case .running: return false
      case .queued(let queued) where queued >= level: return false
      case .idle, .queued: state = .queued(level: level)
      }
      return true
    }
    if needsTurn { handOver(turn(level: level)) } else { host?.lookAgain() }
  }

  /// Whether the calling thread runs a job of this executor.
  public func isIsolatingCurrentContext() -> Bool? { thread.load(ordering: .relaxed) == Self.here }

  /// Traps when the calling thread runs no job of this executor.
  public func checkIsolated() {
    if isIsolatingCurrentContext() != true {
      fatalError("Operations: this code runs outside of a serial executor of the backend \"\(backend.name)\"")
    }
  }

  /// How many jobs wait here.
  package var waitingCount: Int { lock.withLock { jobs.count } }

  private static var here: UInt { UInt(bitPattern: cplatform_thread_words_address()) }

  private func turn(level: Int) -> Job { TaskJob.make(nil, level: level, runner: self) }

  /// - Returns: the word of the job that the thread runs next, or 0.
  private func takeTurn() -> UInt {
    let isMine = lock.withLock {
      guard case .queued = state else { return false }
      state = .running
      return true
    }
    guard isMine else { return 0 }
    thread.store(Self.here, ordering: .relaxed)
    var next: UInt = 0
    for _ in 0..<Self.jobsOfATurn {
      let entry = lock.withLock {
        let first = jobs.popFirst()
        if first == 0 {
          // Before the next turn can begin, on another thread.
          thread.store(0, ordering: .relaxed)
          state = .idle
        }
        return first
      }
      if entry == 0 { return next }
      // Another thread may run what the last job left behind, while this one goes on here.
      if next != 0 { backend.submit(Job(word: next)) }
      next = Job(word: entry).run()?.word ?? 0
    }
    let level = lock.withLock {
      thread.store(0, ordering: .relaxed)
      let level = jobs.highestLevel
      state = level < 0 ? .idle : .queued(level: level)
      return level
    }
    // Behind the other work of the backend.
    if level >= 0 { backend.submit(turn(level: level)) }
    return next
  }
}

extension BackendSerialExecutor: TaskJobRunner {
  @usableFromInline package var homeNumber: UInt32 { home.number }

  @usableFromInline package func submit(_ job: Job) { backend.submit(job) }

  @usableFromInline package func run(_ job: UnownedJob?) -> UInt {
    guard let job else { return takeTurn() }
    return TaskSlot.run(for: self) { job.runSynchronously(on: asUnownedSerialExecutor()) }
  }
}
