import CPlatform
import OperationJobs
import Primitives
import Synchronization

/// An operation that goes on after `main()` has returned, until `finish()` is called, from any thread.
///
/// Subclass and override `main()`, or pass a closure:
/// ```swift
/// import Operations
///
/// let answer = AsynchronousOperation { operation in
///   // The operation may end in a task, in a callback, or on a thread of the program's own.
///   Task {
///     print("answered")
///     operation.finish()
///   }
/// }
/// OperationQueue().addOperations([answer], waitUntilFinished: true)
/// ```
/// The operation keeps its place in a queue with a limit until it finishes. A cancelled operation that has not
/// started is finished without `main()`. A running operation must still call `finish()`, early if it looks at
/// `isCancelled`.
///
/// A subclass that can stop its work overrides `cancel()`: it calls `super`, and then stops the work. The end of the
/// work calls `finish()`, so there is one place that does. `cancel()` may be called at any time, several times, and
/// before the work has begun:
/// ```swift
/// import Operations
///
/// final class Fetch: AsynchronousOperation, @unchecked Sendable {
///   // Sendable: the task cancels itself in a safe way, and is set before `begun` is read.
///   private let work = Work()
///
///   override func main() { work.begin { self.finish() } }
///
///   override func cancel() {
///     super.cancel()
///     work.stop()
///   }
/// }
///
/// /// Calls what `begin` got once: when the work is done, or was stopped.
/// final class Work: Sendable {
///   func begin(_ end: @escaping @Sendable () -> Void) { end() }
///   func stop() {}
/// }
///
/// let fetch = Fetch()
/// fetch.cancel()
/// OperationQueue().addOperations([fetch], waitUntilFinished: true)
/// print(fetch.isCancelled)
/// ```
open class AsynchronousOperation: Operation, @unchecked Sendable {
  // Sendable: `body` is written in `init`, and read and cleared by the one thread that starts the operation. `began` is
  // an atomic.
  private final var body: (@Sendable (AsynchronousOperation) -> Void)?
  /// For a diagnosis: a forgotten `finish()` is the commonest reason why such an operation never ends. 0: not started.
  private final let began = Atomic<UInt64>(0)

  /// For a subclass that overrides `main()`: the override starts the work. Without a body and without that override
  /// the start traps.
  public override init() {
    super.init()
  }

  /// - Parameters:
  ///   - name: as `Operation.name`.
  ///   - body: starts the work, and sees to it that `finish()` is called on its argument when the work is done. The
  ///     body is released after it has run.
  public convenience init(name: String? = nil, _ body: @escaping @Sendable (AsynchronousOperation) -> Void) {
    self.init()
    if let name { self.name = name }
    self.body = body
  }

  open override var isAsynchronous: Bool { true }

  /// Runs `main()`, as the base class does.
  open override func start() {
    if began.load(ordering: .relaxed) == 0 { began.store(cplatform_coarse_now_ns(), ordering: .relaxed) }
    super.start()
  }

  open override func main() {
    guard let body else { misuse(self, "an AsynchronousOperation needs a body, or an override of main()") }
    self.body = nil
    body(self)
  }

  /// Ends the operation: waiters and dependents go on, and the completion block is handed to the backend. Call
  /// `finish()` exactly once, from any thread, once `main()` has begun; a second call traps.
  ///
  /// An operation that was cancelled before its start never runs `main()`. The library finishes that operation, and a
  /// call of `finish()` does nothing then, before the end and after it.
  public final func finish() {
    let now = stateNow
    if !now.has(StateWord.started), !now.has(StateWord.finished) {
      // The thread that starts the cancelled operation skips and finishes the operation.
      if now.has(StateWord.cancelled) { return }
      if !now.has(StateWord.enqueued) { misuse(self, "finish() was called before start()") }
      warnFinishedBeforeStart(now)
    }
    finishNow(onlyOnce: true)
  }

  final override var finishesItself: Bool { true }
  final override var ownStart: UInt64? {
    let time = began.load(ordering: .relaxed)
    return time == 0 ? nil : time
  }
  final override func releaseUnrunBlocks() { body = nil }
}
