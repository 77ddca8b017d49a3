import HarnessWords
import OperationBackends
import Synchronization

/// What runs the tasks of a process.
public protocol DefaultExecutorChoice: Sendable {
  static var name: String { get }
  static var summary: String { get }
  static var workersAreAdjustable: Bool { get }
  /// Called once in a process that measures, on the main thread, before any task is made. Other processes, such as
  /// those of tests, keep the executor that they have.
  static func install(workers: Int) throws
}

public enum SwiftChoice: DefaultExecutorChoice {
  public static var name: String { "task-group" }
  public static var summary: String { "Swift concurrency: task groups and tasks" }
  public static var workersAreAdjustable: Bool { false }
  public static func install(workers: Int) {}
}

public enum StealingDefaultChoice: DefaultExecutorChoice {
  public static var name: String { "stealing-default" }
  public static var summary: String { "Swift concurrency on our work-stealing pool" }
  public static var workersAreAdjustable: Bool { true }
  public static func install(workers: Int) throws {
    try StealingChoice.makeBackend(workers: workers, fairnessInterval: Fairness.defaultInterval)
      .installAsDefaultExecutor()
  }
}

public typealias TaskGroupSubject = TasksSubject<SwiftChoice>
public typealias StealingDefaultSubject = TasksSubject<StealingDefaultChoice>

/// The default executors that are subjects.
package enum DefaultExecutors {
  private static let choices: [any DefaultExecutorChoice.Type] = [SwiftChoice.self, StealingDefaultChoice.self]

  /// Prepares this process for a subject; nothing to do for a subject that is no default executor.
  package static func install(for subject: String, workers: Int) throws {
    try choices.first { $0.name == subject }?.install(workers: workers)
  }
}

/// Swift concurrency on the default executor of the process, always in the form that its users write:
/// * Work that is added in one go, and a join, are children of a discarding task group (`addAll`, `submit(_:_:then:)`).
///   The group is inside an unstructured task, because the caller is not an asynchronous function.
/// * Work that appears while other work runs (a chain, a graph whose tasks become ready) is an unstructured task,
///   because a child cannot add to the group to which the child belongs.
///
/// The width of Swift's own pool is a thread per CPU. A body that blocks takes its thread away from that pool.
public final class TasksSubject<Choice: DefaultExecutorChoice>: CancellableSubject {
  public static var name: String { Choice.name }
  public static var summary: String { Choice.summary }
  public static var role: SubjectRole { .reference }
  public static var workersAreAdjustable: Bool { Choice.workersAreAdjustable }

  public static var abilities: Abilities { [.threads, .cancellation, .tasks, .hops] }

  @usableFromInline let outstanding = Outstanding()

  public init(workers: Int) {}

  public var taskExecutor: (any TaskExecutor)? { nil }
  public func makeActorExecutor() -> (any SerialExecutor)? { nil }

  public func submitTask(_ body: @escaping @Sendable () async -> Void) {
    let outstanding = outstanding
    outstanding.enter()
    Task.detached {
      await body()
      outstanding.leave()
    }
  }

  /// Children of a group. With a limit the group is a window: a child is added when another one has ended.
  public func runTasks(_ count: Int, limit: Int?, _ body: @escaping @Sendable (Int) async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<count {
        if let limit, index >= limit { await group.next() }
        group.addTask { await body(index) }
      }
      await group.waitForAll()
    }
  }

  public func runCancelled(
    _ count: Int, _ body: @escaping @Sendable (Int) async -> Void, whenBegun: @escaping @Sendable () async -> Void
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<count { group.addTask { await body(index) } }
      await whenBegun()
      group.cancelAll()
      await group.waitForAll()
    }
  }

  @inlinable
  public func submit(_ body: @escaping @Sendable () -> Void) {
    let outstanding = outstanding
    outstanding.enter()
    Task.detached {
      body()
      outstanding.leave()
    }
  }

  /// Adds children to the group in whose task the adder is used.
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

  /// The value of a task says only that the task has run, not the work that the task submitted. So the work is counted.
  @inlinable public func drain() { outstanding.wait() }

  /// A task that the task's own body can see.
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

  /// The body itself asks, as is usual in Swift concurrency.
  public static func isCancelled(_ work: Cancellable) -> Bool { Task.isCancelled }
}
