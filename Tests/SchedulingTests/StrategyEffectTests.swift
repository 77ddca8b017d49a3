import Glibc
import Operations
import Primitives
import TestSupport
import Testing

@testable import OperationForks
@testable import OperationJobs

/// What a choice does to operations, where one worker makes it plain.
struct StrategyEffectTests {
  /// The order in which one worker runs operations that one of its operations adds.
  private func order(_ strategy: String, _ priorities: [Operation.QueuePriority]) throws -> [Int] {
    let backend = StealingBackend(workers: 1, strategy: try .init(strategy))
    let queue = OperationQueue(backend: backend)
    let log = EventLog<Int>()
    queue.addOperation {
      for (index, priority) in priorities.enumerated() {
        let operation = BlockOperation { log.append(index) }
        operation.queuePriority = priority
        queue.addOperation(operation)
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    backend.shutdown()
    return log.events
  }

  @Test(arguments: [
    ("", [1, 3, 0, 2]), ("own=lifo", [3, 1, 2, 0]), ("priorities=strict", [1, 3, 0, 2]),
    ("priorities=ignored", [0, 1, 2, 3]), ("priorities=ignored;own=lifo", [3, 2, 1, 0]),
    ("priorities=multi:1", [1, 3, 0, 2]),
  ])
  func theOrderIsThatOfTheStrategy(strategy: String, expected: [Int]) throws {
    #expect(try order(strategy, [.normal, .high, .normal, .high]) == expected)
  }

  /// Whether the thread of an operation runs what the operation waits for.
  private func helps(_ backend: any Backend) -> Bool {
    let queue = OperationQueue(backend: backend)
    let threads = EventLog<UInt>()
    let needed = BlockOperation { threads.append(UInt(pthread_self())) }
    queue.addOperation {
      threads.append(UInt(pthread_self()))
      queue.addOperation(needed)
      needed.waitUntilFinished()
    }
    queue.waitUntilAllOperationsAreFinished()
    return Set(threads.events).count == 1
  }

  @Test func aWaitingThreadHelpsOrGivesItsPlace() throws {
    #expect(!helps(StealingBackend(workers: 1)) && !helps(ThreadPoolBackend(workers: 1)))
    #expect(helps(StealingBackend(workers: 1, strategy: try .init("waiting=helps"))))
    #expect(helps(ThreadPoolBackend(workers: 1, strategy: try .init("waiting=helps"))))
  }

  @Test func aDiagnosisSaysWhatTheStrategyGivesUp() throws {
    let queue = OperationQueue(backend: StealingBackend(workers: 1, strategy: try .init("own=lifo")))
    #expect("\(queue.diagnosis())".contains("stealing(own=lifo) (1 row of the contract given up: 20), 1 worker"))
    #expect(!"\(OperationQueue(backend: StealingBackend(workers: 1)).diagnosis())".contains("given up"))
  }

  @Test func jobsFromOutsideReachEveryPlace() throws {
    for place in ["roundrobin", "least:2"] {
      let backend = StealingBackend(workers: 3, strategy: try .init("place=\(place)"))
      let queue = OperationQueue(backend: backend)
      let log = EventLog<Int>()
      for index in 0..<500 { queue.addOperation { log.append(index) } }
      queue.addOperations((500..<1_000).map { index in BlockOperation { log.append(index) } }, waitUntilFinished: true)
      queue.waitUntilAllOperationsAreFinished()
      backend.shutdown()
      #expect(log.events.sorted() == Array(0..<1_000))
      #expect(backend.statistics.fromOutside >= 1_000)
    }
  }

  /// With `least=2` a worker's only job is left to the worker, until the thief would sleep: then it is taken, and so a
  /// job behind a worker that never comes back to it still runs.
  @Test func aJobThatMayNotBeStolenIsStolenBeforeTheThiefSleeps() throws {
    let backend = StealingBackend(workers: 2, strategy: try .init("least=1000"))
    let queue = OperationQueue(backend: backend)
    let ran = SpinFlag()
    queue.addOperation {
      queue.addOperation { ran.set() }
      ran.spin()
    }
    queue.waitUntilAllOperationsAreFinished()
    backend.shutdown()
    #expect(backend.statistics.steals == 1)
  }

  /// The order of A, its successor B, and C, which A added.
  @Test(arguments: [
    ("", ["A", "B", "C"]), ("run=2", ["A", "B", "C"]), ("run=1", ["A", "C", "B"]),
    ("successor=queued", ["A", "C", "B"]), ("successor=wakes", ["A", "C", "B"]),
  ])
  func aSuccessorRunsAtOnceOrWaits(strategy: String, expected: [String]) throws {
    let backends: [any Backend] = [
      StealingBackend(workers: 1, strategy: try .init(strategy)),
      ThreadPoolBackend(workers: 1, strategy: try .init(strategy)),
    ]
    for backend in backends {
      let queue = OperationQueue(backend: backend)
      let log = EventLog<String>()
      let first = BlockOperation {
        log.append("A")
        queue.addOperation { log.append("C") }
      }
      let second = BlockOperation { log.append("B") }
      second.addDependency(first)
      queue.addOperations([first, second], waitUntilFinished: true)
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == expected, "\(backend.name)")
    }
  }

  /// Six jobs come together from outside and call for one thread. When that thread runs the first job, it has passed
  /// the search on to as many as the strategy says, if there are as many jobs and places.
  @Test(arguments: [
    ("waking=only", 32, 3), ("waking=only;passing=upto:4", 32, 5), ("waking=only;passing=upto:60", 32, 6),
    ("waking=only;passing=upto:60", 4, 2), ("waking=only", 2, 2),
  ])
  func aThreadThatFoundAJobWakesOthers(strategy: String, workers: Int, least: Int) throws {
    let backend = StealingBackend(workers: workers, strategy: try .init(strategy))
    let queue = OperationQueue(backend: backend)
    let (started, end) = (EventLog<Int>(), SpinFlag())
    let first = BlockOperation {
      started.append(backend.threadsCreated)
      end.spin()
    }
    let others = (1..<6).map { _ in BlockOperation { end.spin() } }
    queue.addOperations([first] + others, waitUntilFinished: false)
    try started.wait(count: 1, "the first job")
    end.set()
    queue.waitUntilAllOperationsAreFinished()
    backend.shutdown()
    // Another thread may have found a job meanwhile, so a further one may have been started.
    #expect(started.events[0] >= least && started.events[0] <= workers)
  }

  /// Eight jobs wait in one worker's deque, and the other worker comes free.
  @Test(arguments: [("", 1), ("steal=half", 4), ("steal=upto:3", 3), ("steal=upto:100", 8)])
  func aThiefTakesAsManyAsTheStrategySays(strategy: String, expected: UInt64) throws {
    let backend = StealingBackend(workers: 2, strategy: try .init(strategy))
    let queue = OperationQueue(backend: backend)
    let (busy, added, stolen) = (Gate(), SpinFlag(), SpinFlag())
    let steals = EventLog<UInt64>()
    queue.addOperation {
      busy.open()
      added.spin()
    }
    try busy.wait("one worker to be busy")
    queue.addOperation {
      let before = backend.statistics.steals
      for _ in 0..<8 {
        queue.addOperation {
          steals.append(backend.statistics.steals - before)
          stolen.set()
        }
      }
      added.set()
      stolen.spin()
    }
    queue.waitUntilAllOperationsAreFinished()
    backend.shutdown()
    #expect(steals.events.first == expected)
  }

  /// A job waits outside while the only worker has 100 jobs of its own.
  @Test(arguments: [("outside=16", 0), ("outside=1000", 100)])
  func aBusyWorkerLooksOutsideAsOftenAsTheStrategySays(strategy: String, place: Int) throws {
    let backend = StealingBackend(workers: 1, fairnessInterval: 0, strategy: try .init(strategy))
    let queue = OperationQueue(backend: backend)
    let (busy, waits) = (Gate(), SpinFlag())
    let log = EventLog<String>()
    queue.addOperation {
      busy.open()
      waits.spin()
      for _ in 0..<100 { queue.addOperation { log.append("own") } }
    }
    try busy.wait("the worker to be busy")
    queue.addOperation { log.append("outside") }
    waits.set()
    queue.waitUntilAllOperationsAreFinished()
    backend.shutdown()
    #expect(log.events.firstIndex(of: "outside") == place)
  }

  @Test(arguments: [("batch=1", 1), ("batch=4", 4), ("", 10)])
  func aWorkerTakesFromOutsideAsManyAsTheStrategySays(strategy: String, expected: UInt64) throws {
    let backend = StealingBackend(workers: 1, strategy: try .init(strategy))
    let queue = OperationQueue(backend: backend)
    let taken = EventLog<UInt64>()
    queue.addOperations(
      (0..<10).map { _ in BlockOperation { taken.append(backend.statistics.fromOutside) } }, waitUntilFinished: true)
    backend.shutdown()
    #expect(taken.events.first == expected)
  }

  /// Three threads fall asleep one after the other, and one job comes.
  @Test(arguments: [("sleeper=last", 2), ("sleeper=first", 0)])
  func theSleeperThatIsWokenIsTheOneOfTheStrategy(strategy: String, place: Int) throws {
    for pool in [PoolStatisticsTests.Pool.stealing(3, strategy), .threadPool(3, strategy)] {
      let queue = OperationQueue(backend: pool.backend)
      let threads = EventLog<UInt>()
      let all = CountdownLatch(3)
      let mayEnd = [SpinFlag(), SpinFlag(), SpinFlag()]
      let begun = Counter()
      for _ in 0..<3 {
        queue.addOperation {
          let number = begun.increment() - 1
          all.countDown()
          mayEnd[number].spin()
          threads.append(UInt(pthread_self()))
        }
      }
      try all.wait("three threads to run")
      for number in 0..<3 {
        let before = pool.statistics().sleeps
        mayEnd[number].set()
        try inTime("thread \(number) to sleep") { while pool.statistics().sleeps == before { usleep(100) } }
      }
      let woken = EventLog<UInt>()
      queue.addOperations([BlockOperation { woken.append(UInt(pthread_self())) }], waitUntilFinished: true)
      pool.shutDown()
      #expect(woken.events == [threads.events[place]], "\(pool)")
    }
  }

  /// Waits inside of waits, deeper than the pool has threads: with nobody to take the place, the waiting thread helps.
  @Test func aWaitingThreadHelpsAtTheLimitOfThreads() throws {
    let backends: [any Backend] = [
      StealingBackend(workers: WorkerNumber(1), threadLimit: 2),
      ThreadPoolBackend(workers: WorkerNumber(1), threadLimit: 2),
    ]
    for backend in backends {
      let queue = OperationQueue(backend: backend)
      let ended = Counter()
      @Sendable func nest(_ depth: Int) {
        defer { ended.increment() }
        guard depth > 0 else { return }
        let inner = BlockOperation { nest(depth - 1) }
        queue.addOperation(inner)
        inner.waitUntilFinished()
      }
      queue.addOperation { nest(6) }
      try inTime("waits deeper than there are threads, on \(backend.name)") {
        queue.waitUntilAllOperationsAreFinished()
      }
      #expect(ended.value == 7)
    }
  }

  /// The hint still names a level of which no job is left. Jobs of lower levels from outside have their turn all the
  /// same, although the worker feeds itself.
  @Test func anUrgentJobFromOutsideRunsBesideWorkThatFeedsItself() throws {
    let backend = StealingBackend(workers: 1, fairnessInterval: 0, strategy: try .init("least=2"))
    let queue = OperationQueue(backend: backend)
    let first = BlockOperation {}
    first.queuePriority = .veryHigh
    queue.addOperations([first], waitUntilFinished: true)
    let (feeds, ran) = (Gate(), Gate())
    let rounds = Counter()
    @Sendable func feed() {
      if rounds.increment() == 1 { feeds.open() }
      // Ends by itself, so that a failure is no hang.
      if !ran.isOpen, rounds.value < 2_000_000 { queue.addOperation { feed() } }
    }
    queue.addOperation { feed() }
    try feeds.wait("the work that feeds itself")
    let urgent = BlockOperation { ran.open() }
    urgent.queuePriority = .high
    queue.addOperation(urgent)
    queue.waitUntilAllOperationsAreFinished()
    #expect(rounds.value < 2_000_000)
  }

  /// One job starts all threads. The thread that adds the job may lose its CPU between two starts, and the first thread
  /// may be asleep by then: it is woken, and counts. So several pools have a turn.
  @Test func everyWorkerIsWokenWhenTheStrategySaysSo() throws {
    func threadsStarted() throws -> UInt64 {
      let backend = StealingBackend(workers: 3, strategy: try .init("waking=all"))
      OperationQueue(backend: backend).addOperations([BlockOperation {}], waitUntilFinished: true)
      for _ in 0..<1_000 where backend.statistics.threadsStarted < 3 { usleep(1_000) }
      backend.shutdown()
      return backend.statistics.threadsStarted
    }
    #expect(try (0..<20).contains { _ in try threadsStarted() == 3 })
  }

  /// How many forks of an operation others can see, when all its forks are under way and every worker is busy.
  private func shownForks(_ strategy: String, depth: Int) throws -> Int {
    let backend = StealingBackend(workers: 1, strategy: try .init(strategy))
    let queue = OperationQueue(backend: backend)
    let shown = EventLog<Int>()
    @Sendable func fork(_ left: Int) {
      guard left > 0 else { return shown.append((backend as any SupervisedBackend).report.queued) }
      join({ fork(left - 1) }, {})
    }
    queue.addOperation { fork(depth) }
    queue.waitUntilAllOperationsAreFinished()
    backend.shutdown()
    return shown.events[0]
  }

  @Test(arguments: [
    ("", 1), ("forks=upto:1", 1), ("forks=upto:4", 4), ("forks=upto:8", 8), ("forks=request", 0),
  ])
  func forksAreShownAsTheStrategySays(strategy: String, expected: Int) throws {
    #expect(try shownForks(strategy, depth: 20) == expected)
    #expect(try shownForks(strategy, depth: 1) == min(expected, 1))
  }
}
