import Glibc
import OperationBackends
import TestSupport
import Testing

/// What pools count of themselves.
struct PoolStatisticsTests {
  /// A pool, what it has counted, and its end.
  struct Pool: Sendable, CustomStringConvertible {
    let backend: any Backend
    let statistics: @Sendable () -> PoolStatistics
    let shutDown: @Sendable () -> Void
    var description: String { backend.name }

    static func stealing(_ workers: Int, _ strategy: String = "") -> Pool {
      let backend = StealingBackend(workers: workers, strategy: try! .init(strategy))
      return Pool(backend: backend, statistics: { backend.statistics }, shutDown: { backend.shutdown() })
    }

    static func threadPool(_ workers: Int, _ strategy: String = "") -> Pool {
      let backend = ThreadPoolBackend(workers: workers, strategy: try! .init(strategy))
      return Pool(backend: backend, statistics: { backend.statistics }, shutDown: { backend.shutdown() })
    }
  }

  @Test(arguments: [
    Pool.stealing(3), .threadPool(3), .threadPool(3, "locks=perlevel"), .stealing(3, "priorities=multi:2"),
  ])
  func everyJobIsCountedOnce(pool: Pool) throws {
    let none = pool.statistics()
    #expect(none.jobs == 0 && none.sleeps == 0 && none.wakes == 0 && none.threadsStarted == 0)
    let queue = OperationQueue(backend: pool.backend)
    let operations = (0..<1_000).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: true)
    for operation in operations { _ = operation }
    pool.shutDown()
    let all = pool.statistics()
    #expect(all.jobs == 1_000)
    #expect(all.workers.map(\.jobs).reduce(0, +) == all.jobs)
    #expect(all.threadsStarted >= 1 && all.threadsStarted <= 3)
  }

  @Test func jobsFromOutsideAndStolenJobsAreCounted() throws {
    let backend = StealingBackend(workers: 2)
    let queue = OperationQueue(backend: backend)
    queue.addOperation {
      // Two jobs that wait for each other: the second worker steals one.
      let meeting = CountdownLatch(2)
      for _ in 0..<2 {
        queue.addOperation {
          meeting.countDown()
          try? meeting.wait("both jobs to run")
        }
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    backend.shutdown()
    let all = backend.statistics
    #expect(all.jobs == 3 && all.fromOutside == 1)
    #expect(all.steals >= 1)
  }

  @Test(arguments: [Pool.stealing(1), .threadPool(1)])
  func aThreadThatGivesItsPlaceIsCounted(pool: Pool) throws {
    let queue = OperationQueue(backend: pool.backend)
    let gate = Gate()
    let asynchronous = AsynchronousOperation { operation in
      gate.open()
      operation.finish()
    }
    queue.addOperation {
      queue.addOperation(asynchronous)
      // Nobody but another thread may run an asynchronous operation: this one gives its place.
      asynchronous.waitUntilFinished()
    }
    queue.waitUntilAllOperationsAreFinished()
    pool.shutDown()
    #expect(gate.isOpen && pool.statistics().replacements >= 1)
  }

  /// A thread that owes references gives them back before it sleeps. Its search has failed all the same.
  @Test func aSearchInVainIsCounted() throws {
    let backend = StealingBackend(workers: 1)
    let queue = OperationQueue(backend: backend)
    queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    try inTime("the thread to sleep") { while backend.statistics.sleeps == 0 { usleep(100) } }
    #expect(backend.statistics.failedSearches == 1)
    backend.shutdown()
  }
}
