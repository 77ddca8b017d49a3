import OperationBackends
import TestSupport
import Testing

/// Rows 28 and 46: bodies that block, with and without the library's knowledge, keep nobody else from running.
@Suite("Blocked bodies")
struct SilentBlockingTests {
  @Test("row 46: a hundred bodies that block silently run at once, and one more", arguments: allBackends)
  func hundredBodies(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let together = Rendezvous(101)
      for _ in 0..<100 { queue.addOperation { together.arrive() } }
      let last = Monitor(false)
      queue.addOperation {
        let met = together.arrive()
        last.with { $0 = met }
      }
      try queue.drainInTime(seconds: 2 * patience)
      #expect(last.value, "\(together.arrived) of 101 met")
    }
  }

  /// Each task is an allocation of one thread's, and another one frees it: so the workers sleep in the allocator's lock
  /// now and then, all at once at times.
  @Test(
    "row 46: workers that sleep for an instant in the allocator's lock get no threads beside them",
    arguments: [TestBackend.stealing, .threadPool, .dispatch])
  func asleepForAnInstant(backend: TestBackend) throws {
    for _ in 0..<part(2, of: 4) {
      try backend.withBackend { backend in
        let (executor, ran, most) = (backend.taskExecutor, Counter(), Monitor(0))
        let pool = try #require(backend as? any SupervisedBackend)
        for _ in 0..<3 {
          startThread {
            for _ in 0..<40_000 { Task(executorPreference: executor) { ran.increment() } }
          }
        }
        try eventually("the tasks") {
          most.with { $0 = max($0, pool.report.threads.count) }
          return ran.value == 120_000
        }
        // Two, and as many again. A thread that holds the lock may have to wait for a CPU, though, for as long as the
        // machine is busy.
        #expect(most.value <= 24)
      }
    }
  }

  @Test("rows 25 and 46: a queue limited to more than there are workers", arguments: allBackends)
  func limitedQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 60
      let together = Rendezvous(60)
      for _ in 0..<60 { queue.addOperation { together.arrive() } }
      try queue.drainInTime(seconds: 2 * patience)
      #expect(together.arrived == 60)
    }
  }

  @Test("row 46: bodies that block when others have run and blocked before", arguments: allBackends)
  func againAndAgain(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let release = Gate()
      for round in 1...30 {
        // Those of earlier rounds stay blocked: each further one must find a thread of its own.
        let entered = Gate()
        queue.addOperation {
          entered.open()
          release.pass(seconds: 3 * patience)
        }
        try entered.wait("body \(round) beside \(round - 1) that block")
      }
      release.open()
      try queue.drainInTime()
    }
  }

  @Test("row 28: what is added after operations began to wait runs at once", arguments: allBackends)
  func addedAfterTheWaitBegan(backend: TestBackend) throws {
    try backend.withQueue { queue in
      // Each waits for an operation that only one added later finishes; a second's delay each would add up.
      for _ in 0..<100 {
        let awaited = AsynchronousOperation { _ in }
        queue.addOperation(awaited)
        let waiting = Gate()
        queue.addOperation {
          waiting.open()
          awaited.waitUntilFinished()
        }
        try waiting.wait("the operation that waits")
        queue.addOperation { awaited.finish() }
        if awaited.isCancelled { break }
      }
      try queue.drainInTime()
    }
  }

  @Test("row 28.3: what is added beside operations that wait already finds a thread", arguments: allBackends)
  func addedBesideManyThatWait(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let started = Gate()
      let awaited = AsynchronousOperation { _ in started.open() }
      queue.addOperation(awaited)
      try started.wait("the operation that all wait for")
      defer { awaited.finish() }
      // All of them wait until the end, so each further one needs a further thread. Twice as many as a test has
      // seconds: a backend that gets one more thread a second, as Dispatch does by itself, is not done in time.
      try inTime("operations added one by one, each beside those that wait") {
        for _ in 0..<2 * Int(patience) {
          let waiting = Gate()
          queue.addOperation {
            waiting.open()
            awaited.waitUntilFinished()
          }
          try waiting.wait("the next operation that waits")
        }
      }
    }
  }

  @Test("row 28.3: workers that all wait make room for what comes later", arguments: allBackends)
  func everyWorkerWaits(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let awaited = (0..<40).map { _ in AsynchronousOperation { _ in } }
      queue.addOperations(awaited, waitUntilFinished: false)
      let waiting = CountdownLatch(40)
      for operation in awaited {
        queue.addOperation {
          waiting.countDown()
          operation.waitUntilFinished()
        }
      }
      try waiting.wait("forty operations that wait at once")
      for operation in awaited { queue.addOperation { operation.finish() } }
      try queue.drainInTime()
    }
  }

  @Test("row 28: a worker that comes back from a wait and blocks silently loses no job", arguments: allBackends)
  func backFromAWait(backend: TestBackend) throws {
    try backend.withQueues(workers: 1) { first, second in
      for _ in 0..<part(300, of: 1_000) {
        let awaited = AsynchronousOperation { _ in }
        first.addOperation(awaited)
        let (waiting, signalled) = (Gate(), Gate())
        second.addOperation {
          waiting.open()
          awaited.waitUntilFinished()
          signalled.pass()
        }
        try waiting.wait("the operation that waits")
        // The wait ends while a thread is woken for what the waiting body will block for.
        try race("a finish and an addition", { awaited.finish() }, { first.addOperation { signalled.open() } })
        try signalled.wait("the job that the blocked body needs")
        try second.drainInTime()
      }
    }
  }
}
