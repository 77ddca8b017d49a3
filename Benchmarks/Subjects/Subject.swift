import HarnessWords
import Operations

/// A subject: something that is measured. A subject conforms to the most capable of the three protocols whose meaning
/// the subject really has. A benchmark asks for one of the protocols, and a subject without that protocol has an empty
/// cell.
///
/// Everything here is generic and inlinable. A benchmark is specialised for each subject, so that no existential and no
/// allocation of the harness is timed.
public protocol ClosureSubject: AnyObject, Sendable, WorkAdder {
  static var name: String { get }
  /// One line for `list` and the table that says what the subject is.
  static var summary: String { get }
  static var role: SubjectRole { get }
  /// False when the system decides how many threads run. The number given to `init` is then ignored.
  static var workersAreAdjustable: Bool { get }
  /// The abilities beyond running closures. The default is what most subjects of the protocol can do. A subject that
  /// differs declares its own.
  static var abilities: Abilities { get }

  init(workers: Int)

  /// The type that takes the work of `addAll`: the subject itself, or the scope in which the subject takes work.
  associatedtype Adder: WorkAdder = Self

  /// Adds many pieces of work in one go. `produce` submits the pieces to the adder that it is given, on this thread or
  /// another.
  func addAll(_ produce: @escaping @Sendable (Adder) -> Void)

  /// Runs `body` for every index below `count`, and `join` when all have returned, with the subject's own means of
  /// joining.
  func submit(_ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void)

  /// Blocks until everything that was submitted before the call has run.
  func drain()

  /// The number of pieces of work that were submitted and have not finished; nil when the subject does not know.
  var unfinished: Int? { get }

  /// Runs the body alone: after everything that was submitted before the barrier, and before everything submitted
  /// later. Needs the ability `barriers`.
  func submitBarrier(_ body: @escaping @Sendable () -> Void)

  /// While suspended, submitted work waits. Needs the ability `suspension`.
  func setSuspended(_ suspended: Bool)

  /// Runs both closures, maybe at the same time, and returns when both have returned. The calling thread is outside of
  /// the subject. Needs the ability `forks`.
  func forkFromOutside(_ first: @Sendable () -> Int, _ second: @Sendable () -> Int) -> (Int, Int)

  /// Makes a graph of tasks.
  /// - Returns: a function that runs the graph: it calls `body` once for each task, and returns when all have returned.
  ///   The calling thread is outside of the subject. Needs the ability `recordedGraphs`.
  func record(_ graph: RecordedShape, _ body: @escaping @Sendable (Int) -> Void) -> () -> Void

  /// Runs `body` for every index below `count`, maybe at the same time, and returns when all have returned. The calling
  /// thread is outside of the subject. Needs the ability `loops`.
  func perform(_ count: Int, _ body: @Sendable (Int) -> Void)

  /// A new element for each, in order. The calling thread is outside of the subject. Needs the ability `collections`.
  func map(_ elements: [UInt64], _ transform: @Sendable (UInt64) -> UInt64) -> [UInt64]

  /// Sorts in place. The calling thread is outside of the subject. Needs the ability `collections`.
  func sort(_ elements: inout [UInt64])

  /// Where tasks run that prefer the subject; nil for Swift's default executor. Needs the ability `tasks`.
  var taskExecutor: (any TaskExecutor)? { get }

  /// A new executor for actors on the subject; nil when the subject has none but that of Swift's default actors. Needs
  /// the ability `tasks`.
  func makeActorExecutor() -> (any SerialExecutor)?

  /// Runs an asynchronous body at some time. `drain` waits for the body's end. Needs the ability `tasks`.
  func submitTask(_ body: @escaping @Sendable () async -> Void)

  /// Runs an asynchronous body for every index below `count`, at most `limit` of them at a time, and returns when all
  /// have returned: in the form that users of the subject write. Nil is no limit. Needs the ability `tasks`.
  func runTasks(_ count: Int, limit: Int?, _ body: @escaping @Sendable (Int) async -> Void) async

  /// Runs an asynchronous body for every index below `count`. Cancels all of them when `whenBegun` has returned, and
  /// returns when all have returned: in the form that users of the subject write. Needs the ability `tasks`.
  func runCancelled(
    _ count: Int, _ body: @escaping @Sendable (Int) async -> Void, whenBegun: @escaping @Sendable () async -> Void
  ) async

