import CPlatform
import OperationExecutors
import OperationJobs
import Primitives

/// The task of a `TaskOperation`, and the executor of that task. `README.md` here has the protocol.
///
/// Not generic, unlike the operation: code of this module that is generic asks the runtime for the metadata of each
/// generic type, and that was a third of what an operation cost.
@usableFromInline
final class TaskRun: TaskExecutor, @unchecked Sendable {
  // Sendable: everything is touched under the lock, except that the jobs of the task read `homeNumber` and `backend`,
  // which are written before the task is made.

  /// Runs the user's body, and keeps in the operation what it returned.
  @usableFromInline typealias Body = nonisolated(nonsending) @Sendable (Operation) async -> Void

  /// A structure around the closure: alone it would be wrapped into another one, and back, on each way through a
  /// generic function.
  private struct StoredBody {
    let run: Body
  }

  private let lock = FutexLock()
  /// Nil when the body has begun, and when it never will.
  private var body: StoredBody?
  /// From the adding on until the body has ended.
  private var task: Task<Void, Never>?
  /// The task's first job, until the operation starts.
  private var held: UnownedJob?
  /// Where the task's other jobs go.
  @exclusivity(unchecked) private var backend: (any Backend)?
  @usableFromInline @exclusivity(unchecked) package private(set) var homeNumber: UInt32 = 0
  /// While the body runs.
  private var operation: Operation?
  /// What the body awaits now. Most bodies await one operation at a time: a list would be an allocation.
  private var awaited: Operation?
  /// What few bodies need, made when one does: most operations are smaller without it.
  private var more: More?

  private final class More {
    /// What the child tasks await beside `awaited`.
    var others: [Operation] = []
    /// The queue with a limit that counts this body among those that await something.
    var countingQueue: OperationQueue?
    /// The members of a group, behind which the operation finishes.
    var members: OperationQueue?
  }

  /// Called with the lock.
  private func makeMore() -> More {
    if let more { return more }
    let new = More()
    more = new
    return new
  }

  @usableFromInline
  init(_ body: @escaping Body) { self.body = StoredBody(run: body) }

  /// Whether `makeTask` was called. No other thread does that meanwhile.
  var hasTask: Bool { homeNumber != 0 }

  /// Makes the task, which takes the task-local values of here. Its first job is kept. No effect when the task is
  /// there, or was abandoned.
  /// - Parameter home: the number of the backend, never 0.
  func makeTask(on backend: any Backend, home: UInt32, priority: TaskPriority) {
    let isWanted = lock.withLock {
      guard self.backend == nil, body != nil else { return false }
      self.backend = backend
      homeNumber = home
      return true
    }
    guard isWanted else { return }
    let task = Task(executorPreference: self, priority: priority) { [self] in await perform() }
    lock.withLock { self.task = task }
  }

  // Both run handlers of what the body awaits, which do the same to that: so the steps are those of a chain.

  /// Cancels the task, if it is there. The thread that makes the task looks afterwards whether the operation is
  /// cancelled.
  func cancel() {
    if let task = lock.withLock({ task }) { LongChain.step { task.cancel() } }
  }

  /// Raises the task, if it is there.
  func escalate(to priority: TaskPriority) {
    if let task = lock.withLock({ task }) { LongChain.step { task.escalatePriority(to: priority) } }
  }

  // Whose code runs is asked of the task, and not of the thread: a thread that runs a job of an actor for one task may
  // go on with another task, inside of the same job. A body's task and its child tasks prefer the run as their
  // executor.

  /// Whether the calling task is the body's, or a child of it.
  var isCurrent: Bool {
    let own = asUnownedTaskExecutor()
    return withUnsafeCurrentTask { $0?.unownedTaskExecutor == own }
  }

