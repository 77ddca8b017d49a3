import HarnessWords
import NIOCore
import NIOPosix

/// `NIOThreadPool.submit`, the way in which SwiftNIO's users move blocking work aside: a fixed number of threads behind
/// one lock. The pool has no dependencies and no priorities. Submitted work cannot be cancelled by its submitter. The
/// pool has no call that waits, so the outstanding work is counted by hand.
public final class NIOSubject: ClosureSubject {
  public static var name: String { "nio" }
  public static var summary: String { "SwiftNIO's NIOThreadPool" }
  public static var role: SubjectRole { .reference }
  public static var abilities: Abilities { [.threads, .hops] }
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

  public func hop(_ body: @escaping @Sendable () -> Void) async {
    do { try await pool.runIfActive(body) } catch { preconditionFailure("the pool of SwiftNIO is shut down: \(error)") }
  }
}

/// The event loops of SwiftNIO by turns: `execute`, and `submit` where a task awaits the result. Work that an event
/// loop has got waits for that loop, so closures must not wait for one another.
public final class NIOLoopSubject: ClosureSubject {
  public static var name: String { "nio-loop" }
  public static var summary: String { "SwiftNIO's event loops, by turns" }
  public static var role: SubjectRole { .reference }
  public static var workersAreAdjustable: Bool { true }
  public static var abilities: Abilities { .hops }

  @usableFromInline let loops: MultiThreadedEventLoopGroup
  @usableFromInline let outstanding = Outstanding()

  public init(workers: Int) { loops = MultiThreadedEventLoopGroup(numberOfThreads: workers) }

  // The loops must be shut down before they are released.
  deinit { loops.shutdownGracefully { _ in } }

  @inlinable
  public func submit(_ body: @escaping @Sendable () -> Void) {
    let outstanding = outstanding
    outstanding.enter()
    loops.next().execute {
      body()
      outstanding.leave()
    }
  }

  @inlinable public func drain() { outstanding.wait() }

  public func hop(_ body: @escaping @Sendable () -> Void) async {
    do {
      try await loops.next().submit(body).get()
    } catch {
      preconditionFailure("the event loops of SwiftNIO are shut down: \(error)")
    }
  }
}
