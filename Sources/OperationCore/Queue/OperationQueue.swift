import CPlatform
import OperationJobs
import Primitives
import Synchronization

/// Runs operations on a backend of your choice. Each operation runs when its dependencies have finished, the most
/// urgent first, at most `maxConcurrentOperationCount` at a time.
///
/// ```swift
/// import Operations
///
/// let queue = OperationQueue(maxConcurrentOperationCount: 4)
/// for number in 1...10 {
///   queue.addOperation { print("page \(number)") }
/// }
/// queue.waitUntilAllOperationsAreFinished()
/// ```
/// The documented contract is that of Foundation's class. All members may be called from any thread. A queue that is
/// released with operations pending runs the pending operations first.
open class OperationQueue: JobQueue, @unchecked Sendable {
  // Sendable: `registry` and `controller` synchronise themselves. The other fields are atomics, or touched under
  // `lock`.

  let registry = Registry()
  let controller = Controller()
  let lock = FutexLock()
  private let limit = Atomic<Int>(OperationQueue.defaultMaxConcurrentOperationCount)
  private let suspended = Atomic<Bool>(false)
  private let qualityOfServiceIndex = Atomic<UInt32>(QualityOfService.default.index)
  private let observed = Atomic<Bool>(false)
  /// Whether the operations are the members of a group, which finishes behind them.
  private let ofMembers = Atomic<Bool>(false)
  /// Operations whose bodies await others: counted while the queue has a limit.
  private let awaiting = Atomic<Int>(0)
  let looks = PendingLooks()
  /// Held while something that is observed changes, and is noted for observers.
  final let changes = FutexLock()
  /// What observers have been told about the number of operations; under `changes`.
  final var notedCount = 0
  /// Under `lock`.
  var extras = QueueExtras()

  /// A queue on the default backend, the shared work-stealing pool. Inside `withDeterministicOperations` the queue is
  /// on the deterministic backend.
  override public init() {
    super.init()
    setBox(DrivenBackends.boxOrDefault)
    QueueDump.remember(self)
  }

  /// A queue on a backend that other queues may use too.
  /// - Parameters:
  ///   - backend: runs the queue's operations.
  ///   - name: as the property of that name.
  ///   - limit: as the property `maxConcurrentOperationCount`. Traps when it is negative other than -1.
  public init(
    backend: any Backend, name: String? = nil,
    maxConcurrentOperationCount limit: Int = OperationQueue.defaultMaxConcurrentOperationCount
  ) {
    super.init()
    setBox(BackendBox(backend))
    QueueDump.remember(self)
    set(name, limit)
  }

  /// A queue on a backend, as the other initialiser makes it, for the short names:
  /// `OperationQueue(backend: .threadPool)`.
  @_disfavoredOverload
  public convenience init(
    backend: some Backend, name: String? = nil,
    maxConcurrentOperationCount limit: Int = OperationQueue.defaultMaxConcurrentOperationCount
  ) {
    self.init(backend: backend as any Backend, name: name, maxConcurrentOperationCount: limit)
  }

  /// A queue on the default backend, as `init()` makes it, with a name or a limit:
  /// `OperationQueue(maxConcurrentOperationCount: 4)`.
  /// - Parameters:
  ///   - name: as the property of that name.
  ///   - limit: as the property `maxConcurrentOperationCount`. Traps when it is negative other than -1.
  public convenience init(
    name: String? = nil, maxConcurrentOperationCount limit: Int = OperationQueue.defaultMaxConcurrentOperationCount
  ) {
    self.init()
    set(name, limit)
  }

  /// Through the properties, as a program that makes the queue and sets them: a subclass may override both.
  private final func set(_ name: String?, _ limit: Int) {
    if let name { self.name = name }
    if limit != Self.defaultMaxConcurrentOperationCount { maxConcurrentOperationCount = limit }
  }

  deinit { QueueDump.forget(self) }

  // MARK: - Adding

  /// Adds an operation. The operation may start at once, on another thread. O(1), and O(dependencies) to link them.
  ///
  /// Traps when the operation is in a queue already, is executing, or has finished.
  open func addOperation(_ op: Operation) { add(op) }

