import DeterministicOperations
import Glibc
import OperationBackends
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
          OperationQueue(backend: backend).addOperation {
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

  @Sendable static func fibonacci(_ n: Int) -> Int {
    guard n > 1 else { return n }
    let (left, right) = join({ fibonacci(n - 1) }, { fibonacci(n - 2) })
    return left + right
  }

  // MARK: - Results

  @Test("row 56.1: a tree of joins returns what plain recursion does", arguments: allBackends, Place.allCases)
  func tree(backend: TestBackend, place: Place) throws {
    let results = try place.run(backend) { backend in
      (0..<3).map { _ in
        let (left, right) = backend.run { join({ Self.fibonacci(14) }, { Self.fibonacci(13) }) }
        return left + right
      }
    }
    #expect(results == [610, 610, 610])
  }

  @Test("row 56.1: one worker suffices", arguments: allBackends, Place.allCases)
  func oneWorker(backend: TestBackend, place: Place) throws {
    let result = try place.run(backend, workers: 1) { backend in backend.run { join({ Self.fibonacci(12) }, { 1 }) }.0 }
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
          return backend.run {
            join(
              {
                if isTaken { begun.pass() }
                return first()
              },
              {
                begun.open()
                return second()
              })
          }
        }
        let (text, wide) = both({ "text" }, { Wide() })
        #expect(text == "text")
        #expect(wide == Wide())
        let (nothing, numbers) = both({ Int?.none }, { Array(0..<100) })
        #expect(nothing == nil)
        #expect(numbers == Array(0..<100))
        let (add, _) = both({ { (number: Int) in number + 1 } }, {})
        #expect(add(1) == 2)
        let two: @Sendable () -> Int = { 2 }
        #expect(backend.run { join(two, two) } == (2, 2))
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
        let joined: Joined<Unique, Unique> = backend.run {
          join(
            {
              if isTaken { begun.pass() }
              return Unique(ends: ends, number: 1)
            },
            {
              begun.open()
              return Unique(ends: ends, number: 2)
            })
        }
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
        let joined: Joined<Int, Unique> = try backend.run {
          try join(
            { () throws -> Int in
              begun.pass()
              throw FirstFailed(number: 1)
            },
            {
              begun.open()
              return Unique(ends: ends, number: 2)
            })
        }
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
        let sum = try? backend.run {
          try join(
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
        }
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
        try backend.run {
          try join(
            { () throws(FirstFailed) -> Int in
              begun.pass()
              throw FirstFailed(number: 1)
            },
            { () throws(FirstFailed) -> Int in
              begun.open()
              throw FirstFailed(number: 2)
            })
        }
      }
      for _ in 0..<100 {
        #expect(throws: FirstFailed(number: 2)) {
          try backend.run {
            try join(
              { () throws(FirstFailed) -> Int in 1 }, { () throws(FirstFailed) -> Int in throw FirstFailed(number: 2) })
          }
        }
      }
    }
  }

  @Test("row 56.2: the type of the errors is that of the bodies", arguments: allBackends)
  func typedErrors(backend: TestBackend) throws {
    try backend.onWorker {
      do throws(FirstFailed) {
        try join(
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
        _ = try? backend.run {
          try join(
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
        }
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

  // MARK: - Depth

  @Test("row 56.10: 100,000 deep: forks without room run in place", arguments: allBackends)
  func deep(backend: TestBackend) throws {
    let sum = try Place.guest.run(backend, stackSize: 1 << 30) { backend in
      @Sendable func nest(_ depth: Int) -> Int {
        guard depth > 0 else { return 0 }
        let (below, one) = join({ nest(depth - 1) }, { 1 })
        return below + one
      }
      return backend.run { join({ nest(100_000) }, { 0 }) }.0
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
      return backend.run { join({ nest(100) }, { nest(100) }) }
    }
    #expect(sum == (100, 100))
  }

  // MARK: - Pools

  @Test("row 57.1: a shutdown beside a join", arguments: [TestBackend.stealing, .threadPool, .deterministic])
  func shutdownBeside(test: TestBackend) throws {
    for _ in 0..<10 {
      let backend = test.leftRunning()
      let result = try inTime("a join beside a shutdown") { () throws -> Int in
        try backend.run {
          try join(
            { () throws -> Int in
              try inTime("the shutdown") {
                (backend as? StealingBackend)?.shutdown()
                (backend as? ThreadPoolBackend)?.shutdown()
                (backend as? DeterministicBackend)?.shutdown()
              }
              // What is forked now runs here.
              return Self.fibonacci(12)
            }, { () throws -> Int in 1 }
          )
        }.0
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
      if let backend = backend.value { backend.run { join({ Self.fibonacci(14) }, { Self.fibonacci(14) }) } }
    }
    backend.with { $0 = nil }
    try eventually("the backend to be released") { released == nil }
  }

  @Test("row 56.11: no more threads than workers", arguments: [TestBackend.stealing, .threadPool], Place.allCases)
  func threads(backend: TestBackend, place: Place) throws {
    let created = try place.run(backend, workers: 2) { backend in
      for _ in 0..<20 { backend.run { join({ Self.fibonacci(16) }, { Self.fibonacci(16) }) } }
      return (backend as? StealingBackend)?.threadsCreated ?? (backend as? ThreadPoolBackend)?.threadsCreated
    }
    // A spare is started when no worker made progress for a while: on a loaded machine one or two may appear.
    #expect(try #require(created) <= 4)
  }
}
