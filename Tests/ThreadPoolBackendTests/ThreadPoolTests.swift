import OperationCore
import OperationForks
import OperationJobs
import Primitives
import Scheduling
import TestSupport
import Testing

@testable import ThreadPoolBackend

/// The pool without a queue in front: what its one lock guards, seen through the pool's report.
@Suite struct ThreadPoolTests {
  private func withPool(
    workers: Int, threadLimit: Int = 64, _ strategy: String = "", _ body: (ThreadPool) throws -> Void
  ) throws {
    let pool = ThreadPool(
      workers: WorkerNumber(workers), fairnessInterval: 0, threadLimit: threadLimit, strategy: try .init(strategy))
    try body(pool)
    pool.stop()
    try inTime("the pool to end") { pool.join() }
  }

  private func submit(
    _ pool: ThreadPool, _ priority: Operation.QueuePriority = .normal, _ body: @escaping @Sendable () -> Void
  ) {
    pool.submit(Job(priority: priority, body).word)
  }

  @Test func `the report counts the jobs that wait, and the thread that is busy`() throws {
    try withPool(workers: 1, threadLimit: 1) { pool in
      let (begun, gate) = (Gate(), Gate())
      submit(pool) {
        begun.open()
        gate.pass()
      }
      try begun.wait("the first job to begin")
      for _ in 0..<5 { submit(pool) {} }
      let report = pool.report
      #expect(report.queued == 5 && report.threads.count == 1 && !report.isRefused)
      #expect(report.threads.allSatisfy { $0.isBusy })
      gate.open()
    }
  }

  @Test(arguments: [
    ("", [3, 1, 5, 4, 0, 2]), ("locks=perlevel", [3, 1, 5, 4, 0, 2]), ("waking=passed", [3, 1, 5, 4, 0, 2]),
    ("order=fifo", [0, 1, 2, 3, 4, 5]), ("order=fifo;locks=perlevel", [0, 1, 2, 3, 4, 5]),
    ("order=lifo", [5, 4, 3, 2, 1, 0]), ("order=lifo;locks=perlevel", [5, 4, 3, 2, 1, 0]),
  ])
  func `one worker takes the jobs in the order of the strategy`(strategy: String, order: [Int]) throws {
    try withPool(workers: 1, threadLimit: 1, strategy) { pool in
      let log = EventLog<Int>()
      let (begun, gate, done) = (Gate(), Gate(), CountdownLatch(6))
      submit(pool) {
        begun.open()
        gate.pass()
      }
      try begun.wait("the first job to begin")
      let levels: [Operation.QueuePriority] = [.low, .high, .low, .veryHigh, .normal, .high]
      for (index, priority) in levels.enumerated() {
        submit(pool, priority) {
          log.append(index)
          done.countDown()
        }
      }
      gate.open()
      try done.wait("six jobs")
      #expect(log.events == order)
    }
  }

  @Test func `a job that announces that it blocks gives its place away, up to the limit of threads`() throws {
    try withPool(workers: 1, threadLimit: 2) { pool in
      let (second, done) = (Gate(), CountdownLatch(2))
      submit(pool) {
        pool.whileBlocked {
          pool.whileBlocked { second.pass() }
        }
        done.countDown()
      }
      submit(pool) {
        second.open()
        done.countDown()
      }
      try done.wait("a job that waits for the next one")
      #expect(pool.threadsCreated <= 2)
    }
  }

  @Test func `outside of the pool nothing is given away`() throws {
    try withPool(workers: 1) { pool in
      var ran = false
      pool.whileBlocked { ran = true }
      #expect(ran && pool.threadsCreated == 0)
    }
  }
}
