import NIOPosix

/// `NIOThreadPool.submit`, the way SwiftNIO's users put blocking work aside: a fixed number of threads behind one lock.
/// It has no dependencies and no priorities, work that was submitted cannot be cancelled by whoever submitted it, and
/// nothing waits for it, so the outstanding work is counted by hand.
package final class NIOSubject: ClosureSubject {
  package static var name: String { "nio" }
  package static var summary: String { "SwiftNIO's NIOThreadPool" }
  package static var role: SubjectRole { .reference }
  package static var workersAreAdjustable: Bool { true }

  @usableFromInline let pool: NIOThreadPool
  @usableFromInline let outstanding = Outstanding()

  package init(workers: Int) {
    pool = NIOThreadPool(numberOfThreads: workers)
    pool.start()
  }

  // The pool insists on being shut down before it goes.
  deinit { pool.shutdownGracefully { _ in } }

  @inlinable
  package func submit(_ body: @escaping @Sendable () -> Void) {
    let outstanding = outstanding
    outstanding.enter()
    pool.submit { _ in
      body()
      outstanding.leave()
    }
  }

  @inlinable package func drain() { outstanding.wait() }
}
