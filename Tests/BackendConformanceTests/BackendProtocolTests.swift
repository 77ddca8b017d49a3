import DeterministicOperations
import OperationBackends
import TestSupport
import Testing

/// Row 53: the `Backend` protocol itself, without operations, and what the pools add to it; row 28 as to their threads.
@Suite("The backend protocol")
struct BackendProtocolTests {
  /// A backend as a user might write it to watch another: implements every requirement.
  private final class WatchingBackend: Backend {
    let base: any Backend
    let single = Counter()
    let inLists = Counter()
    let blocked = Counter()

    init(_ base: any Backend) { self.base = base }

    var name: String { "watching " + base.name }
    var workerCount: Int { base.workerCount }

    func submit(_ job: Job) {
      single.increment()
      base.submit(job)
    }

    func submit(contentsOf jobs: consuming JobList) {
      var rest = jobs
      let announced = rest.count
      var taken = 0
      while let job = rest.popFirst() {
        taken += 1
        inLists.increment()
        base.submit(job)
      }
      precondition(taken == announced && rest.isEmpty && rest.count == 0)
    }

    func whileBlocked(_ body: () -> Void) {
      blocked.increment()
      base.whileBlocked(body)
    }
  }

  @Test("row 53: a submitted job runs exactly once", arguments: allBackends)
  func jobs(backend: TestBackend) throws {
    try backend.withBackend { backend in
      #expect(!backend.name.isEmpty && backend.workerCount >= 1)
      let runs = (0..<1_000).map { _ in Counter() }
      try onThreads(2, "two threads that submit") { thread in
        for index in stride(from: thread, to: 1_000, by: 2) {
          backend.submit(Job(priority: index.isMultiple(of: 3) ? .high : .low) { runs[index].increment() })
        }
      }
      try eventually("every job to run") { runs.allSatisfy { $0.value >= 1 } }
      giveOthersAChance()
      #expect(runs.allSatisfy { $0.value == 1 })
    }
  }

  @Test("row 53: a job may submit others, and releases what it captured", arguments: allBackends)
  func jobsSubmitJobs(backend: TestBackend) throws {
    try backend.withBackend(workers: 1) { backend in
      let tracker = LifetimeTracker()
      let ran = Counter()
      for _ in 0..<50 {
        let token = tracker.token()
        backend.submit(
          Job {
            withExtendedLifetime(token) {}
            backend.submit(Job { ran.increment() })
          })
      }
      try ran.wait(for: 50, "the inner jobs")
      try tracker.waitUntilAllReleased("what the jobs captured")
    }
  }

  @Test("row 53: a job keeps its priority; run() of a bare job returns no other")
  func jobProperties() {
    let ran = Counter()
    #expect(Job({}).priority == .normal)
    let job = Job(priority: .veryHigh) { ran.increment() }
    #expect(job.priority == .veryHigh)
    #expect(job.run() == nil)
    #expect(ran.value == 1)
  }

  @Test("row 53: a job runs on a thread of the backend, not on the submitter's", arguments: allBackends)
  func threadsOfItsOwn(backend: TestBackend) throws {
    try backend.withBackend { backend in
      let threads = EventLog<UInt>()
      for _ in 0..<100 { backend.submit(Job { threads.append(currentThread()) }) }
      try threads.wait(count: 100, "the jobs")
      #expect(!threads.events.contains(currentThread()))
    }
  }

  @Test("row 53: a backend that wraps another serves queues, batches and waits", arguments: allBackends)
  func wrapped(backend: TestBackend) throws {
    try backend.withBackend(workers: 1) { base in
      let watching = WatchingBackend(base)
      let queue = OperationQueue(backend: watching)
      #expect(queue.backend === watching)
      let ran = Counter()
      let first = Operation()
      let batch = (0..<100).map { _ in
        let operation = BlockOperation { ran.increment() }
        operation.addDependency(first)
        return operation
      }
      queue.addOperations(batch, waitUntilFinished: false)
      queue.addOperation(first)
      for _ in 0..<20 {
        queue.addOperation {
          let inner = BlockOperation { ran.increment() }
          queue.addOperation(inner)
          inner.waitUntilFinished()
        }
      }
      try queue.drainInTime()
      #expect(ran.value == 120)
      #expect(watching.single.value + watching.inLists.value > 0)
    }
  }

