import Primitives
import TestSupport
import Testing

@Suite struct WorkerLocalTests {
  private final class Pool: Sendable {}
  private final class Worker: Sendable {}

  /// The worker that the calling thread is in a pool.
  private func current(_ pool: Pool) -> Worker? {
    WorkerLocal.current(of: pool, as: Worker.self)?.takeUnretainedValue()
  }

  @Test func `a thread is a member of one pool, while the body runs`() throws {
    try inTime("the worker") { [self] in
      let pool = Pool()
      let other = Pool()
      let worker = Worker()
      #expect(current(pool) == nil)
      WorkerLocal.become(worker, of: pool) {
        #expect(current(pool) === worker)
        #expect(current(other) == nil)
      }
      #expect(current(pool) == nil)
    }
  }

  @Test func `each thread has its own`() throws {
    let pool = Pool()
    let inside = Rendezvous(4)
    try onThreads(4, "the workers") { [self] index in
      let worker = Worker()
      if index == 3 {
        // A thread that belongs to nobody.
        inside.arrive()
        if current(pool) != nil { Issue.record("a plain thread is a worker") }
        return
      }
      WorkerLocal.become(worker, of: pool) {
        inside.arrive()
        if current(pool) !== worker { Issue.record("a thread is another one's worker") }
      }
    }
  }
}