  /// The calling task goes to the subject, which runs the body, and comes back. Needs the ability `hops`.
  func hop(_ body: @escaping @Sendable () -> Void) async

  /// From now on at most `limit` bodies run at a time, and at most `lessUrgent` of those that are not urgent. Needs the
  /// abilities `tasks` and `limits`.
  func setPlaces(_ limit: Int, lessUrgent: Int)

  /// Runs an asynchronous body at some time, and urgent ones first. Needs the abilities `tasks` and `limits`.
  func submitTask(isUrgent: Bool, _ body: @escaping @Sendable () async -> Void)

  /// Runs both closures, maybe at the same time, and returns when both have returned. The calling thread runs submitted
  /// work, or a closure that was forked. Needs the ability `forks`.
  ///
  /// As generic as `join` of this library: a closure that is passed on needs no other closure around it.
  static func fork<Value: Sendable, Failure: Error>(
    _ first: @Sendable () throws(Failure) -> Value, _ second: @Sendable () throws(Failure) -> Value
  ) throws(Failure) -> (Value, Value)
}

extension ClosureSubject {
  @inlinable public var unfinished: Int? { nil }
  public static var abilities: Abilities { .threads }

  /// Never called: no benchmark is prepared for a subject without the abilities that the benchmark needs.
  public func submitBarrier(_ body: @escaping @Sendable () -> Void) {
    preconditionFailure("\(Self.name): no barriers")
  }
  public func setSuspended(_ suspended: Bool) { preconditionFailure("\(Self.name) cannot be suspended") }
  public func forkFromOutside(_ first: @Sendable () -> Int, _ second: @Sendable () -> Int) -> (Int, Int) {
    preconditionFailure("\(Self.name): no forks")
  }
  public func record(_ graph: RecordedShape, _ body: @escaping @Sendable (Int) -> Void) -> () -> Void {
    preconditionFailure("\(Self.name): no graph that is made once and run often")
  }
  public func perform(_ count: Int, _ body: @Sendable (Int) -> Void) { preconditionFailure("\(Self.name): no loops") }
  public func map(_ elements: [UInt64], _ transform: @Sendable (UInt64) -> UInt64) -> [UInt64] {
    preconditionFailure("\(Self.name): no collections")
  }
  public func sort(_ elements: inout [UInt64]) { preconditionFailure("\(Self.name): no collections") }
  public var taskExecutor: (any TaskExecutor)? { preconditionFailure("\(Self.name): no tasks") }
  public func makeActorExecutor() -> (any SerialExecutor)? { preconditionFailure("\(Self.name): no tasks") }
  public func submitTask(_ body: @escaping @Sendable () async -> Void) {
    preconditionFailure("\(Self.name): no tasks")
  }
  public func runTasks(_ count: Int, limit: Int?, _ body: @escaping @Sendable (Int) async -> Void) async {
    preconditionFailure("\(Self.name): no tasks")
  }
  public func runCancelled(
    _ count: Int, _ body: @escaping @Sendable (Int) async -> Void, whenBegun: @escaping @Sendable () async -> Void
  ) async {
    preconditionFailure("\(Self.name): no tasks")
  }
  /// As tasks go to what they may prefer. A task without a preference that prefers the default executor for a step goes
  /// there as the task would go anywhere else.
  @inlinable
  public func hop(_ body: @escaping @Sendable () -> Void) async {
    await withTaskExecutorPreference(taskExecutor ?? globalConcurrentExecutor) { body() }
  }
  public func setPlaces(_ limit: Int, lessUrgent: Int) { preconditionFailure("\(Self.name): no limits by priority") }
  public func submitTask(isUrgent: Bool, _ body: @escaping @Sendable () async -> Void) {
    preconditionFailure("\(Self.name): no limits by priority")
  }
  public static func fork<Value: Sendable, Failure: Error>(
    _ first: @Sendable () throws(Failure) -> Value, _ second: @Sendable () throws(Failure) -> Value
  ) throws(Failure) -> (Value, Value) {
    preconditionFailure("\(Self.name): no forks")
  }
}

/// The shape of a graph that is made once and run often.
public struct RecordedShape: Sendable {
  /// The tasks that each task comes after. They stand before it.
  public let inputs: [[Int]]
  /// How long each task takes, in nanoseconds.
  public let costs: [Double]
  public let order: GraphOrder

