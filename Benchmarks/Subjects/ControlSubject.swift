import Glibc
import Harness

/// The stealing backend with a known delay in front of every operation: the positive control of `opbench validate`,
/// and without a delay its null control. Both are this same code, and only a number in the environment differs.
///
/// The delay is taken where the operation is made, on the thread that adds it. Where adding and running do not
/// overlap, as in all benchmarks that `validate` uses, it lengthens the whole by just so much.
public final class ControlSubject: OperationSubject {
  public static var name: String { "control" }
  public static var workersAreAdjustable: Bool { true }
  public typealias Item = StealingSubject.Item
  public typealias Cancellable = StealingSubject.Cancellable

  /// The variable that holds the rounds of spinning per operation.
  public static let delayVariable = "OPBENCH_CONTROL_ROUNDS"

  @usableFromInline static let rounds = getenv(delayVariable).flatMap { Int(String(cString: $0)) } ?? 0
  @usableFromInline let inner: StealingSubject

  public init(workers: Int) { inner = StealingSubject(workers: workers) }

  @inlinable
  public func submit(_ body: @escaping @Sendable () -> Void) {
    Spin.run(rounds: Self.rounds)
    inner.submit(body)
  }

  @inlinable public func drain() { inner.drain() }

  public func submitCancellable(_ body: @escaping @Sendable (Cancellable) -> Void) -> Cancellable {
    Spin.run(rounds: Self.rounds)
    return inner.submitCancellable(body)
  }

  @inlinable public static func cancel(_ work: Cancellable) { StealingSubject.cancel(work) }
  @inlinable public static func isCancelled(_ work: Cancellable) -> Bool { StealingSubject.isCancelled(work) }

  @inlinable
  public static func makeOperation(_ body: @escaping @Sendable () -> Void) -> Item {
    Spin.run(rounds: rounds)
    return StealingSubject.makeOperation(body)
  }

  @inlinable
  public static func setPriority(_ level: PriorityLevel, of item: Item) {
    StealingSubject.setPriority(level, of: item)
  }

  @inlinable
  public static func addDependency(of item: Item, on dependency: Item) {
    StealingSubject.addDependency(of: item, on: dependency)
  }

  @inlinable public static func isExecuting(_ item: Item) -> Bool { StealingSubject.isExecuting(item) }
  @inlinable public func add(_ item: Item) { inner.add(item) }
  @inlinable public func add(contentsOf items: [Item]) { inner.add(contentsOf: items) }
  @inlinable public func cancelAll() { inner.cancelAll() }
  @inlinable public func setSuspended(_ suspended: Bool) { inner.setSuspended(suspended) }
  @inlinable public var remaining: Int { inner.remaining }
}
