import HarnessWords
import OperationBackends

/// One of this library's backends, used through the public `Backend` protocol, without operations and queues. The
/// difference to the subject with the same name without `-bare` is the cost of the operation layer. A closure is a
/// `Job`. A backend has no call that waits, so the outstanding jobs are counted by hand.
public final class BareSubject<Choice: BackendChoice>: ClosureSubject {
  public static var name: String { Choice.name + "-bare" }
  public static var summary: String { Choice.bareSummary }
  public static var role: SubjectRole { .bare }
  public static var workersAreAdjustable: Bool { true }

  @usableFromInline let backend: Choice.Executor
  @usableFromInline let outstanding = Outstanding()

  public init(workers: Int) {
    backend = Choice.makeBackend(workers: workers, fairnessInterval: Fairness.defaultInterval)
  }

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