  public init(inputs: [[Int]], costs: [Double], order: GraphOrder) {
    (self.inputs, self.costs, self.order) = (inputs, costs, order)
  }
}

/// Takes pieces of work.
public protocol WorkAdder {
  /// Runs the body at some time, on some thread.
  func submit(_ body: @escaping @Sendable () -> Void)
}

extension ClosureSubject where Adder == Self {
  @inlinable
  public func addAll(_ produce: @escaping @Sendable (Self) -> Void) { produce(self) }
}

/// A subject whose work can be cancelled, one piece at a time.
public protocol CancellableSubject: ClosureSubject {
  associatedtype Cancellable: AnyObject & Sendable

  /// Runs a body that can ask whether the work was cancelled.
  func submitCancellable(_ body: @escaping @Sendable (Cancellable) -> Void) -> Cancellable
  static func cancel(_ work: Cancellable)
  static func isCancelled(_ work: Cancellable) -> Bool
}

extension CancellableSubject {
  public static var abilities: Abilities { [.threads, .cancellation] }
}

/// The operation API: operations with dependencies and priorities in a queue that can be suspended and cancelled as a
/// whole.
public protocol OperationSubject: CancellableSubject, Waiting {
  /// Needs the ability `fairness`: one job of the lowest level in `fairnessInterval` jobs; 0 for none.
  init(workers: Int, fairnessInterval: Int)

  /// `count` queues on the same threads. Needs the ability `queues`.
  static func queues(_ count: Int, workers: Int) -> [Self]

  static func makeOperation(_ body: @escaping @Sendable () -> Void) -> Item
  /// An operation that is made with its dependencies. Needs the ability `dependenciesAtOnce`.
  static func makeOperation(after dependencies: some Sequence<Item>, _ body: @escaping @Sendable () -> Void) -> Item
  static func setPriority(_ level: PriorityLevel, of item: Item)
  static func addDependency(of item: Item, on dependency: Item)
  /// Sets a block that runs once when the operation has finished.
  static func setCompletion(_ block: consuming @escaping @Sendable () -> Void, of item: Item)
  static func isExecuting(_ item: Item) -> Bool
  static func isFinished(_ item: Item) -> Bool
  static func isCancelled(_ item: Item) -> Bool
  static func cancel(_ item: Item)
  /// Runs an operation that is in no queue to its end, on the calling thread.
  static func start(_ item: Item)

  func add(_ item: Item)
  /// Makes an operation with its dependencies and adds it.
  func add(after dependencies: some Sequence<Item>, _ body: @escaping @Sendable () -> Void) -> Item
  func add(contentsOf items: [Item])
  func cancelAll()
  /// Limits the number of operations that run at a time to `count`.
  func setLimit(_ count: Int)
  /// The number of operations that were added and have not finished.
  var remaining: Int { get }
}

extension OperationSubject {
  public init(workers: Int, fairnessInterval: Int) { preconditionFailure("\(Self.name): no adjustable fairness") }
  public static func queues(_ count: Int, workers: Int) -> [Self] {
    preconditionFailure("\(Self.name): no queues that share their threads")
  }
  public static func makeOperation(
    after dependencies: some Sequence<Item>, _ body: @escaping @Sendable () -> Void
  ) -> Item {
    preconditionFailure("\(Self.name): no initializer that takes dependencies")
  }

  @inlinable
  public func add(after dependencies: some Sequence<Item>, _ body: @escaping @Sendable () -> Void) -> Item {
    let item = Self.makeOperation(body)
    for dependency in dependencies { Self.addDependency(of: item, on: dependency) }
    add(item)
    return item
  }

  @inlinable public var unfinished: Int? { remaining }
  public static var abilities: Abilities { [.threads, .cancellation, .operations, .barriers, .suspension] }

  @inlinable
  public func submit(
    _ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void
  ) {
    let last = Self.makeOperation(join)
    var items: [Item] = []
    items.reserveCapacity(count + 1)
    for index in 0..<count {
      let item = Self.makeOperation { body(index) }
      Self.addDependency(of: last, on: item)
      items.append(item)
    }
    items.append(last)
    add(contentsOf: items)
  }
}

/// The five priorities of every operation API, lowest first.
public enum PriorityLevel: Int, CaseIterable, Sendable {
  case veryLow, low, normal, high, veryHigh
}
