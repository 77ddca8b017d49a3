import Harness
import Synchronization

/// Swift concurrency, on its own cooperative pool, each time in the form that its users write:
/// * work that is added in one go, and a join, are children of a discarding task group (`addAll`,
///   `submit(_:_:then:)`); the group lives in an unstructured task, since the caller is no asynchronous function;
/// * work that appears while other work runs (a chain, a graph whose tasks become ready) is an unstructured task,
///   because a child cannot add to the group it belongs to.
///
/// The width is the pool's: a thread per CPU. Bodies that block take that thread away.
public final class TaskGroupSubject: CancellableSubject {
  public static var name: String { "task-group" }
  public static var summary: String { "Swift concurrency: task groups and tasks" }
  public static var role: SubjectRole { .reference }
  public static var workersAreAdjustable: Bool { false }

  @usableFromInline let outstanding = Outstanding()

  public init(workers: Int) {}

  @inlinable
  public func submit(_ body: @escaping @Sendable () -> Void) {
    let outstanding = outstanding
    outstanding.enter()
    Task.detached {
      body()
      outstanding.leave()
    }
  }

  /// Adds children to the group in whose task it is used.
  public struct Adder: WorkAdder {
    @usableFromInline let group: DiscardingTaskGroup

    @usableFromInline
    init(_ group: DiscardingTaskGroup) { self.group = group }

    @inlinable
    public func submit(_ body: @escaping @Sendable () -> Void) {
      var group = group
      group.addTask { body() }
    }
  }

  @inlinable
  public func addAll(_ produce: @escaping @Sendable (Adder) -> Void) {
    let outstanding = outstanding
    outstanding.enter()
    Task.detached {
      await withDiscardingTaskGroup { group in
        produce(Adder(group))
      }
      outstanding.leave()
    }
  }

  @inlinable
  public func submit(
    _ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void
  ) {
    let outstanding = outstanding
    outstanding.enter()
    Task.detached {
      await withDiscardingTaskGroup { group in
        for index in 0..<count { group.addTask { body(index) } }
      }
      join()
      outstanding.leave()
    }
  }

  /// A task alone has run when its value is there, but what it submitted has not: hence the count.
  @inlinable public func drain() { outstanding.wait() }

  /// A task that its own body can see.
  public final class Cancellable: Sendable {
    fileprivate let task = Mutex<Task<Void, Never>?>(nil)
  }

  public func submitCancellable(_ body: @escaping @Sendable (Cancellable) -> Void) -> Cancellable {
    let outstanding = outstanding
    outstanding.enter()
    let work = Cancellable()
    let task = Task.detached {
      body(work)
      outstanding.leave()
    }
    work.task.withLock { $0 = task }
    return work
  }

  public static func cancel(_ work: Cancellable) { work.task.withLock { $0 }?.cancel() }

  /// Asked by the body itself, as everywhere in Swift concurrency.
  public static func isCancelled(_ work: Cancellable) -> Bool { Task.isCancelled }
}