  /// The run whose body the calling task is, or a child of it; nil elsewhere.
  static var current: TaskRun? {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() as? TaskRun }
  }

  /// Whether the calling task is the body of an operation on the backend, or a child of one.
  static func isCurrent(on backend: any DrivenBackend) -> Bool { current?.homeNumber == backend.home.number }

  /// The operation whose body the calling task is, or a child of it; nil elsewhere, and when the body has ended.
  static var currentOperation: Operation? { current?.operationNow }

  /// While the body runs.
  var operationNow: Operation? { lock.withLock { operation } }

  // MARK: - What the body waits for

  /// The body of `waiting` begins to await an operation.
  func begins(_ waiting: Operation, awaiting other: Operation) {
    // A queue with a limit counts its bodies that wait: while they are fewer than its places, one of the places comes
    // free.
    let counts = waiting.stateNow.has(StateWord.tracked) ? waiting.owner : nil
    lock.withLock {
      if awaited == nil { awaited = other } else { makeMore().others.append(other) }
      guard more?.countingQueue == nil, let counts, counts.maximumNow > 0 else { return }
      makeMore().countingQueue = counts
      counts.countAwaitingBody(1)
    }
  }

  func ends(awaiting other: Operation) {
    // The last reference to a queue goes without the lock.
    let counted = lock.withLock { () -> OperationQueue? in
      if awaited === other {
        awaited = more?.others.popLast()
      } else if let place = more?.others.lastIndex(where: { $0 === other }) {
        more?.others.remove(at: place)
      }
      return awaited == nil ? more?.countingQueue.take() : nil
    }
    counted?.countAwaitingBody(-1)
  }

  func setMembers(_ queue: OperationQueue) { lock.withLock { makeMore().members = queue } }

  /// The runtime's number of the task, until the body has ended.
  var taskNumber: UInt64? {
    lock.withLock { task.map { cplatform_task_number(unsafeBitCast($0, to: UnsafeMutableRawPointer.self)) } }
  }

  /// What the body awaits, and the members of its group.
  var awaitedNow: [Operation] {
    let (first, others, members) = lock.withLock { (awaited, more?.others ?? [], more?.members) }
    return (first.map { [$0] } ?? []) + others + (members?.snapshot() ?? [])
  }

  /// The operation has started: runs the first job on the calling thread.
  func start(_ operation: Operation) {
    let first = lock.withLock {
      self.operation = operation
      return held.take()
    }
    // The code that started the operation may wait for it, and goes on in any case.
    if let first { runFirst(first) }
  }

  private func runFirst(_ job: UnownedJob) {
    TaskWatch.running(job) { TaskSlot.without { job.runSynchronously(on: asUnownedTaskExecutor()) } }
  }

  /// The body will never run: the task ends without it, on the calling thread.
  func abandon() {
    guard takeBody() != nil else { return }
    let first = lock.withLock { held.take() }
    if let first { runFirst(first) }
    let members = lock.withLock {
      task = nil
      return more?.members.take()
    }
    withExtendedLifetime(members) {}
  }

  /// - Returns: the body, for the first who asks.
  private func takeBody() -> StoredBody? {
    lock.withLock {
      defer { body = nil }
      return body
    }
  }

  // Neither of the two hops: each hop asks the runtime for the preferred executor, under a lock of the task. And few
  // frames: the task has room for some of them, and allocates the others.

  private nonisolated(nonsending) func perform() async {
    guard let operation = lock.withLock({ operation }), await runBody(of: operation) else { return }
    let members = lock.withLock {
      task = nil
      self.operation = nil
      return more?.members.take()
    }
    withExtendedLifetime(members) {}
    operation.finishNow(onlyOnce: true)
  }

  /// The body is released when this returns.
  /// - Returns: false when there is no body.
  private nonisolated(nonsending) func runBody(of operation: Operation) async -> Bool {
    guard let body = takeBody() else { return false }
    await body.run(operation)
    return true
  }

  @usableFromInline
  func enqueue(_ job: consuming ExecutorJob) {
    let urgency = Job.level(ofTask: job.priority.rawValue)
    let job = UnownedJob(job)
    let level: Int? = lock.withLock {
      // The task is being made.
      if task == nil, operation == nil, body != nil, held == nil {
        held = job
        return nil
      }
      return max(urgency, operation?.level ?? 0)
    }
    if let level { handOver(TaskJob.make(job, level: level, runner: self)) }
  }
}

extension TaskRun: TaskJobRunner {
  @usableFromInline package func submit(_ job: Job) { backend?.submit(job) }

  @usableFromInline package func run(_ job: UnownedJob?) -> UInt {
    guard let job else { return 0 }
    // After the body's end this may be a job of an actor that the body called.
    guard let operation = lock.withLock({ operation }) else { return runJob(job) }
    var next: UInt = 0
    let released = operation.runPart {
      next = runJob(job)
      // Code of a user's follows: the completion block.
      if next != 0, operation.stateNow.has(StateWord.finished) {
        submit(Job(word: next))
        next = 0
      }
    }
    if released == 0 { return next }
    // An operation that the part has released goes on here. Another thread may take the task.
    if next != 0 { submit(Job(word: next)) }
    return released
  }

  private func runJob(_ job: UnownedJob) -> UInt {
    TaskSlot.run(for: self) { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
