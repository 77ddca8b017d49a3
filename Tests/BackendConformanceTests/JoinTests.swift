import DeterministicOperations
import Glibc
import Operations
import Synchronization
import TestSupport
import Testing

/// Row 56: `join`.
@Suite("Join")
struct JoinTests {
  struct FirstFailed: Error, Equatable { let number: Int }

  /// From which thread a `join` on a backend is called.
  enum Place: Sendable, CaseIterable {
    case worker, guest

    /// Runs a body there.
    func run<Result: Sendable>(
      _ test: TestBackend, workers: Int = 2, stackSize: Int = 512 * 1024,
      _ body: @escaping @Sendable (any Backend) throws -> Result
    ) throws -> Result {
      try test.withBackend(workers: workers) { backend in
        switch self {
        case .guest: return try inTime("the joins of a guest", stackSize: stackSize) { try body(backend) }
        case .worker:
          let outcome = Monitor<Swift.Result<Result, any Error>?>(nil)
          OperationQueue(on: backend).addOperation {
            let result = Swift.Result { try body(backend) }
            outcome.with { $0 = result }
          }
          guard outcome.wait(until: { $0 != nil }), let result = outcome.value else {
            throw TimedOut("the joins of a worker", seconds: patience, file: #fileID, line: #line)
          }
          return try result.get()
        }
      }
    }
  }

  @Sendable private static func fibonacci(_ n: Int) -> Int {
    guard n > 1 else { return n }
    let (left, right) = join({ fibonacci(n - 1) }, { fibonacci(n - 2) })
    return left + right
  }

  // MARK: - Results

  @Test("row 56.1: a tree of joins returns what plain recursion does", arguments: allBackends, Place.allCases)
  func tree(backend: TestBackend, place: Place) throws {
    let results = try place.run(backend) { backend in
      (0..<3).map { _ in
        let (left, right) = backend.join({ Self.fibonacci(14) }, { Self.fibonacci(13) })
        return left + right
      }
    }
    #expect(results == [610, 610, 610])
  }

  @Test("row 56.1: one worker suffices", arguments: allBackends, Place.allCases)
  func oneWorker(backend: TestBackend, place: Place) throws {
    let result = try place.run(backend, workers: 1) { backend in backend.join({ Self.fibonacci(12) }, { 1 }).0 }
    #expect(result == 144)
  }

  struct Wide: Equatable, Sendable {
    var words: (Int, Int, Int, Int, Int, Int, Int, Int) = (1, 2, 3, 4, 5, 6, 7, 8)
    var text = "eight words"

    static func == (left: Self, right: Self) -> Bool {
      left.text == right.text && left.words.0 == right.words.0 && left.words.7 == right.words.7
    }
  }

  @Test("row 56.1: results of any type, of forks that were taken and of forks that were not", arguments: allBackends)
  func anyType(backend: TestBackend) throws {
    try Place.guest.run(backend) { backend in
      for isTaken in [false, true] {
        /// A join whose fork another thread has, where that is wanted.
        func both<First, Second>(_ first: () -> First, _ second: @Sendable () -> sending Second) -> (First, Second) {
          let begun = Gate()
          return backend.join(
            {
              if isTaken { begun.pass() }
              return first()
            },
            {
              begun.open()
              return second()
            })
        }
        let (text, wide) = both({ "text" }, { Wide() })
        #expect(text == "text")
        #expect(wide == Wide())
        let (nothing, numbers) = both({ Int?.none }, { Array(0..<100) })
        #expect(nothing == nil)
        #expect(numbers == Array(0..<100))
        let (add, _) = both({ { (number: Int) in number + 1 } }, {})
        #expect(add(1) == 2)
      }
    }
  }

  /// Cannot be copied, and counts its end.
  struct Unique: ~Copyable, Sendable {
    let ends: Counter
    let number: Int

    deinit { ends.increment() }
  }

