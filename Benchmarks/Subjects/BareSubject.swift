import Harness
import Operations

/// One of our backends used through the public `Backend` protocol, without operations and queues: the difference to the
/// same name without `-bare` is what the operation layer costs. A closure is a `Job`; nothing waits for a backend, so the
/// outstanding ones are counted by hand.
public final class BareSubject<Choice: BareChoice>: ClosureSubject {
  public static var name: String { Choice.name }
  public static var summary: String { Choice.summary }
  public static var role: SubjectRole { .bare }
  public static var workersAreAdjustable: Bool { true }

  @usableFromInline let backend: Choice.Executor
  @usableFromInline let outstanding = Outstanding()

  public init(workers: Int) { backend = Choice.makeBackend(workers: workers) }

  @inlinable
  public func submit(_ body: @escaping @Sendable () -> Void) {
    let outstanding = outstanding
    outstanding.enter()
    backend.submit(
      Job {
        body()
        outstanding.leave()
      })
  }

  @inlinable public func drain() { outstanding.wait() }
}

/// A backend of ours as a concrete type, so that its `submit` is no call through an existential.
public protocol BareChoice: Sendable {
  associatedtype Executor: Backend
  static var name: String { get }
  static var summary: String { get }
  static func makeBackend(workers: Int) -> Executor
}

public enum BareStealingChoice: BareChoice {
  public static var name: String { "stealing-bare" }
  public static var summary: String { "the work-stealing pool, closures submitted to it directly" }
  public static func makeBackend(workers: Int) -> StealingBackend { StealingBackend(workers: workers) }
}

public enum BareThreadPoolChoice: BareChoice {
  public static var name: String { "threadpool-bare" }
  public static var summary: String { "the pool with one lock, closures submitted to it directly" }
  public static func makeBackend(workers: Int) -> ThreadPoolBackend { ThreadPoolBackend(workers: workers) }
}

public enum BareDispatchChoice: BareChoice {
  public static var name: String { "dispatch-bare" }
  public static var summary: String { "our priority lists on Dispatch's threads, closures submitted to them directly" }
  public static func makeBackend(workers: Int) -> DispatchBackend { DispatchBackend(workers: workers) }
}

public typealias BareStealingSubject = BareSubject<BareStealingChoice>
public typealias BareThreadPoolSubject = BareSubject<BareThreadPoolChoice>
public typealias BareDispatchSubject = BareSubject<BareDispatchChoice>