  @Test("row 53: the default queue uses the shared stealing backend; the factories name what they make")
  func defaults() throws {
    #expect(OperationQueue().backend === StealingBackend.shared)
    #expect(OperationQueue(backend: .stealing).backend === StealingBackend.shared)
    #expect(OperationQueue(backend: .threadPool).backend === ThreadPoolBackend.shared)
    #expect(OperationQueue(backend: .dispatch).backend === DispatchBackend.shared)
    let made: [(any Backend, String)] = [
      (OperationQueue(backend: .stealing(workers: 3)).backend, "stealing"),
      (OperationQueue(backend: .threadPool(workers: 3)).backend, "threadpool"),
      (OperationQueue(backend: .dispatch(workers: 3)).backend, "dispatch"),
    ]
    for (backend, name) in made { #expect(backend.name == name && backend.workerCount == 3) }
    let ran = Counter()
    for queue in [OperationQueue(), OperationQueue(backend: .threadPool), OperationQueue(backend: .dispatch)] {
      queue.addOperation { ran.increment() }
      try queue.drainInTime()
    }
    #expect(ran.value == 3)
  }

  @Test("row 53: the pools start no more threads than workers for bodies that do not block")
  func threadsCreated() throws {
    let stealing = StealingBackend(workers: 2)
    let threadPool = ThreadPoolBackend(workers: 2)
    let deterministic = DeterministicBackend(workers: 2, seed: 1)
    for backend in [stealing, threadPool, deterministic] as [any Backend] {
      let queue = OperationQueue(backend: backend)
      for _ in 0..<2_000 { queue.addOperation {} }
      try queue.drainInTime()
    }
    // A spare is started when no worker made progress for a while: on a loaded machine one or two may appear.
    #expect((1...6).contains(stealing.threadsCreated))
    #expect((1...6).contains(threadPool.threadsCreated))
    #expect((1...6).contains(deterministic.threadsCreated))
    try inTime("the pools to shut down") {
      stealing.shutdown()
      threadPool.shutdown()
      deterministic.shutdown()
    }
  }

  @Test(
    "row 53: shutdown drains what was submitted and returns",
    arguments: [TestBackend.stealing, .threadPool, .deterministic])
  func shutdownDrains(backend: TestBackend) throws {
    for _ in 0..<20 {
      let ran = Counter()
      try backend.withBackend { backend in
        for _ in 0..<500 { backend.submit(Job { ran.increment() }) }
        backend.submit(Job { for _ in 0..<20 { backend.submit(Job { ran.increment() }) } })
      }
      #expect(ran.value == 520)
    }
  }

  @Test(
    "row 28.3: waits inside operations start spare threads, not one for each wait for ever",
    arguments: [TestBackend.stealing, .threadPool, .deterministic])
  func sparesAreReused(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let inner = OperationQueue(backend: queue.backend)
      for _ in 0..<500 {
        queue.addOperation {
          let gate = AsynchronousOperation { operation in startThread { operation.finish() } }
          inner.addOperation(gate)
          gate.waitUntilFinished()
        }
        try queue.drainInTime()
      }
      let created =
        (queue.backend as? StealingBackend)?.threadsCreated ?? (queue.backend as? ThreadPoolBackend)?.threadsCreated
        ?? (queue.backend as? DeterministicBackend)?.threadsCreated
      #expect(try #require(created) < 100)
    }
  }

  /// The backends that have an end.
  private static let ending = allBackends.filter { !["dispatch", "sample"].contains($0.name) }

  @Test("row 72: shutdown() waits for asynchronous bodies that are asleep", arguments: ending, [-1, 1])
  func shutdownWithTasks(backend: TestBackend, limit: Int) throws {
    for _ in 0..<5 {
      let (began, ended) = (Counter(), Counter())
      try backend.withBackend { backend in
        let queue = OperationQueue(backend: backend)
        queue.maxConcurrentOperationCount = limit
        for _ in 0..<4 {
          queue.addTask {
            began.increment()
            for _ in 0..<3 { try? await Task.sleep(for: .milliseconds(3)) }
            ended.increment()
          }
        }
        try began.wait(for: 1, "a body")
      }
      #expect(ended.value == 4)
    }
  }

  @Test(
    "row 72: shutdown() waits for an operation that goes on elsewhere, its dependents and their blocks",
    arguments: ending,
    [true, false])
  func shutdownWithAsynchronous(backend: TestBackend, isLate: Bool) throws {
    for _ in 0..<20 {
      let ran = EventLog<String>()
      try backend.withBackend { backend in
        let queue = OperationQueue(backend: backend)
        let started = Gate()
        let first = AsynchronousOperation { operation in
          startThread {
            started.pass()
            if isLate { giveOthersAChance() }
            ran.append("first")
            operation.finish()
          }
        }
        let second = AsynchronousOperation { operation in
          startThread {
            ran.append("second")
            operation.finish()
          }
        }
        let last = BlockOperation { ran.append("last") }
        last.completionBlock = { ran.append("block") }
        second.addDependency(first)
        last.addDependency(second)
        queue.addOperations([first, second, last], waitUntilFinished: false)
        try eventually("the first operation") { first.isExecuting }
        started.open()
      }
      #expect(ran.events == ["first", "second", "last", "block"])
    }
  }

  @Test("row 72: hand-written operations and parts of bodies are counted out as often as in", arguments: ending)
  func beginningsAndEnds(backend: TestBackend) throws {
    try backend.withBackend { backend in
      let queue = OperationQueue(backend: backend)
      for index in 0..<300 {
        switch index % 4 {
        case 0: queue.addOperation(AsynchronousOperation { operation in operation.finish() })
        case 1: queue.addOperation(AsynchronousOperation { operation in startThread { operation.finish() } })
        case 2: queue.addTask { await Task.yield() }
        default:
          let operation = AsynchronousOperation { operation in startThread { operation.finish() } }
          queue.addOperation(operation)
          operation.cancel()
          if index % 8 == 3 { startThread { operation.cancel() } }
        }
      }
      try queue.drainInTime()
    }
  }

  /// Each body blocks until the next one has run, and nobody tells the pool.
  @Test("rows 46 and 53: shutdown() drains what bodies wait for that block silently", arguments: allBackends)
  func shutdownWithSilentBodies(backend: TestBackend) throws {
    let count = 20
    let ran = Counter()
    try backend.withBackend(workers: 1) { backend in
      let queue = OperationQueue(backend: backend)
      let gates = (0...count).map { _ in Gate() }
      gates[count].open()
      for index in 0..<count {
        queue.addOperation {
          gates[index + 1].pass()
          ran.increment()
          gates[index].open()
        }
      }
      // The backends without `shutdown()` end when their queues do.
      if backend is DispatchBackend || backend is ThreadPerJobBackend { try queue.drainInTime() }
    }
    #expect(ran.value == count)
  }
}
