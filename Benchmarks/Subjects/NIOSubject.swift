import Harness
import NIOPosix

/// `NIOThreadPool.submit`, the way SwiftNIO's users put blocking work aside: a fixed number of threads behind one lock.
/// It has no dependencies and no priorities, work that was submitted cannot be cancelled by whoever submitted it, and
/// nothing waits for it, so the outstanding work is counted by hand.
public final class NIOSubject: ClosureSubject {
  public static var name: String { "nio" }
  public static var summary: String { "SwiftNIO's NIOThreadPool" }
  public static var role: SubjectRole { .reference }
  public static var workersAreAdjustable: Bool { true }

  @usableFromInline let pool: NIOThreadPool
  @usableFromInline let outstanding = Outstanding()

  public init(workers: Int) {
    pool = NIOThreadPool(numberOfThreads: workers)
    pool.start()
  }

  // The pool insists on being shut down before it goes.
  deinit { pool.shutdownGracefully { _ in } }

  @inlinable
  public func submit(_ body: @escaping @Sendable () -> Void) {
    let outstanding = outstanding
    outstanding.enter()
    pool.submit { _ in
      body()
      outstanding.leave()
    }
  }

  @inlinable public func drain() { outstanding.wait() }
}
