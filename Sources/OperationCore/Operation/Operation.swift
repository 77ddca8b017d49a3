import CPlatform
@_spi(Jobs) import OperationJobs
import Primitives
import Synchronization

/// A unit of work with a life of its own: an operation waits for its dependencies, runs once, and can be cancelled and
/// waited for.
///
/// Subclass and override `main()` for synchronous work:
/// ```swift
/// import Operations
///
/// final class Sum: Operation, @unchecked Sendable {
///   // Sendable: `main()` writes the total, and others read it after the finish.
///   private(set) var total = 0
///
///   override func main() {
///     for number in 1...1_000_000 {
///       if isCancelled { return }
///       total += number
///     }
///   }
/// }
///
/// let sum = Sum()
/// let report = BlockOperation { print(sum.total) }
/// report.addDependency(sum)
/// OperationQueue().addOperations([report, sum], waitUntilFinished: true)
/// ```
/// Use `AsynchronousOperation` for work that ends later. Or override `start()`, `isExecuting`, `isFinished` and
/// `isAsynchronous`, and post `willChangeValue` and `didChangeValue`, as with Foundation's class: the documented
/// contract of `Operation` is that class's.
///
/// All members may be called from any thread. An operation is one allocation. A `BlockOperation` may use the memory of
/// one that has ended instead. An operation owns its dependencies until it has finished and its completion block has
/// returned.
open class Operation: JobObject, @unchecked Sendable {
  // Sendable: every stored property is an atomic or the lock. `queueWord`, `home`, `slotWord` and `sequence` are
  // written once, before `listed` is set in `state`, and read after that. `dependencyWord`, the list that it points
  // to, and the side object are touched under `lock`. `admission` is touched under the lock of the queue's
  // controller.

  let lock = FutexLock()
  let state = Atomic<UInt64>(StateWord.initial.bits)
  /// Top of the stack of edges to operations that wait for this one; see `Dependents.swift`.
  let dependents = Atomic<UInt>(0)
  /// Link of the edge inside this operation. The only dependency uses the link until the dependency has finished;
  /// later `noteStart` uses the word.
  let edgeNext = Atomic<UInt>(0)
  /// The owning queue, with one reference, from enqueueing until the queue's reference to the operation goes.
  let queueWord = Atomic<UInt>(0)
  /// The registry's slot where the queue lists the operation.
  let slotWord = Atomic<UInt>(0)
  /// Position in the order of adding to the queue.
  let sequence = Atomic<Int>(0)
  /// The side object, made when one of its rare properties is used, or a completion block alone, and marks: see
  /// `ExtrasMark`.
  let extrasWord = Atomic<UInt>(0)
  /// The dependencies: see `DependencyWord`.
  let dependencyWord = Atomic<UInt>(0)
  /// The backend that runs the operation: `BackendHome.number`. Four bytes here and not eight keep a
  /// `BlockOperation` at 120 bytes, the largest size that the system's allocator frees from another thread without a
  /// lock.
  let home = Atomic<UInt32>(0)
  /// How far the finish has come: 0, `waitersMayGo` (the queue does not list the operation any more),
  /// `epilogueMayRun` (the dependents have been released).
  let departed = Atomic<UInt8>(0)
  /// 1: the operation's memory may be used again; see `SpareOperations`.
  let mayBeReused = Atomic<UInt8>(0)
  let admission = Atomic<UInt8>(0)

  /// Makes an operation without work of its own: a subclass overrides `main()`, or `start()` for work that goes on
  /// after `start()` returns.
  override public init() {
    super.init()
    levelWord.store(LevelWord.initial.bits, ordering: .relaxed)
  }

  /// Makes an operation that ended new again. Called by the only thread that knows the operation.
  @inline(__always)
  final func renew(_ state: StateWord, _ level: LevelWord) {
    link.store(0, ordering: .relaxed)
    levelWord.store(level.bits, ordering: .relaxed)
    dependents.store(0, ordering: .relaxed)
    edgeNext.store(0, ordering: .relaxed)
    slotWord.store(0, ordering: .relaxed)
    sequence.store(0, ordering: .relaxed)
    home.store(0, ordering: .relaxed)
    departed.store(0, ordering: .relaxed)
    admission.store(0, ordering: .relaxed)
    self.state.store(state.bits, ordering: .relaxed)
  }

  deinit {
    if dependencyWord.load(ordering: .relaxed) != 0 || extrasWord.load(ordering: .acquiring) != 0 {
      releaseStorage()
    }
    // The operation has never finished, and nobody waits for the operation any more, because every waiter holds the
    // operation. The edges left belong to operations that removed this one from their dependencies, or that finished
    // as cancelled. Those operations get back what the edges hold.
    if dependents.load(ordering: .relaxed) > EdgeWord.sealed { releaseDependents() }
  }

