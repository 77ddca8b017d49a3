import Operations

/// One of our backends used through the public `Backend` protocol, without operations and queues: the difference to the
/// same name without `-bare` is what the operation layer costs. A closure is a `Job`; nothing waits for a backend, so the
/// outstanding ones are counted by hand.
package final class BareSubject<Choice: BareChoice>: ClosureSubject {
  package static var name: String { Choice.name }
  package static var summary: String { Choice.summary }
  package static var role: SubjectRole { .bare }
  package static var workersAreAdjustable: Bool { true }

  @usableFromInline let backend: Choice.Executor
  @usableFromInline let outstanding = Outstanding()

  package init(workers: Int) { backend = Choice.makeBackend(workers: workers) }

  @inlinable
  package func submit(_ body: @escaping @Sendable () -> Void) {
    let outstanding = outstanding
    outstanding.enter()
    backend.submit(
      Job {
        body()
        outstanding.leave()
      })
  }

  @inlinable package func drain() { outstanding.wait() }
}

/// A backend of ours as a concrete type, so that its `submit` is no call through an existential.
package protocol BareChoice: Sendable {
  associatedtype Executor: Backend
  static var name: String { get }
  static var summary: String { get }
  static func makeBackend(workers: Int) -> Executor
}

package enum BareStealingChoice: BareChoice {
  package static var name: String { "stealing-bare" }
  package static var summary: String { "the work-stealing pool, closures submitted to it directly" }
  package static func makeBackend(workers: Int) -> StealingBackend { StealingBackend(workers: workers) }
}

package enum BareThreadPoolChoice: BareChoice {
  package static var name: String { "threadpool-bare" }
  package static var summary: String { "the pool with one lock, closures submitted to it directly" }
  package static func makeBackend(workers: Int) -> ThreadPoolBackend { ThreadPoolBackend(workers: workers) }
}

package enum BareDispatchChoice: BareChoice {
  package static var name: String { "dispatch-bare" }
  package static var summary: String { "our priority lists on Dispatch's threads, closures submitted to them directly" }
  package static func makeBackend(workers: Int) -> DispatchBackend { DispatchBackend(workers: workers) }
}

package typealias BareStealingSubject = BareSubject<BareStealingChoice>
package typealias BareThreadPoolSubject = BareSubject<BareThreadPoolChoice>
package typealias BareDispatchSubject = BareSubject<BareDispatchChoice>