  @Test("row 56.1: results that cannot be copied end once", arguments: allBackends, Place.allCases)
  func notCopyable(backend: TestBackend, place: Place) throws {
    let ends = Counter()
    let sum = try place.run(backend) { backend in
      var sum = 0
      for isTaken in [false, true] {
        let begun = Gate()
        let joined: Joined<Unique, Unique> = backend.join(
          {
            if isTaken { begun.pass() }
            return Unique(ends: ends, number: 1)
          },
          {
            begun.open()
            return Unique(ends: ends, number: 2)
          })
        sum += joined.first.number + 10 * joined.second.number
      }
      return sum
    }
    #expect(sum == 42)
    #expect(ends.value == 4)
  }

  @Test("row 56.1: what a taken fork returned ends when `first` throws", arguments: allBackends, Place.allCases)
  func droppedResult(backend: TestBackend, place: Place) throws {
    let ends = Counter()
    try place.run(backend) { backend in
      let begun = Gate()
      #expect(throws: FirstFailed(number: 1)) {
        let joined: Joined<Int, Unique> = try backend.join(
          { () throws -> Int in
            begun.pass()
            throw FirstFailed(number: 1)
          },
          {
            begun.open()
            return Unique(ends: ends, number: 2)
          })
        return joined.first
      }
    }
    #expect(ends.value == 1)
  }

  /// What a closure captured lies on the stack of its owner, who has long gone on when the fork looks at it.
  @Test("row 56.1: what a fork captured is there until the fork has ended", arguments: allBackends, [true, false])
  func captured(backend: TestBackend, throwsFirst: Bool) throws {
    try Place.guest.run(backend) { backend in
      for round in 0..<200 {
        let text = "round \(round)"
        let numbers = Array(0...round)
        let counter = Counter()
        let wide = Wide(words: (round, 2, 3, 4, 5, 6, 7, round), text: text)
        let any: any Sendable & CustomStringConvertible = round
        let begun = Gate()
        let firstEnds = Gate()
        let sum = try? backend.join(
          { () throws -> Int in
            begun.pass()
            firstEnds.open()
            // The stack below is used again for something else.
            let noise = (0..<50).map { "\($0)" }.joined()
            if throwsFirst { throw FirstFailed(number: noise.utf8.count) }
            return noise.utf8.count
          },
          { () -> Int in
            begun.open()
            firstEnds.pass()
            for _ in 0..<20 { sched_yield() }
            counter.increment()
            #expect(text == "round \(round)")
            #expect(numbers.count == round + 1)
            #expect(wide == Wide(words: (round, 2, 3, 4, 5, 6, 7, round), text: text))
            #expect("\(any)" == "\(round)")
            return numbers.reduce(0, +) + wide.words.7
          })
        #expect(counter.value == 1)
        #expect(sum?.1 == (throwsFirst ? nil : round * (round + 1) / 2 + round))
      }
    }
  }

  // MARK: - Errors