  /// Adds a closure as a `BlockOperation`. O(1). In a release build at most one allocation beside the closure's own:
  /// the operation takes the memory of an operation that has ended, where there is such memory.
  open func addOperation(_ block: consuming @escaping @Sendable () -> Void) { add(consume block) }

  /// Not for use: an operation that awaits is added with `addTask`.
  @available(
    *, unavailable,
    message: "the body awaits or throws; queue.addTask { … } adds such a body, and returns its operation"
  )
  public final func addOperation(_ block: @escaping @Sendable () async throws -> Void) { fatalError() }

  /// Adds a closure that runs when others have finished, as a `BlockOperation`, and returns the operation.
  /// ```swift
  /// import Operations
  ///
  /// let queue = OperationQueue()
  /// let text = queue.addOperation(dependencies: []) { print("load the text") }
  /// let pictures = queue.addOperation(dependencies: []) { print("load the pictures") }
  /// queue.addOperation(dependencies: [text, pictures]) { print("show the page") }
  /// queue.waitUntilAllOperationsAreFinished()
  /// ```
  /// The operation is what `BlockOperation(dependencies:block:)` and `addOperation(_:)` make, and costs less. A graph
  /// that is added in the order of its dependencies begins while the rest of the graph is made. O(count).
  ///
  /// The dependencies need not be in a queue yet. One that nobody ever adds or starts keeps the operation waiting.
  /// - Parameters:
  ///   - name: as `Operation.name`.
  ///   - priority: as `Operation.queuePriority`; nil leaves it to the qualities of service.
  ///   - dependencies: what the operation waits for, read once. The same twice counts once. May be in other queues.
  ///   - block: released after the block has run.
  /// - Returns: the operation. A subclass of `OperationQueue` gets the operation through its own `addOperation(_:)`.
  @discardableResult
  @inlinable
  public final func addOperation<Dependencies: Sequence>(
    name: String? = nil, priority: Operation.QueuePriority? = nil,
    dependencies: Dependencies = EmptyCollection<Operation>(), _ block: @escaping @Sendable () -> Void
  ) -> BlockOperation where Dependencies.Element: Operation {
    let operation = BlockOperation(name: name, dependencies: dependencies, block: block)
    if let priority { operation.queuePriority = priority }
    addNew(operation)
    return operation
  }

  /// Adds all operations in one step: none starts before all are listed. Traps as `addOperation`, before anything
  /// changed.
  @available(*, noasync, message: "may block the thread; use addOperation(_:) and await drained()")
  open func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {
    add(ops)
    if wait { for operation in ops.reversed() { operation.waitUntilFinished() } }
  }

