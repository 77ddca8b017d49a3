import CPlatform
import OperationJobs
import Primitives
import Synchronization

/// An operation whose body is asynchronous.
///
/// ```swift
/// import Operations
///
/// func total() async throws -> Int {
///   let queue = OperationQueue()
///   let first = queue.addTask { 20 }
///   let second = queue.addTask { 22 }
///   return try await first.value + second.value
/// }
/// ```
///
/// The operation holds its place under `maxConcurrentOperationCount` until the body has returned. The body runs as a
/// task on the queue's backend, and goes on there after each suspension. No thread is blocked while the body is
/// suspended. The task has the task-local values of where the operation was added (or started, by hand), and a priority
/// as `queuePriority` or `qualityOfService` was then. `OperationQueue.current` is the queue in all of the body, and in
/// its child tasks.
///
/// `cancel()` cancels the task: `Task.isCancelled` is true at once. An operation that is cancelled before its start
/// never runs its body.
///
/// Dependencies, barriers, suspension, the completion block and `observe` do what they do for every operation. The
/// operation is asynchronous, so a thread that waits for it never runs it.
public final class TaskOperation<Success: Sendable, Failure: Error>: Operation, @unchecked Sendable {
  // Sendable: `run` never changes and guards its own state, `began` is an atomic, and `outcome` is written by the
  // body's task before the finish, and read after it.

  /// The body and its task.
  @usableFromInline let run: TaskRun
  private let began = Atomic<UInt64>(0)
  @usableFromInline @exclusivity(unchecked) var outcome: Result<Success, Failure>?

  // What knows the types is inlinable: so the caller's module has it for its own types, and nobody looks for their
  // metadata.

  /// - Parameters:
  ///   - name: as `Operation.name`.
  ///   - body: released after it has run, or when it is known that it never will.
  @inlinable
  public init(name: String? = nil, _ body: @escaping @Sendable () async throws(Failure) -> Success) {
    run = TaskRun { operation in
      let operation = unsafeDowncast(operation, to: TaskOperation<Success, Failure>.self)
      do throws(Failure) { operation.outcome = .success(try await body()) } catch {
        operation.outcome = .failure(error)
      }
    }
    super.init()
    if let name { self.name = name }
  }

  deinit { run.abandon() }

  public override var isAsynchronous: Bool { true }

  /// Cancels the operation and the body's task.
  public override func cancel() {
    super.cancel()
    run.cancel()
  }

  /// Starts the body. Called by the operation's start.
  public override func main() {
    if began.load(ordering: .relaxed) != 0 { misuse(self, "main() was called a second time") }
    began.store(cplatform_coarse_now_ns(), ordering: .relaxed)
    // The operation was cancelled in the last instant.
    if isCancelled {
      run.abandon()
      return finishNow(onlyOnce: true)
    }
    // Without a queue nobody has made the task.
    if !run.hasTask {
      let backend = DrivenBackends.orDefault
      makeTask(on: backend, home: BackendHome.of(backend).number)
    }
    run.start(self)
  }

  /// What the body returned or threw; nil before the operation has finished, and when the body never ran.
  @inlinable public var result: Result<Success, Failure>? { hasEnded ? outcome : nil }

  /// Waits for the operation and returns what the body returned. The task is suspended meanwhile.
  ///
  /// Throws what the body threw. Throws `CancellationError` when the operation was cancelled before its start, and at
  /// once when the waiting task is cancelled; the operation then goes on. Throws a ``CircularWait`` where the wait
  /// leads back to the operation whose body waits, through operations, groups and places of limits.
  @inlinable public nonisolated(nonsending) var value: Success {
    get async throws { try await value(cancelling: false) }
  }

  /// Waits for the operation and returns what the body returned, as `value`.
  /// - Parameter cancelling: whether cancelling the waiting task cancels the operation, too.
  @inlinable public nonisolated(nonsending) func value(cancelling: Bool) async throws -> Success {
    guard try await awaitFinish(cancelling: cancelling), let result else { throw CancellationError() }
    return try result.get()
  }

  override var finishesItself: Bool { true }
  override var bodyRun: TaskRun? { run }
  override var ownStart: UInt64? {
    let time = began.load(ordering: .relaxed)
    return time == 0 ? nil : time
  }
  override func releaseUnrunBlocks() { run.abandon() }
  override func levelRose() { run.escalate(to: Job.taskPriority(ofLevel: level)) }
  override func willBeListed(in queue: OperationQueue) {
    RetryScope.list(self, in: queue) { makeTask(on: queue.backend, home: queue.home) }
  }

  private func makeTask(on backend: any Backend, home: UInt32) {
    let level = level
    run.makeTask(on: backend, home: home, priority: Job.taskPriority(ofLevel: level))
    // Another thread that cancelled or raised the operation meanwhile found no task.
    if isCancelled { run.cancel() }
    if self.level > level { levelRose() }
  }
}
