import DeterministicOperations
import Glibc
import Operations
import Synchronization
import TestSupport
import Testing

// Rows 56.3, 56.6 to 56.9: on which thread, in which operation, and what a fork inherits.

extension JoinTests {
  // MARK: - Where

  @Test(
    "row 56.3: the calling thread runs `first`, and the fork that nobody took", arguments: allBackends, Place.allCases)
  func callingThread(backend: TestBackend, place: Place) throws {
    try place.run(backend) { backend in
      for _ in 0..<500 {
        let caller = currentThread()
        let running = Atomic<Bool>(false)
        let (first, second) = backend.run {
          join(
            { () -> UInt in
              running.store(true, ordering: .sequentiallyConsistent)
              defer { running.store(false, ordering: .sequentiallyConsistent) }
              return currentThread()
            },
            { () -> (UInt, Bool) in (currentThread(), running.load(ordering: .sequentiallyConsistent)) })
        }
        #expect(first == caller)
        // On the caller's thread the fork runs behind `first`.
        if second.0 == caller { #expect(!second.1) }
      }
    }
  }

  @Test(
    "row 56.6: in an operation on another backend", arguments: allBackends,
    [TestBackend.stealing, .threadPool, .dispatch])
  func onAnotherBackend(backend: TestBackend, other: TestBackend) throws {
    try other.withBackend { other in
      let met = try Place.worker.run(backend) { _ in
        let together = Rendezvous(2)
        let (left, right) = other.run {
          join(
            { () -> Bool in
              // A free join in here is on the other backend as well.
              let (left, _) = join({ together.arrive() }, { Self.fibonacci(10) })
              return left
            }, { together.arrive() })
        }
        return left && right
      }
      #expect(met)
    }
  }

  @Test(
    "row 56.6: joins of two backends inside of each other", arguments: allBackends, [TestBackend.stealing, .threadPool])
  func alternating(backend: TestBackend, other: TestBackend) throws {
    try other.withBackend { other in
      let result = try Place.guest.run(backend) { backend in
        @Sendable func fibonacci(_ n: Int) -> Int {
          guard n > 1 else { return n }
          let (left, right) = (n % 2 == 0 ? backend : other).run { join({ fibonacci(n - 1) }, { fibonacci(n - 2) }) }
          return left + right
        }
        return fibonacci(9)
      }
      #expect(result == 34)
    }
  }

  @Test("row 56.6: in a completion block", arguments: allBackends)
  func inACompletionBlock(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let result = Monitor<Int?>(nil)
      let operation = BlockOperation {}
      operation.completionBlock = {
        let value = Self.fibonacci(12)
        result.with { $0 = value }
      }
      queue.addOperation(operation)
      #expect(result.wait(until: { $0 != nil }))
      #expect(result.value == 144)
    }
  }

  @Test("row 56.6: both bodies wait for operations, on one worker and on two", arguments: allBackends, [1, 2])
  func bodiesThatWait(backend: TestBackend, workers: Int) throws {
    let ran = Counter()
    try Place.worker.run(backend, workers: workers) { backend in
      let queue = OperationQueue(backend: backend)
      @Sendable func addAndWait() {
        let operation = BlockOperation { ran.increment() }
        queue.addOperation(operation)
        operation.waitUntilFinished()
      }
      @Sendable func nest(_ depth: Int) {
        guard depth > 0 else { return addAndWait() }
        join({ nest(depth - 1) }, { nest(depth - 1) })
      }
      nest(6)
    }
    #expect(ran.value == 64)
  }

  @Test("row 56.6: an operation that runs on top of a body joins for itself", arguments: allBackends, Place.allCases)
  func operationOnTop(backend: TestBackend, place: Place) throws {
    let results = try place.run(backend) { backend in
      let results = Monitor<[Int]>([])
      @Sendable func body() {
        let operation = BlockOperation {
          let result = Self.fibonacci(12)
          results.with { $0.append(result) }
        }
        operation.start()
      }
      for _ in 0..<10 { backend.run { join({ join({ body() }, { body() }) }, { join({ body() }, { body() }) }) } }
      return results.value
    }
    #expect(results == Array(repeating: 144, count: 40))
  }

  @Test("row 56.6: a body forks on behind an operation that ran on top of it", arguments: allBackends, Place.allCases)
  func forksBehindAnOperationOnTop(backend: TestBackend, place: Place) throws {
    let met = try place.run(backend) { backend in
      let together = Rendezvous(2)
      @Sendable func body() -> Bool {
        BlockOperation { _ = Self.fibonacci(5) }.start()
        let (left, right) = join({ together.arrive() }, { together.arrive() })
        return left && right
      }
      return backend.run { join(body, {}).0 }
    }
    #expect(met)
  }