  /// Adds a closure that runs alone: after everything added before the closure, before everything added later. O(1),
  /// and O(pending) for the first barrier or limit of a queue that had neither.
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    addBarrier(BlockOperation(block: barrier))
  }

  /// Adds an operation that runs alone, as the block of `addBarrierBlock(_:)` does. That function and `barrier(_:)`
  /// call this one, so a subclass that overrides it sees every barrier.
  ///
  /// Traps as `addOperation(_:)` does.
  open func addBarrier(_ op: Operation) { listBarrier(op) }

  /// Not for use: a barrier that awaits is `barrier(_:)`.
  @available(*, unavailable, message: "the body awaits or throws; try await queue.barrier { … } runs such a body alone")
  public final func addBarrierBlock(_ barrier: @escaping @Sendable () async throws -> Void) { fatalError() }

  // MARK: - Looking

  /// The unfinished operations in the order of adding: a snapshot. O(pending).
  ///
  /// An operation whose class has posted `isFinished` is not there any more: the call waits until the queue has looked
  /// at such posts, unless a class's property takes longer than ten milliseconds.
  open var operations: [Operation] {
    looks.settle()
    return snapshot()
  }

  /// How many operations are unfinished, as `operations` has them. O(1), no lock.
  open var operationCount: Int {
    looks.settle()
    return registry.pendingCount
  }

  // MARK: - Controlling

  /// Cancels every operation added before the call, at one instant. None of them starts after the call has returned,
  /// not even when another one of them was cancelled and finished. Started means that `isExecuting` is true when the
  /// call returns. The body of a started operation may begin a moment later; a body that looks at `isCancelled` then
  /// finds it true. Later operations are untouched. O(pending).
  ///
  /// An operation whose class overrides `cancel()` waits until that method has called `super` or has returned. The
  /// operation runs when its `cancel()` did not call `super`.
  open func cancelAllOperations() { cancelAll() }

  /// Blocks until nothing is left, including what is added meanwhile, and barriers. Traps inside an operation of this
  /// queue: that operation would wait for itself.
  @available(*, noasync, message: "blocks the thread; use await drained()")
  open func waitUntilAllOperationsAreFinished() { waitForAll() }

  /// At most this many operations are started and unfinished at any time. -1, the default, leaves the number to the
  /// backend. An asynchronous operation holds its place until it finishes. 0 starts nothing. Lowering stops no
  /// running operation. Traps when negative other than -1. O(1), and O(pending) when the change ends or begins a
  /// state without limit.
  open var maxConcurrentOperationCount: Int {
    get { limit.load(ordering: .relaxed) }
    set { setLimit(newValue) }
  }

  /// While true, no operation starts; running operations go on, and cancelled ones stay. When the setter has
  /// returned, nothing that had not started will start. Started means that `isExecuting` is true when the setter
  /// returns. The body of a started operation may begin a moment later. O(1), and O(pending) when the change ends or
  /// begins a state without limit.
  open var isSuspended: Bool {
    get { isSuspendedNow }
    set { setSuspended(newValue) }
  }

  /// A name for people: appears in descriptions and trap messages.
  open var name: String? {
    get { lock.withLock { extras.name } }
    set {
      changes.withLock {
        lock.withLock { extras.name = newValue }
        if isObserved { note(.name) }
      }
      deliver(.name)
    }
  }

  /// The quality of service of operations that have neither a priority nor a quality of service of their own; see
  /// `QualityOfService`. Applies to operations added from now on.
  open var qualityOfService: QualityOfService {
    get { qualityOfServiceNow }
    set { qualityOfServiceIndex.store(newValue.index, ordering: .relaxed) }
  }

  /// How much of the work is done. The object is made when it is first asked for.
  open var progress: OperationProgress { progressObject }

  /// Class, address, name, and backend.
  open var description: String {
    let address = String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
    let label = name.map { " name \"\($0)\"" } ?? ""
    return "<\(type(of: self)) 0x\(address)\(label) on \(backend.name)>"
  }

  /// The text of `diagnosis()`, without tasks.
  open var debugDescription: String { diagnosis(withTasks: false).description }

  /// The limit that leaves the number of running operations to the backend.
  public static let defaultMaxConcurrentOperationCount = -1
}

extension OperationQueue {
  /// How many operations of low priority may run at a time, beside `maxConcurrentOperationCount`. None at first.
  /// Lowering stops no running operation. A barrier, which runs alone, is not held up by these limits. O(1), and
  /// O(pending) when the change ends or begins a state without limit.
  ///
  /// An operation that a task awaits has at least the task's priority, which is medium in most programs: then a limit
  /// below `normal` does not hold the operation. Where tasks await everything, set the limit below `high`, and give
  /// `high` to what must not wait.
  ///
  /// Of two threads that set limits at the same time, the last one's value holds, as a whole. Traps when a limit is
  /// negative, and when there is one below `veryLow`.
  public final var limits: PriorityLimits {
    get { lock.withLock { extras.limits } }
    set {
      newValue.check(for: self)
      controller.change(self) { admission in
        lock.withLock { extras.limits = newValue }
        admission.limitsBelow = newValue.byLevel
      }
    }
  }

  /// What runs this queue's operations.
  public final var backend: any Backend { box._withUnsafeGuaranteedRef { $0.backend } }

  /// The backend, when it is one of this library's own.
  final var supervisedBackend: (any SupervisedBackend)? { box._withUnsafeGuaranteedRef { $0.supervised } }

  /// The backend for the length of a call, without a reference of its own: the queue must outlive the call.
  @inline(__always)
  final func withBackend<Result>(_ body: (any Backend) -> Result) -> Result {
    box._withUnsafeGuaranteedRef { body($0.backend) }
  }

