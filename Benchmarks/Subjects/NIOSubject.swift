import HarnessWords
import NIOPosix

/// `NIOThreadPool.submit`, the way in which SwiftNIO's users move blocking work aside: a fixed number of threads behind
/// one lock. The pool has no dependencies and no priorities. Submitted work cannot be cancelled by its submitter. The
/// pool has no call that waits, so the outstanding work is counted by hand.
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

  // The pool must be shut down before it is released.
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
