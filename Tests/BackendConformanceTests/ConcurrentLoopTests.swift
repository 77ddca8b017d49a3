import Operations
import Synchronization
import TestSupport
import Testing

/// Rows 58 to 61: loops whose pieces several threads run.
@Suite("Concurrent loops")
struct ConcurrentLoopTests {
  struct Refused: Error, Equatable {
    let index: Int
  }

  static let counts = [0, 1, 2, 3, 100, 5_000]

  // MARK: - Row 58: concurrentPerform

  @Test("row 58: each number is run once, and all have run when the call returns", arguments: allBackends, counts)
  func eachNumberOnce(backend: TestBackend, count: Int) throws {
    try backend.withBackend { pool in
      let visits = (0..<count).map { _ in Counter() }
      pool.run { concurrentPerform(iterations: count) { visits[$0].increment() } }
      #expect(visits.allSatisfy { $0.value == 1 })
    }
  }

  @Test("row 58: inside an operation its backend helps", arguments: allBackends)
  func insideAnOperation(backend: TestBackend) throws {
    let sum = try backend.onWorker {
      let sum = Monitor(0)
      concurrentPerform(iterations: 1_000) { number in sum.with { $0 += number } }
      return sum.value
    }
    #expect(sum == 499_500)
  }

  @Test("row 58: n bodies meet on n workers: they are given away before any has run", arguments: allBackends, [2, 4])
  func bodiesMeet(backend: TestBackend, workers: Int) throws {
    try backend.withBackend(workers: workers) { pool in
      let meeting = Rendezvous(workers)
      let met = Counter()
      pool.run { concurrentPerform(iterations: workers) { _ in if meeting.arrive() { met.increment() } } }
      #expect(met.value == workers)
    }
  }

  /// Where a thread that has nothing to do gets at forks whose owner blocks: sentence 56.5.
  static let uncoveringBackends = allBackends.filter { $0.name != "sample" && $0.name != "deterministic" }

  /// Computes for some time, so that nobody takes the body for a short one.
  private static func compute() {
    let end = ContinuousClock.now + .microseconds(50)
    while ContinuousClock.now < end {}
  }

  @Test(
    "row 58: n bodies in front of short ones meet on n workers, in each kind of loop", arguments: uncoveringBackends,
    [2, 4])
  func bodiesInFrontMeet(backend: TestBackend, workers: Int) throws {
    try backend.withBackend(workers: workers) { pool in
      let met = Counter()
      func body() -> @Sendable (Int) -> Void {
        let meeting = Rendezvous(workers)
        return { if $0 < workers, meeting.arrive() { met.increment() } }
      }
      var meet = body()
      pool.run { concurrentPerform(iterations: 100) { [meet] in meet($0) } }
      meet = body()
      pool.run { (0..<100).concurrentForEach { [meet] in meet($0) } }
      meet = body()
      _ = pool.run { (0..<100).concurrentMap { [meet] in meet($0) } }
      meet = body()
      _ = pool.run {
        (0..<100).concurrentReduce(
          0,
          { [meet] sum, number in
            meet(number)
            return sum
          }, combine: +)
      }
      meet = body()
      var numbers = Array(0..<100)
      pool.run { numbers.concurrentForEachChunk(ofCount: 1) { [meet] number, _ in meet(number) } }
      #expect(met.value == 5 * workers)
    }
  }

  @Test(
    "row 58: long bodies in front of short ones are run by all threads", arguments: uncoveringBackends, [100, 20_000])
  func longBodiesInFront(backend: TestBackend, count: Int) throws {
    try backend.withBackend(workers: 2) { pool in
      // Neighbours meet: no thread keeps a long body for itself behind another one.
      let meetings = (0..<12).map { _ in Rendezvous(2) }
      let met = Counter()
      pool.run {
        concurrentPerform(iterations: count) { number in
          guard number < 24 else { return }
          if meetings[number / 2].arrive() { met.increment() }
          Self.compute()
        }
      }
      #expect(met.value == 24)
    }
  }

  @Test("row 58: a long body behind a thousand short ones is not kept from the other threads", arguments: allBackends)
  func unevenBodies(backend: TestBackend) throws {
    try backend.withBackend(workers: 2) { pool in
      let meeting = Rendezvous(2)
      let met = Counter()
      // The first and the last number meet, however large the pieces have become in between.
      pool.run {
        concurrentPerform(iterations: 1_000) { number in
          if number == 0 || number == 999, meeting.arrive() { met.increment() }
        }
      }
      #expect(met.value == 2)
    }
  }