  /// The number of the backend, as operations and frames store it.
  final var home: UInt32 { box._withUnsafeGuaranteedRef { $0.home.number } }

  /// The backend's name as it was when the queue got the backend.
  final var backendName: String { box._withUnsafeGuaranteedRef { $0.name } }

  /// Worker count of the backend, at least 1.
  final var backendWorkerCount: Int { box._withUnsafeGuaranteedRef { $0.home.workerCount } }

  /// The limit, even where a subclass overrides the property.
  final var maximumNow: Int { limit.load(ordering: .relaxed) }

  /// Whether the queue is suspended, even where a subclass overrides the property.
  final var isSuspendedNow: Bool { suspended.load(ordering: .relaxed) }

  final var qualityOfServiceNow: QualityOfService {
    QualityOfService(index: qualityOfServiceIndex.load(ordering: .relaxed))
  }

  final var isObserved: Bool { observed.load(ordering: .relaxed) }
  /// For a thread that has just changed the list: an observer that does not know of the change is seen here. Both
  /// sides are sequentially consistent.
  final var isObservedForSure: Bool { observed.load(ordering: .sequentiallyConsistent) }
  final func becomeObserved() { observed.store(true, ordering: .sequentiallyConsistent) }

  final var isOfMembers: Bool { ofMembers.load(ordering: .relaxed) }
  final func becomeMembers() { ofMembers.store(true, ordering: .relaxed) }

  final var awaitingBodies: Int { awaiting.load(ordering: .sequentiallyConsistent) }
  final func countAwaitingBody(_ change: Int) { awaiting.wrappingAdd(change, ordering: .sequentiallyConsistent) }

  static func unmanaged(_ word: UInt) -> Unmanaged<OperationQueue> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
  }

  /// A reference to the queue of a word that something else keeps alive at this moment. The function is never
  /// inlined, for the reason given at `Operation.retained`.
  @inline(never)
  static func retained(_ word: UInt) -> OperationQueue { unmanaged(word).takeUnretainedValue() }

  /// Puts another backend in place. Traps when the queue is not empty.
  package final func replaceBackend(_ backend: any Backend) {
    if registry.pendingCount != 0 { misuse(self, "underlyingQueue cannot be changed while the queue has operations") }
    replaceBox(BackendBox(backend))
  }

  /// Puts the first backend back in place. Traps when the queue is not empty.
  package final func restoreBackend() {
    if let backend = firstBackend { replaceBackend(backend) }
  }

  /// What another module keeps with the queue.
  package final var attachment: AnyObject? {
    get { lock.withLock { extras.attachment } }
    set { lock.withLock { extras.attachment = newValue } }
  }

  // MARK: - Settings

  private final func setLimit(_ count: Int) {
    if count < OperationQueue.defaultMaxConcurrentOperationCount {
      misuse(self, "maxConcurrentOperationCount cannot be \(count): it is -1 (no limit), 0, or more")
    }
    var old = 0
    controller.change(self) { admission in
      // Exchanged together with the controller's own setting, under the controller's lock: of two setters at once,
      // the last one holds for both.
      changes.withLock {
        old = limit.exchange(count, ordering: .relaxed)
        if isObserved, old != count { note(.maxConcurrentOperationCount) }
      }
      admission.limit = count < 0 ? .max : count
    }
    deliver(.maxConcurrentOperationCount)
  }

  private final func setSuspended(_ value: Bool) {
    var old = false
    controller.change(self) { admission in
      changes.withLock {
        old = suspended.exchange(value, ordering: .relaxed)
        if isObserved, old != value { note(.isSuspended) }
      }
      admission.isSuspended = value
    }
    deliver(.isSuspended)
  }
}

/// What only few queues have.
struct QueueExtras {
  var name: String?
  var limits = PriorityLimits()
  var progress: OperationProgress?
  var observers = ObserverSlots<ObservableQueueKey>()
  /// Values that other modules attach (a dispatch queue).
  var attachment: AnyObject?
}

extension OperationQueue: Hashable {
  /// Identity.
  public static func == (left: OperationQueue, right: OperationQueue) -> Bool { left === right }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension OperationQueue: CustomStringConvertible {}