  // MARK: - Overridable

  /// Runs the operation on the calling thread: `main()`, then finished. A cancelled operation skips `main()`.
  ///
  /// Returns silently when the operation has finished. Traps when the operation is executing, when a queue owns it,
  /// or when it is not ready. Where the class overrides `isFinished`, that property says after `main()` whether the
  /// operation has finished. If not, the operation goes on, until the class posts `isFinished`.
  open func start() { startHere() }

  /// The work; the default does nothing.
  open func main() {}

  /// Asks the operation not to run, or to stop early: `isCancelled` becomes true, for good. No effect after the
  /// finish.
  ///
  /// In a queue, an operation that waits for dependencies waits no longer and is finished without `main()`. A running
  /// operation is expected to look at `isCancelled`. `cancel()` never runs the operation's code on the calling
  /// thread, except the `onCancel` handlers in the body of a `TaskOperation`: these run as in `Task.cancel()`, so the
  /// caller must not hold a lock that they take.
  ///
  /// An override calls `super.cancel()`, and then stops the work. `cancel()` may be called several times, and before
  /// the start.
  open func cancel() { markCancelled() }

  /// Whether the operation was cancelled before it finished.
  open var isCancelled: Bool { stateNow.has(StateWord.cancelled) }

  /// Whether `main()` is running, or began and has not finished yet (asynchronous operations).
  open var isExecuting: Bool { stateNow.isExecuting }

  /// Whether the operation ran to its end, or was cancelled and finished without running.
  open var isFinished: Bool {
    let now = stateNow
    return now.has(StateWord.finished) || now.has(StateWord.started) && isAskedAfterMain(now)
  }

  /// Whether all of the operation's dependencies have finished, or the operation was cancelled. A cancelled
  /// dependency counts only once it has finished.
  ///
  /// An override returns `super.isReady && condition` and posts `didChangeValue(forKey: "isReady")` when its condition
  /// may have changed. Observers are told of the dependencies by the library, also when the condition does not hold
  /// then.
  open var isReady: Bool { readyNow }

  /// Whether `start()` may return before the operation has finished; false unless overridden.
  open var isAsynchronous: Bool { false }

  /// The old name of `isAsynchronous`.
  open var isConcurrent: Bool { isAsynchronous }

  /// A subclass calls this method before a property that the subclass computes changes its value. `key` is the
  /// property's name, with or without "is". The method calls observers with option `.prior`.
  open func willChangeValue(forKey key: String) { posted(ObservableKey(name: key), isPrior: true) }

  /// A subclass calls this method after a property that the subclass computes changed its value. The method calls the
  /// property's observers, on this thread. The queue reads `isFinished` or `isReady` on another thread and soon,
  /// however much work is queued. So the caller may hold its own locks.
  open func didChangeValue(forKey key: String) { posted(ObservableKey(name: key), isPrior: false) }

  /// Makes this operation wait for `operation`; adding the same twice counts once.
  ///
  /// The dependency takes effect until the operation starts. A dependency added later is only listed; a dependency
  /// added after the finish is ignored. The dependency may be in another queue, on another backend, or in none. Traps
  /// when the dependency is the operation itself. O(1).
  open func addDependency(_ operation: Operation) { insertDependency(operation) }

  /// Undoes `addDependency`; may make the operation ready. No effect when the operation does not depend on
  /// `operation`.
  open func removeDependency(_ operation: Operation) { deleteDependency(operation) }

  /// The operations that this one waits for or waited for, in the order of adding. The array is emptied when the
  /// operation has finished and its completion block has returned. O(count).
  open var dependencies: [Operation] { dependencySnapshot() }

  /// Called once, after the operation finished (also when cancelled), after waiters and dependents were served, and
  /// when the queue does not list the operation any more. Never called on the main thread. The block is released
  /// after its call. Setting a block after that has no effect.
  open var completionBlock: (@Sendable () -> Void)? {
    get { completion }
    set { setCompletion(newValue) }
  }

  /// Blocks the calling thread until the operation has finished; does not wait for the completion block.
  ///
  /// Inside an operation the wait never takes a worker out of service: another thread takes the calling thread's place.
  /// Where no other thread would, the calling thread runs the target, or what the target waits for. That is so at the
  /// limit of threads, when the system refuses a thread, and on a dispatch queue of yours. The awaited operation is at
  /// least as urgent as the waiting operation. Traps when an operation calls the method on itself.
  @available(*, noasync, message: "blocks the thread; use await finished()")
  open func waitUntilFinished() { waitHere() }

  /// Order among the ready operations of a queue. A change takes effect until the start, at the tail of the new
  /// level; O(1) amortised.
  open var queuePriority: QueuePriority {
    get { explicitPriority }
    set { explicitPriority = newValue }
  }