  @Test("row 58: the error of the lowest number is thrown, and all that has begun has ended", arguments: allBackends)
  func lowestErrorWins(backend: TestBackend) throws {
    try backend.withBackend { pool in
      for _ in 0..<20 {
        let running = Counter()
        let ended = Counter()
        let error = #expect(throws: Refused.self) {
          try pool.run {
            try concurrentPerform(iterations: 200) { number throws(Refused) in
              running.increment()
              defer { ended.increment() }
              if number % 50 == 37 { throw Refused(index: number) }
            }
          }
        }
        #expect(error == Refused(index: 37))
        #expect(running.value == ended.value)
      }
    }
  }

  @Test("row 58: loops inside of loops, and joins inside of these", arguments: allBackends)
  func nestedLoops(backend: TestBackend) throws {
    try backend.withBackend { pool in
      let count = Counter()
      pool.run {
        concurrentPerform(iterations: 10) { _ in
          concurrentPerform(iterations: 10) { _ in
            join({ count.increment() }, { count.increment() })
          }
        }
      }
      #expect(count.value == 200)
    }
  }

  @Test("row 58: a body sees the queue of the caller", arguments: allBackends)
  func currentQueueIsInherited(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let others = Counter()
      let operation = BlockOperation {
        // Two bodies that meet are on two threads.
        let meeting = Rendezvous(2)
        concurrentPerform(iterations: 2) { _ in
          if !meeting.arrive() || OperationQueue.current != queue { others.increment() }
        }
      }
      queue.addOperation(operation)
      try operation.finishInTime()
      #expect(others.value == 0)
    }
  }

  // MARK: - Row 59: collections

  @Test("row 59: each element is visited once", arguments: allBackends, counts)
  func forEach(backend: TestBackend, count: Int) throws {
    try backend.withBackend { pool in
      let visits = (0..<count).map { _ in Counter() }
      pool.run { visits.concurrentForEach { $0.increment() } }
      pool.run { (0..<count).reversed().concurrentForEach { visits[$0].increment() } }
      #expect(visits.allSatisfy { $0.value == 2 })
    }
  }

  @Test("row 59: results are in the order of the elements, for a slice and a range too", arguments: allBackends, counts)
  func mapKeepsOrder(backend: TestBackend, count: Int) throws {
    try backend.withBackend { pool in
      let words = (0..<count).map { "word \($0)" }
      #expect(pool.run { words.concurrentMap { $0.count } } == words.map { $0.count })
      let length: @Sendable (String) -> Int = { $0.count }
      #expect(pool.run { words.concurrentMap(length) } == words.map(length))
      #expect(pool.run { words.dropFirst().concurrentMap { $0 + "!" } } == words.dropFirst().map { $0 + "!" })
      #expect(pool.run { (0..<count).concurrentMap { "\($0)" } } == (0..<count).map { "\($0)" })
    }
  }

  @Test("row 59: a map that throws gives the first error, and releases every result once", arguments: allBackends)
  func mapReleasesResults(backend: TestBackend) throws {
    try backend.withBackend { pool in
      let tracker = LifetimeTracker()
      for failing in [0, 1, 700, 1_999] {
        let error = #expect(throws: Refused.self) {
          _ = try pool.run {
            try (0..<2_000).concurrentMap { number throws(Refused) in
              if number >= failing { throw Refused(index: number) }
              return tracker.token()
            }
          }
        }
        #expect(error == Refused(index: failing))
        #expect(tracker.live == 0)
      }
      #expect(pool.run { (0..<2_000).concurrentMap { _ in tracker.token() } }.count == 2_000)
      #expect(tracker.live == 0)
    }
  }

  @Test("row 59: a reduction has the same result with any number of workers", arguments: allBackends)
  func reductionIsDeterministic(backend: TestBackend) throws {
    for count in [0, 1, 2, 513, 3_000] {
      // The sum of these depends on the order of the additions.
      let numbers = (0..<count).map { (index: Int) -> Double in
        let scale: Double = index % 3 == 0 ? 1e9 : 1
        return scale / Double(index + 1)
      }
      var sums: Set<Double> = []
      for workers in [1, 2, 4] {
        try backend.withBackend(workers: workers) { pool in
          for _ in 0..<5 { sums.insert(pool.run { numbers.concurrentReduce(0, +) }) }
        }
      }
      #expect(sums.count == 1)
      let sum: Double = numbers.reduce(0, +)
      let difference: Double = abs((sums.first ?? 0) - sum)
      #expect(difference <= 1e-9 * max(1, sum))
    }
  }

  @Test("row 59: a reduction keeps the order, and throws the first error", arguments: allBackends, counts)
  func reductionKeepsOrder(backend: TestBackend, count: Int) throws {
    try backend.withBackend { pool in
      let text = pool.run { (0..<count).concurrentReduce("", { $0 + "\($1) " }, combine: +) }
      #expect(text == (0..<count).reduce("") { $0 + "\($1) " })
      guard count > 2 else { return }
      let error = #expect(throws: Refused.self) {
        _ = try pool.run {
          try (0..<count).concurrentReduce(
            0,
            { (sum: Int, number: Int) throws(Refused) -> Int in
              if number % 3 == 1 { throw Refused(index: number) }
              return sum + number
            }, combine: { (first: Int, second: Int) throws(Refused) -> Int in first + second })
        }
      }
      #expect(error == Refused(index: 1))
    }
  }

  // MARK: - Row 60: concurrentSort

  struct Card: Equatable, Sendable {
    let rank: Int
    let place: Int
  }

  @Test("row 60: equal elements keep their order, whatever the shape of the input", arguments: allBackends, counts)
  func sortIsStable(backend: TestBackend, count: Int) throws {
    var random = SeededGenerator(seed: 7)
    let shapes: [[Int]] = [
      (0..<count).map { _ in Int.random(in: 0..<10, using: &random) },
      (0..<count).map { _ in Int.random(in: 0..<1_000_000, using: &random) },
      Array(0..<count), Array((0..<count).reversed()), (0..<count).map { $0 % 2 }, [Int](repeating: 1, count: count),
    ]
    try backend.withBackend { pool in
      for ranks in shapes {
        var cards = ranks.enumerated().map { Card(rank: $1, place: $0) }
        let sorted = cards.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }
        pool.run { cards.concurrentSort { $0.rank < $1.rank } }
        #expect(cards == sorted)
        var numbers = ranks
        pool.run { numbers.concurrentSort() }
        #expect(numbers == ranks.sorted())
      }
    }
  }

  @Test("row 60: a part of an array, and elements that are counted", arguments: allBackends)
  func sortOfASlice(backend: TestBackend) throws {
    try backend.withBackend { pool in
      var names = (0..<1_000).map { "name \(($0 * 7_919) % 1_000)" }
      let expected = names[..<100] + names[100..<900].sorted() + names[900...]
      pool.run { names[100..<900].concurrentSort() }
      #expect(names == Array(expected))
    }
  }

  @Test("row 60: when the function throws, or contradicts itself, each element is there once", arguments: allBackends)
  func sortKeepsElements(backend: TestBackend) throws {
    try backend.withBackend { pool in
      let original = (0..<3_000).map { ($0 * 7_919) % 3_001 }
      for failing in [1, 5, 1_000, 20_000] {
        let calls = Counter()
        var names = original.map { "\($0)" }
        #expect(throws: Refused.self) {
          try pool.run {
            try names.concurrentSort { first, second throws(Refused) in
              if calls.increment() == failing { throw Refused(index: failing) }
              return first < second
            }
          }
        }
        #expect(names.sorted() == original.map { "\($0)" }.sorted())
      }
      var random = original.map { "\($0)" }
      let answers = Counter()
      pool.run { random.concurrentSort { _, _ in (answers.increment() * 7_919) % 13 < 6 } }
      #expect(random.sorted() == original.map { "\($0)" }.sorted())
    }
  }

  // MARK: - Row 61: parts of one array

  static func negate(_ numbers: inout MutableSpan<Int>) {
    guard numbers.count > 10 else {
      for index in numbers.indices { numbers[index].negate() }
      return
    }
    numbers.join(splittingAt: numbers.count / 3) {
      negate(&$0)
    } _: {
      negate(&$0)
    }
  }

  @Test("row 61: two parts of a span, and parts of these", arguments: allBackends, counts)
  func splitSpan(backend: TestBackend, count: Int) throws {
    let numbers = try backend.onWorker {
      var numbers = Array(0..<count)
      var span = numbers.mutableSpan
      Self.negate(&span)
      return numbers
    }
    #expect(numbers == (0..<count).map { -$0 })
  }

  @Test(
    "row 61: chunks have their number and their elements; the last one may be shorter", arguments: allBackends, counts)
  func chunks(backend: TestBackend, count: Int) throws {
    try backend.withBackend { pool in
      for size in [1, 7, Int.max] {
        var numbers = [Int](repeating: -1, count: count)
        let lengths = EventLog<Int>()
        pool.run {
          numbers.concurrentForEachChunk(ofCount: size) { number, chunk in
            lengths.append(chunk.count)
            for index in chunk.indices { chunk[index] = number }
          }
        }
        #expect(numbers == (0..<count).map { $0 / size })
        #expect(lengths.events.allSatisfy { $0 == size } || lengths.events.filter { $0 != size } == [count % size])
        var span = numbers.mutableSpan
        pool.run { span.concurrentForEach { $0 += 1 } }
        #expect(numbers == (0..<count).map { $0 / size + 1 })
      }
    }
  }
}