  @Test("row 56.2: the first error in source order is thrown", arguments: allBackends, Place.allCases)
  func firstErrorWins(backend: TestBackend, place: Place) throws {
    try place.run(backend) { backend in
      let begun = Gate()
      #expect(throws: FirstFailed(number: 1)) {
        _ = try backend.join(
          { () throws(FirstFailed) -> Int in
            begun.pass()
            throw FirstFailed(number: 1)
          },
          { () throws(FirstFailed) -> Int in
            begun.open()
            throw FirstFailed(number: 2)
          })
      }
      for _ in 0..<100 {
        #expect(throws: FirstFailed(number: 2)) {
          _ = try backend.join(
            { () throws(FirstFailed) -> Int in 1 }, { () throws(FirstFailed) -> Int in throw FirstFailed(number: 2) })
        }
      }
    }
  }

  @Test("row 56.2: the type of the errors is that of the bodies", arguments: allBackends)
  func typedErrors(backend: TestBackend) throws {
    try backend.onWorker {
      do throws(FirstFailed) {
        _ = try join(
          { () throws(FirstFailed) -> Int in 1 }, { () throws(FirstFailed) -> Int in throw FirstFailed(number: 3) })
        Issue.record("no error was thrown")
      } catch {
        #expect(error.number == 3)
      }
      // Bodies that throw nothing: no `try`.
      let (one, two) = join({ 1 }, { 2 })
      #expect(one + two == 3)
    }
  }

  @Test("row 56.2: a fork has ended, or never begins, when `join` throws", arguments: allBackends, Place.allCases)
  func awaitedOrDropped(backend: TestBackend, place: Place) throws {
    let (begun, ended) = try place.run(backend) { backend in
      let begun = Counter()
      let ended = Counter()
      for round in 0..<2_000 {
        _ = try? backend.join(
          { () throws -> Int in
            // Others have time to take the fork in some rounds.
            if round % 4 == 0 { sched_yield() }
            throw FirstFailed(number: 1)
          },
          {
            begun.increment()
            if round % 8 == 0 { sched_yield() }
            ended.increment()
          })
        if begun.value != ended.value { Issue.record("a fork runs behind its join") }
      }
      return (begun.value, ended.value)
    }
    #expect(begun == ended)
  }

  @Test("row 56.2: a fork that nobody took is dropped unrun", arguments: [TestBackend.stealing, .threadPool])
  func dropped(backend: TestBackend) throws {
    let ran = Counter()
    try Place.worker.run(backend, workers: 1) { _ in
      for _ in 0..<1_000 {
        _ = try? join({ () throws -> Int in throw FirstFailed(number: 1) }, { ran.increment() })
      }
    }
    // A loaded machine may take the only thread for a blocked one, and start another.
    #expect(ran.value < 100)
  }

  // MARK: - Overlap

  @Test("row 56.4: two bodies that wait for each other", arguments: allBackends, Place.allCases)
  func overlap(backend: TestBackend, place: Place) throws {
    let met = try place.run(backend) { backend in
      let together = Rendezvous(2)
      let (left, right) = backend.join({ together.arrive() }, { together.arrive() })
      return left && right
    }
    #expect(met)
  }

  /// Holds everyone who arrives until all have arrived, and never sleeps: no pool takes the threads for blocked ones.
  final class SpinningRendezvous: Sendable {
    private let missing: Atomic<Int>
    init(_ parties: Int) { missing = Atomic(parties) }

    func arrive() -> Bool {
      let deadline = ContinuousClock.now + .seconds(patience)
      missing.wrappingSubtract(1, ordering: .relaxed)
      while missing.load(ordering: .relaxed) > 0 {
        if ContinuousClock.now > deadline { return false }
        sched_yield()
      }
      return true
    }
  }

  /// Dispatch has as many threads for bodies that compute as there are CPUs, for all backends together.
  private static let computingBackends = allBackends.filter { $0.name != TestBackend.dispatch.name }

  @Test("row 56.4: two bodies that compute until both have begun", arguments: computingBackends, Place.allCases)
  func computingOverlap(backend: TestBackend, place: Place) throws {
    let met = try place.run(backend) { backend in
      let together = SpinningRendezvous(2)
      let (left, right) = backend.join({ together.arrive() }, { together.arrive() })
      return left && right
    }
    #expect(met)
  }

  @Test("row 56.4: four bodies in a tree of joins, on four workers", arguments: allBackends, Place.allCases)
  func fourBodies(backend: TestBackend, place: Place) throws {
    let mayCompute = Self.computingBackends.contains { $0.name == backend.name }
    for isComputing in mayCompute ? [true, false] : [false] {
      let met = try place.run(backend, workers: 4) { backend in
        let computing = SpinningRendezvous(4)
        let blocking = Rendezvous(4)
        @Sendable func body() -> Bool { isComputing ? computing.arrive() : blocking.arrive() }
        let (left, right) = backend.join({ join({ body() }, { body() }) }, { join({ body() }, { body() }) })
        return left.0 && left.1 && right.0 && right.1
      }
      #expect(met)
    }
  }

  @Test("row 56.4: two bodies that wait for each other, after many short joins", arguments: allBackends, Place.allCases)
  func overlapAfterShortJoins(backend: TestBackend, place: Place) throws {
    let mayCompute = Self.computingBackends.contains { $0.name == backend.name }
    let met = try place.run(backend) { backend in
      (0..<5).allSatisfy { round in
        for _ in 0..<200 { _ = backend.join({}, {}) }
        let waiting = Rendezvous(2)
        let computing = SpinningRendezvous(2)
        @Sendable func body() -> Bool { mayCompute && round % 2 == 0 ? computing.arrive() : waiting.arrive() }
        let (left, right) = backend.join({ body() }, { body() })
        return left && right
      }
    }
    #expect(met)
  }

  /// A thief that has a fork at once, and runs it for an instant, leaves the owner with a private fork.
  @Test("row 56.4: a body behind a theft of an instant before", arguments: computingBackends, Place.allCases)
  func overlapBehindATheft(backend: TestBackend, place: Place) throws {
    let met = try place.run(backend) { backend in
      let isHelped = SpinFlag()
      return backend.join(
        {
          // From here on every fork is taken at once.
          isHelped.spin()
          return (0..<100).allSatisfy { _ in
            let taken = SpinFlag()
            let together = SpinningRendezvous(2)
            let (met, _) = join(
              { () -> Bool in
                taken.spin()
                let (left, right) = join({ together.arrive() }, { together.arrive() })
                return left && right
              }, { taken.set() })
            return met
          }
        }, { isHelped.set() }
      ).0
    }
    #expect(met)
  }

  @Test(
    "rows 46 and 56.4: a fork beside bodies that block in every other place", arguments: allBackends, Place.allCases)
  func besideBlockedBodies(backend: TestBackend, place: Place) throws {
    let met = try place.run(backend) { backend in
      let queue = OperationQueue(on: backend)
      let release = Gate()
      defer { release.open() }
      let blocked = CountdownLatch(2)
      for _ in 0..<2 {
        queue.addOperation {
          blocked.countDown()
          release.pass()
        }
      }
      blocked.pass()
      let together = Rendezvous(2)
      let (left, right) = backend.join({ together.arrive() }, { together.arrive() })
      return left && right
    }
    #expect(met)
  }

  @Test("row 56.5: a thread that waits for an operation gives its forks away", arguments: allBackends, Place.allCases)
  func waitingGivesForksAway(backend: TestBackend, place: Place) throws {
    let ran = try place.run(backend) { backend in
      let started = Gate()
      let awaited = AsynchronousOperation { _ in started.open() }
      OperationQueue(on: backend).addOperation(awaited)
      started.pass()
      let ran = Counter()
      @Sendable func nest(_ depth: Int) {
        guard depth > 0 else { return awaited.waitUntilFinished() }
        _ = join(
          { nest(depth - 1) },
          {
            ran.increment()
            if ran.value == 8 { awaited.finish() }
          })
      }
      _ = backend.join(
        { nest(7) },
        {
          ran.increment()
          if ran.value == 8 { awaited.finish() }
        })
      return ran.value
    }
    #expect(ran == 8)
  }

  // MARK: - Where

  @Test(
    "row 56.3: the calling thread runs `first`, and the fork that nobody took", arguments: allBackends, Place.allCases)
  func callingThread(backend: TestBackend, place: Place) throws {
    try place.run(backend) { backend in
      for _ in 0..<500 {
        let caller = currentThread()
        let running = Atomic<Bool>(false)
        let (first, second) = backend.join(
          { () -> UInt in
            running.store(true, ordering: .sequentiallyConsistent)
            defer { running.store(false, ordering: .sequentiallyConsistent) }
            return currentThread()
          },
          { () -> (UInt, Bool) in (currentThread(), running.load(ordering: .sequentiallyConsistent)) })
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
        let (left, right) = other.join(
          { () -> Bool in
            // A free join in here is on the other backend as well.
            let (left, _) = join({ together.arrive() }, { Self.fibonacci(10) })
            return left
          }, { together.arrive() })
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
          let (left, right) = (n % 2 == 0 ? backend : other).join({ fibonacci(n - 1) }, { fibonacci(n - 2) })
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
      let queue = OperationQueue(on: backend)
      @Sendable func addAndWait() {
        let operation = BlockOperation { ran.increment() }
        queue.addOperation(operation)
        operation.waitUntilFinished()
      }
      @Sendable func nest(_ depth: Int) {
        guard depth > 0 else { return addAndWait() }
        _ = join({ nest(depth - 1) }, { nest(depth - 1) })
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
      for _ in 0..<10 { _ = backend.join({ _ = join({ body() }, { body() }) }, { _ = join({ body() }, { body() }) }) }
      return results.value
    }
    #expect(results == Array(repeating: 144, count: 40))
  }

  @Test("row 56.9: a waiting thread runs no operation, and no fork of another outermost join", arguments: allBackends)
  func nothingForeign(backend: TestBackend) throws {
    try backend.withBackend(workers: 3) { backend in
      let queue = OperationQueue(on: backend)
      /// The threads that are in an outermost join of theirs, with its number.
      let joining = Monitor<[UInt: Int]>([:])
      let foreign = Counter()
      @Sendable func tree(_ depth: Int, of number: Int) {
        let here = joining.value[currentThread()]
        if let here, here != number { foreign.increment() }
        guard depth > 0 else { return }
        if depth == 3 { sched_yield() }
        _ = join({ tree(depth - 1, of: number) }, { tree(depth - 1, of: number) })
      }
      for _ in 0..<200 { queue.addOperation { if joining.value[currentThread()] != nil { foreign.increment() } } }
      try onThreads(3, "three outermost joins") { number in
        for _ in 0..<20 {
          joining.with { $0[currentThread()] = number }
          _ = backend.join({ tree(6, of: number) }, { tree(6, of: number) })
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
      let (first, second) = backend.join(
        { () -> Bool in
          begun.pass()
          return OperationQueue.current == nil
        },
        { () -> Bool in
          begun.open()
          return OperationQueue.current == nil
        })
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
        _ = join(
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

  // MARK: - Depth

  @Test("row 56.10: 100,000 deep: forks without room run in place", arguments: allBackends)
  func deep(backend: TestBackend) throws {
    let sum = try Place.guest.run(backend, stackSize: 1 << 30) { backend in
      @Sendable func nest(_ depth: Int) -> Int {
        guard depth > 0 else { return 0 }
        let (below, one) = join({ nest(depth - 1) }, { 1 })
        return below + one
      }
      return backend.join({ nest(100_000) }, { 0 }).0
    }
    #expect(sum == 100_000)
  }

  @Test("row 56.10: a chain of forks that fork", arguments: allBackends, Place.allCases)
  func chain(backend: TestBackend, place: Place) throws {
    let sum = try place.run(backend) { backend in
      @Sendable func nest(_ depth: Int) -> Int {
        guard depth > 0 else { return 0 }
        let (one, below) = join({ 1 }, { nest(depth - 1) })
        return one + below
      }
      return backend.join({ nest(100) }, { nest(100) })
    }
    #expect(sum == (100, 100))
  }

  // MARK: - Pools

  @Test("row 57.1: a shutdown beside a join", arguments: [TestBackend.stealing, .threadPool, .deterministic])
  func shutdownBeside(test: TestBackend) throws {
    for _ in 0..<10 {
      let backend = test.leftRunning()
      let result = try inTime("a join beside a shutdown") { () throws -> Int in
        try backend.join(
          { () throws -> Int in
            try inTime("the shutdown") {
              (backend as? StealingBackend)?.shutdown()
              (backend as? ThreadPoolBackend)?.shutdown()
              (backend as? DeterministicBackend)?.shutdown()
            }
            // What is forked now runs here.
            return Self.fibonacci(12)
          }, { () throws -> Int in 1 }
        ).0
      }
      #expect(result == 144)
    }
  }

  @Test(
    "row 57.4: a pool that nobody shut down is released behind a join", arguments: [TestBackend.stealing, .threadPool])
  func released(test: TestBackend) throws {
    let backend = Monitor<(any Backend)?>(test.leftRunning())
    weak let released = backend.value
    try inTime("joins") {
      if let backend = backend.value { _ = backend.join({ Self.fibonacci(14) }, { Self.fibonacci(14) }) }
    }
    backend.with { $0 = nil }
    try eventually("the backend to be released") { released == nil }
  }

  @Test("row 56.11: no more threads than workers", arguments: [TestBackend.stealing, .threadPool], Place.allCases)
  func threads(backend: TestBackend, place: Place) throws {
    let created = try place.run(backend, workers: 2) { backend in
      for _ in 0..<20 { _ = backend.join({ Self.fibonacci(16) }, { Self.fibonacci(16) }) }
      return (backend as? StealingBackend)?.threadsCreated ?? (backend as? ThreadPoolBackend)?.threadsCreated
    }
    // A spare is started when no worker made progress for a while: on a loaded machine one or two may appear.
    #expect(try #require(created) <= 4)
  }
}