  @Test("row 56.9: a waiting thread runs no operation, and no fork of another outermost join", arguments: allBackends)
  func nothingForeign(backend: TestBackend) throws {
    try backend.withBackend(workers: 3) { backend in
      let queue = OperationQueue(backend: backend)
      /// The threads that are in an outermost join of theirs, with its number.
      let joining = Monitor<[UInt: Int]>([:])
      let foreign = Counter()
      @Sendable func tree(_ depth: Int, of number: Int) {
        let here = joining.value[currentThread()]
        if let here, here != number { foreign.increment() }
        guard depth > 0 else { return }
        if depth == 3 { sched_yield() }
        join({ tree(depth - 1, of: number) }, { tree(depth - 1, of: number) })
      }
      for _ in 0..<200 { queue.addOperation { if joining.value[currentThread()] != nil { foreign.increment() } } }
      try onThreads(3, "three outermost joins") { number in
        for _ in 0..<20 {
          joining.with { $0[currentThread()] = number }
          backend.run { join({ tree(6, of: number) }, { tree(6, of: number) }) }
          joining.with { $0[currentThread()] = nil }
        }
      }
      try queue.drainInTime()
      #expect(foreign.value == 0)
    }
  }

  // MARK: - What a fork inherits

  @Test("row 56.7: the current queue", arguments: allBackends)
  func currentQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let seen = Monitor<[ObjectIdentifier?]>([])
      let done = Gate()
      queue.addOperation {
        for isTaken in [false, true] {
          let begun = Gate()
          let (first, second) = join(
            { () -> ObjectIdentifier? in
              if isTaken { begun.pass() }
              return OperationQueue.current.map { ObjectIdentifier($0) }
            },
            { () -> ObjectIdentifier? in
              begun.open()
              return join({ OperationQueue.current.map { ObjectIdentifier($0) } }, {}).0
            })
          seen.with { $0 += [first, second] }
        }
        done.open()
      }
      try done.wait("the joins")
      #expect(seen.value == Array(repeating: ObjectIdentifier(queue), count: 4))
    }
  }

  @Test("row 56.7: no current queue outside of operations", arguments: allBackends)
  func noCurrentQueue(backend: TestBackend) throws {
    try Place.guest.run(backend) { backend in
      let begun = Gate()
      let (first, second) = backend.run {
        join(
          { () -> Bool in
            begun.pass()
            return OperationQueue.current == nil
          },
          { () -> Bool in
            begun.open()
            return OperationQueue.current == nil
          })
      }
      #expect(first)
      #expect(second)
    }
    try backend.withQueue { queue in
      let isNil = Monitor<Bool?>(nil)
      let operation = BlockOperation {}
      operation.completionBlock = {
        let begun = Gate()
        let (_, second) = join(
          { begun.pass() },
          { () -> Bool in
            begun.open()
            return OperationQueue.current == nil
          })
        isNil.with { $0 = second }
      }
      queue.addOperation(operation)
      #expect(isNil.wait(until: { $0 != nil }))
      #expect(isNil.value == true)
    }
  }

  @Test("row 56.7: forks take no place of a queue with a limit", arguments: allBackends)
  func limitedQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let met = Counter()
      for _ in 0..<3 {
        queue.addOperation {
          let together = Rendezvous(2)
          let (left, right) = join({ together.arrive() }, { together.arrive() })
          if left && right { met.increment() }
        }
      }
      try queue.drainInTime()
      #expect(met.value == 3)
    }
  }

  @Test(
    "row 56.7: the priority, given as such or as a quality of service",
    arguments: [TestBackend.stealing, .threadPool], [true, false])
  func priority(backend: TestBackend, isQuality: Bool) throws {
    try backend.withQueue(workers: 2) { queue in
      let log = Monitor<[String]>([])
      let release = SpinFlag()
      let occupied = Gate()
      let shown = SpinFlag()
      queue.addOperation {
        occupied.open()
        release.spin()
      }
      try occupied.wait("the second worker to be busy")
      let forks = BlockOperation {
        let begun = SpinFlag()
        join(
          {
            shown.set()
            begun.spin()
          },
          {
            log.with { $0.append("fork") }
            begun.set()
          })
      }
      if isQuality { forks.qualityOfService = .userInteractive } else { forks.queuePriority = .veryHigh }
      queue.addOperation(forks)
      shown.spin()
      for _ in 0..<3 { queue.addOperation { log.with { $0.append("operation") } } }
      release.set()
      try queue.drainInTime()
      #expect(log.value.first == "fork")
    }
  }

  @Test("row 56.8: cancelling is read, and stops nothing", arguments: allBackends)
  func cancelling(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let seen = Monitor<[Bool]>([])
      let begun = Rendezvous(3)
      let cancelled = Gate()
      let box = Monitor<Operation?>(nil)
      let operation = BlockOperation {
        let operation = box.value
        @Sendable func body() -> Bool {
          begun.arrive()
          cancelled.pass()
          return operation?.isCancelled ?? false
        }
        let (left, right) = join({ body() }, { body() })
        seen.with { $0 = [left, right] }
      }
      box.with { $0 = operation }
      queue.addOperation(operation)
      begun.arrive()
      operation.cancel()
      cancelled.open()
      try operation.finishInTime()
      box.with { $0 = nil }
      #expect(seen.value == [true, true])
    }
  }
}