  /// Chooses the priority when `queuePriority` was never set; see `QualityOfService`.
  open var qualityOfService: QualityOfService {
    get { chosenQualityOfService }
    set { chosenQualityOfService = newValue }
  }

  /// From 0.0 to 1.0, default 0.5. The value is applied to the thread's nice value around `main()` (1.0 lowers the
  /// nice value by 10, 0.0 raises it by 10) where the system permits the change and the change back; elsewhere the
  /// value is ignored.
  open var threadPriority: Double {
    get { lock.withLock { extrasIfAny?.pointee.threadPriority ?? 0.5 } }
    set {
      lock.withLock {
        extras.threadPriority = min(1, max(0, newValue))
        mark(ExtrasMark.threadPriority)
      }
    }
  }

  /// A name for people: appears in descriptions and trap messages.
  open var name: String? {
    get { lock.withLock { extrasIfAny?.pointee.name } }
    set { lock.withLock { extras.name = newValue } }
  }

  /// Class, address, and name if there is one. Trap messages begin with the description.
  open var description: String {
    let address = String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
    let label = name.map { " name \"\($0)\"" } ?? ""
    return "<\(type(of: self)) 0x\(address)\(label)>"
  }

  /// The text of `whyNotStarted()`.
  open var debugDescription: String { whyNotStarted().description }

  // MARK: - For this module's own subclasses

  /// `main()` only begins the work: something else finishes the operation.
  var finishesItself: Bool { false }

  /// The asynchronous body's task; nil where the class has none.
  var bodyRun: TaskRun? { nil }

  /// When the operation started, by the monotonic clock, in nanoseconds; nil where the class does not note it.
  var ownStart: UInt64? { nil }

  /// The operation was skipped. Closures that will never run are released, as they may capture the operation.
  func releaseUnrunBlocks() {}

  /// A task that waits has raised the operation's level.
  func levelRose() {}

  /// A queue has the operation, and nobody can start it yet. Called with a lock of the queue's at times.
  func willBeListed(in queue: OperationQueue) {}

  /// Runs the operation as a job: its own entry, taken from a backend.
  @_spi(Jobs) override public final func runJob() -> JobOutcome { runEntry(byLink: true) }

  @_spi(Jobs) override public final var isVoid: Bool { stateNow.has(StateWord.started) }

  @_spi(Jobs) override public final var stepLabel: String {
    lock.withLock { extrasIfAny?.pointee.name } ?? "\(type(of: self))"
  }

  @_spi(Jobs) override public final func giveBackReusable() { SpareOperations.giveBack(word) }

  final func leaveController() {
    var old = stateNow
    // The entry of an operation that has started is void. That operation still reports its finish.
    while let next = old.leavingController() {
      if replaceState(old, with: next) { return }
      old = stateNow
    }
  }
}

extension Operation {
  /// Notes for a diagnosis when the operation started, by the monotonic clock; 0: not known. The time is stored only
  /// where the word is free: the operation has started, and no edge of a removed dependency may still use the word.
  final func noteStart(at time: UInt64, _ state: StateWord) {
    guard state.dependencyCount == 0, !state.has(StateWord.edgesRemoved) else { return }
    edgeNext.store(UInt(time), ordering: .relaxed)
  }

  /// What `noteStart` noted, of an operation in a queue with a limit.
  final func startNoted(_ state: StateWord) -> UInt64? {
    guard state.has(StateWord.started), state.has(StateWord.tracked), state.dependencyCount == 0,
      !state.has(StateWord.edgesRemoved), admission.load(ordering: .relaxed) != 0
    else { return nil }
    let time = edgeNext.load(ordering: .relaxed)
    return time == 0 ? nil : UInt64(time)
  }

  final var stateNow: StateWord { StateWord(bits: state.load(ordering: .acquiring)) }

  /// Compare-exchanges the whole word.
  @inline(__always)
  final func replaceState(_ old: StateWord, with new: StateWord) -> Bool {
    assert(old.mayBecome(new), "an operation's state went back")
    return state.compareExchange(
      expected: old.bits, desired: new.bits, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed
    ).exchanged
  }

  /// Sets flags.
  /// - Returns: the word before.
  @discardableResult
  final func raise(_ flags: UInt64) -> StateWord {
    let (old, new) = state.bitwiseOr(flags, ordering: .sequentiallyConsistent)
    assert(StateWord(bits: new).isPossible, "an operation is in an impossible state")
    return StateWord(bits: old)
  }
}

extension Operation: Hashable {
  /// Identity.
  public static func == (left: Operation, right: Operation) -> Bool { left === right }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Operation: CustomStringConvertible {}
