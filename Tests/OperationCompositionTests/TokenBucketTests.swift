import DeterministicOperations
import OperationComposition
import Operations
import Synchronization
import TestSupport
import Testing

@Suite("Token bucket")
struct TokenBucketTests {
  @Test("a burst at once, then the rate; a pause fills the bucket", arguments: seeds)
  func rate(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let queue = OperationQueue(backend: backend)
      let bucket = TokenBucket(rate: 4, burst: 3, clock: backend.clock)
      let begun = EventLog<Duration>()
      func add(_ count: Int) async {
        for _ in 0..<count { queue.addTask(conditions: [bucket]) { begun.append(backend.now) } }
        await queue.drained()
      }
      await add(7)
      #expect(begun.events == [0, 0, 0, 250, 500, 750, 1000].map { .milliseconds($0) })
      try await backend.clock.sleep(for: .seconds(60))
      await add(5)
      #expect(begun.events.dropFirst(7).map { $0 - .seconds(61) } == [0, 0, 0, 250, 500].map { .milliseconds($0) })
    }
  }

  @Test("who came first goes first, and who leaves lets the others move up", arguments: seeds)
  func line(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed, advancesByItself: false) { backend in
      let bucket = TokenBucket(rate: 1, burst: 2, clock: backend.clock)
      let served = EventLog<String>()
      #expect(bucket.takeNow(2) && !bucket.takeNow() && bucket.takeNow(0))
      let queue = OperationQueue(backend: backend)
      func come(_ name: String, _ count: Int, in line: Int) async -> TaskOperation<Void, any Error> {
        let operation = queue.addTask { () async throws -> Void in
          try await bucket.take(count)
          served.append("\(name) \(backend.now)")
        }
        await backend.waitUntil { bucket.waitingCount == line }
        return operation
      }
      _ = await come("a", 2, in: 1)
      let second = await come("b", 2, in: 2)
      _ = await come("c", 1, in: 3)
      second.cancel()
      await #expect(throws: CancellationError.self) { try await second.value }
      #expect(bucket.waitingCount == 2)
      // Nobody passes those who wait.
      #expect(!bucket.takeNow(1))
      await backend.advance(by: .seconds(10))
      #expect(served.events == ["a 2.0 seconds", "c 3.0 seconds"])
      // The first in line leaves: the next one is not held up.
      #expect(bucket.takeNow(2))
      let head = await come("d", 2, in: 1)
      _ = await come("e", 1, in: 2)
      head.cancel()
      await backend.advance(by: .seconds(10))
      #expect(served.events.last == "e 11.0 seconds" && bucket.waitingCount == 0)
    }
  }

  @Test("an operation takes its token when it has its turn, and not before", arguments: seeds)
  func behindATurn(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let (queue, clock) = (OperationQueue(backend: backend), backend.clock)
      let exclusion = MutualExclusion<String>(backend: backend)
      let bucket = TokenBucket(rate: 1, burst: 2, clock: clock)
      let begun = EventLog<Duration>()
      for _ in 0..<3 {
        queue.addTask(conditions: [exclusion.turn(of: "host"), bucket]) {
          begun.append(backend.now)
          try await clock.sleep(for: .seconds(10))
        }
      }
      let other = queue.addTask(conditions: [Delay(for: .seconds(5), clock: clock), bucket]) { backend.now }
      // Tokens that the second and the third one had taken at once would be missing here.
      let time = try await other.value
      #expect(time == .seconds(5))
      await queue.drained()
      #expect(begun.events == [0, 10, 20].map { .seconds($0) })
    }
  }

  @Test("rates that no floating-point number has exactly do not drift", arguments: seeds.prefix(3))
  func exact(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let bucket = TokenBucket(rate: 1000, per: .seconds(7), burst: 1, clock: backend.clock)
      for _ in 0...10_000 { try await bucket.take() }
      #expect(backend.now >= .seconds(70) && backend.now < .seconds(70) + .milliseconds(1))
    }
  }

  @Test("an interval that is no whole number of nanoseconds", arguments: seeds.prefix(3))
  func fractions(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let bucket = TokenBucket(rate: 3, burst: 1, clock: backend.clock)
      for _ in 0...30 { try await bucket.take() }
      #expect(backend.now >= .seconds(10) - .nanoseconds(1) && backend.now <= .seconds(10) + .nanoseconds(1))
    }
  }

  @Test("10,000 tasks in line, half of them cancelled", arguments: allBackends)
  func many(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let bucket = TokenBucket(rate: 1_000_000, burst: 1)
      let queue = OperationQueue(backend: backend)
      let served = Counter()
      let operations = (0..<10_000).map { _ in
        queue.addTask {
          try await bucket.take()
          served.increment()
        }
      }
      for operation in operations where Int.random(in: 0...1) == 0 { operation.cancel() }
      await queue.drained()
      #expect(bucket.waitingCount == 0)
      #expect(served.value >= operations.count { !$0.isCancelled })
    }
  }

  @Test("a burst without an end is more than anybody takes")
  func boundlessBurst() {
    let bucket = TokenBucket(rate: 1, per: .seconds(60), burst: .max)
    for _ in 1...3 { #expect(bucket.takeNow(1_000_000)) }
    let slow = TokenBucket(rate: 1, per: .seconds(1 << 40), burst: .max)
    #expect(slow.takeNow() && !slow.takeNow())
  }

  @Test(
    "a task that takes without a pause has the whole rate, also where each wait ends late", arguments: [0, 400, 2_500])
  func late(microseconds: Int) async throws {
    try await AsynchronousTest.run {
      let clock = SteppedClock(lateness: .microseconds(microseconds))
      let bucket = TokenBucket(rate: 1000, burst: 1, clock: clock)
      for taken in 1...2000 {
        try await bucket.take()
        // The rate holds at each instant, but for the lateness.
        #expect(
          clock.time >= .milliseconds(taken - 1) && clock.time <= .milliseconds(taken - 1) + .microseconds(microseconds)
        )
      }
      // What was late once is not had twice: after a pause there is the burst, and no more.
      clock.goOn(.seconds(10))
      #expect(bucket.takeNow() && !bucket.takeNow())
    }
  }

  @Test("what a process that stood still has missed is not made up, but for a tenth of a second")
  func stoodStill() async throws {
    try await AsynchronousTest.run {
      let clock = SteppedClock(lateness: .seconds(10))
      let bucket = TokenBucket(rate: 1000, burst: 1, clock: clock)
      try await bucket.take()
      try await bucket.take()
      var more = 0
      while bucket.takeNow() { more += 1 }
      #expect(more <= 100)
    }
  }

  /// What programs wrap around the clock that they are given.
  private struct Around: Clock {
    let clock: DeterministicClock
    var now: DeterministicClock.Instant { clock.now }
    var minimumResolution: Duration { clock.minimumResolution }
    func sleep(until deadline: DeterministicClock.Instant, tolerance: Duration?) async throws {
      try await clock.sleep(until: deadline, tolerance: tolerance)
    }
  }

  @Test("on a clock around the virtual one no time passes before the wait for a token has begun", arguments: seeds)
  func clockAround(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed) { backend in
      let queue = OperationQueue(backend: backend)
      let bucket = TokenBucket(rate: 1, clock: Around(clock: backend.clock))
      queue.addTask { try await backend.clock.sleep(for: .seconds(3_600)) }
      let taking = queue.addTask {
        for _ in 0..<3 { try await bucket.take() }
        return backend.now
      }
      let taken = try await taking.value
      #expect(taken == .seconds(2))
    }
  }

  @Test("the head of the line holds nobody up whose backend has no worker for it", arguments: realBackends)
  func busyHead(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend, workers: 1) { busy in
      let (crowded, free) = (OperationQueue(backend: busy), OperationQueue(backend: StealingBackend(workers: 1)))
      let bucket = TokenBucket(rate: 4)
      #expect(bucket.takeNow())
      let head = crowded.addTask { try await bucket.take() }
      // On a slow machine the head may have been served by now: then there is nothing to see.
      while bucket.waitingCount < 1, !head.isFinished { await Task.yield() }
      let stops = Mutex(false)
      // Dispatch may have more threads than a pool has workers.
      let computing = (0..<8).map { _ in crowded.addOperation(dependencies: []) { while !stops.withLock({ $0 }) {} } }
      while computing.allSatisfy({ !$0.isExecuting }) { await Task.yield() }
      try await free.addTask { try await bucket.take() }.value
      stops.withLock { $0 = true }
      try await head.value
    }
  }

  @Test(
    "who came first goes first, however urgent; a queue with a limit lets the most urgent come first", arguments: seeds)
  func urgency(seed: UInt64) async throws {
    try await inVirtualTime(seed: seed, advancesByItself: false) { backend in
      let queue = OperationQueue(backend: backend)
      let (bucket, served) = (TokenBucket(rate: 10, clock: backend.clock), EventLog<Int>())
      for number in 0..<50 {
        queue.addTask(priority: .low, conditions: [bucket]) { served.append(number) }
        await backend.waitUntil { served.count == 1 && bucket.waitingCount == number }
      }
      queue.addTask(priority: .veryHigh, conditions: [bucket]) { served.append(50) }
      await backend.waitUntil { bucket.waitingCount == 50 }
      await backend.advance(by: .seconds(10))
      #expect(served.events == Array(0...50))

      let line = OperationQueue(backend: backend)
      line.maxConcurrentOperationCount = 1
      let begun = EventLog<Int>()
      func add(_ number: Int, _ priority: Operation.QueuePriority) {
        line.addTask(priority: priority) {
          try await bucket.take()
          begun.append(number)
        }
      }
      for number in 0..<50 { add(number, .low) }
      await backend.waitUntil { begun.count == 1 && bucket.waitingCount == 1 }
      add(50, .veryHigh)
      await backend.advance(by: .seconds(10))
      #expect(begun.events == [0, 1, 50] + Array(2..<50))
    }
  }
}
