import Harness

/// Something that is measured. A subject conforms to the last of the three protocols whose meaning it really has; a
/// benchmark asks for one of them, and a subject without it has an empty cell.
///
/// Everything here is generic and inlinable: a benchmark is specialised for each subject, so that no existential and
/// no allocation of the harness is timed.
public protocol ClosureSubject: AnyObject, Sendable, WorkAdder {
  static var name: String { get }
  /// One line for `list` and the table: what it is.
  static var summary: String { get }
  static var role: SubjectRole { get }
  /// False where the system decides how many threads run; the number given to `init` is then ignored.
  static var workersAreAdjustable: Bool { get }
  /// What it can do beyond running closures. The kind of subject says what most can; one that differs says so itself.
  static var abilities: Abilities { get }

  init(workers: Int)

  /// What takes the work that `addAll` adds: the subject itself, or the scope in which it takes work.
  associatedtype Adder: WorkAdder = Self

  /// Adds many pieces of work in one go: `produce` submits them to the adder it is given, on this thread or another.
  func addAll(_ produce: @escaping @Sendable (Adder) -> Void)

  /// Runs `body` for every index below `count`, and `join` when all have returned, with the subject's own means for
  /// that.
  func submit(_ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void)

  /// Blocks until everything that was submitted before the call has run.
  func drain()

  /// What has been submitted and has not finished; nil where the subject does not know.
  var unfinished: Int? { get }

  /// Runs the body alone: after everything that was submitted before it, and before everything submitted later. With
  /// the ability `barriers`.
  func submitBarrier(_ body: @escaping @Sendable () -> Void)

  /// While suspended, what is submitted waits. With the ability `suspension`.
  func setSuspended(_ suspended: Bool)
}

extension ClosureSubject {
  @inlinable public var unfinished: Int? { nil }
  public static var abilities: Abilities { .threads }

  /// No benchmark is prepared for a subject without the abilities that it needs.
  public func submitBarrier(_ body: @escaping @Sendable () -> Void) {
    preconditionFailure("\(Self.name): no barriers")
  }
  public func setSuspended(_ suspended: Bool) { preconditionFailure("\(Self.name) cannot be suspended") }
}

/// Takes pieces of work.
public protocol WorkAdder {
  /// Runs the body some time, on some thread.
  func submit(_ body: @escaping @Sendable () -> Void)
}

extension ClosureSubject where Adder == Self {
  @inlinable
  public func addAll(_ produce: @escaping @Sendable (Self) -> Void) { produce(self) }
}

/// A subject whose work can be cancelled, one piece at a time.
public protocol CancellableSubject: ClosureSubject {
  associatedtype Cancellable: AnyObject & Sendable

  /// Runs a body that can ask whether it was cancelled.
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
  /// With the ability `fairness`: one job of the lowest level in `fairnessInterval`; 0 for none.
  init(workers: Int, fairnessInterval: Int)

  /// With the ability `queues`: that many on the same threads.
  static func queues(_ count: Int, workers: Int) -> [Self]

  static func makeOperation(_ body: @escaping @Sendable () -> Void) -> Item
  static func setPriority(_ level: PriorityLevel, of item: Item)
  static func addDependency(of item: Item, on dependency: Item)
  /// A block that runs once when the operation has finished.
  static func setCompletion(_ block: @escaping @Sendable () -> Void, of item: Item)
  static func isExecuting(_ item: Item) -> Bool
  static func isFinished(_ item: Item) -> Bool
  static func isCancelled(_ item: Item) -> Bool
  static func cancel(_ item: Item)
  /// Runs an operation that is in no queue, on the calling thread, to its end.
  static func start(_ item: Item)

  func add(_ item: Item)
  func add(contentsOf items: [Item])
  func cancelAll()
  /// At most n operations run at a time.
  func setLimit(_ count: Int)
  /// What has been added and has not finished.
  var remaining: Int { get }
}

extension OperationSubject {
  public init(workers: Int, fairnessInterval: Int) { preconditionFailure("\(Self.name): no adjustable fairness") }
  public static func queues(_ count: Int, workers: Int) -> [Self] {
    preconditionFailure("\(Self.name): no queues that share their threads")
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

/// The five priorities every operation API has, lowest first.
public enum PriorityLevel: Int, CaseIterable, Sendable {
  case veryLow, low, normal, high, veryHigh
}
