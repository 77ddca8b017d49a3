import OperationBackends
import TestSupport
import Testing

/// Row 62: scopes that spawn children.
@Suite("Scopes that spawn")
struct SpawningScopeTests {
  struct Refused: Error, Equatable {
    let number: Int
  }

  /// Spawns the nodes of a binary tree.
  static func grow(_ node: Int, below limit: Int, _ scope: SpawnScope<Never>, _ count: Counter) {
    count.increment()
    for child in [2 * node + 1, 2 * node + 2] where child < limit {
      scope.spawn { grow(child, below: limit, scope, count) }
    }
  }

  @Test("row 62: children of children are waited for", arguments: allBackends)
  func childrenOfChildren(backend: TestBackend) throws {
    try backend.withBackend { pool in
      let count = Counter()
      let result = pool.run {
        withForkScope { scope in
          Self.grow(0, below: 1_000, scope, count)
          return 7
        }
      }
      #expect(result == 7)
      #expect(count.value == 1_000)
    }
  }

  @Test("row 62: what children have captured is released before the scope ends", arguments: allBackends)
  func childrenAreReleased(backend: TestBackend) throws {
    try backend.withBackend(workers: 2) { pool in
      let alive = Monitor(0)
      for _ in 0..<500 {
        pool.run {
          withForkScope { scope in
            for _ in 0..<4 {
              let captured = Captured(alive)
              scope.spawn { withExtendedLifetime(captured) {} }
            }
          }
        }
        #expect(alive.value == 0)
      }
    }
  }

  /// Gives all jobs to another backend, and is not done with one as long as the scope is awaited.
  private final class SlowBackend: Backend {
    let name = "slow"
    let isAsked = Gate()
    let hasScopeEnded = Gate()
    let outlivedScope = Monitor(false)
    private let other = ThreadPerJobBackend()

    var workerCount: Int { other.workerCount }

    func submit(_ job: Job) {
      isAsked.open()
      let isTooLate = hasScopeEnded.pass(seconds: 0.2)
      outlivedScope.with { $0 = isTooLate }
      other.submit(job)
    }
  }

  @Test("row 62: a scope waits for a thread that still spawns, also for one that is none of its own")
  func aForeignThreadSpawns() {
    let slow = SlowBackend()
    let count = Counter()
    slow.run {
      withForkScope { scope in
        startThread { scope.spawn { count.increment() } }
        #expect(slow.isAsked.pass())
      }
    }
    slow.hasScopeEnded.open()
    #expect(count.value == 1)
    #expect(!slow.outlivedScope.value)
  }

  @Test("row 62: a chain of children, each spawned by the one before", arguments: allBackends)
  func chain(backend: TestBackend) throws {
    @Sendable func step(_ left: Int, _ scope: SpawnScope<Never>, _ count: Counter) {
      count.increment()
      if left > 1 { scope.spawn { step(left - 1, scope, count) } }
    }
    let count = Counter()
    try backend.onWorker { withForkScope { step(10_000, $0, count) } }
    #expect(count.value == 10_000)
  }

  @Test("row 62: children begin while the body still runs", arguments: allBackends)
  func childrenBeginAtOnce(backend: TestBackend) throws {
    try backend.withBackend(workers: 2) { pool in
      let gate = Gate()
      let passed = pool.run {
        withForkScope { scope in
          scope.spawn { gate.open() }
          return gate.pass()
        }
      }
      #expect(passed)
    }
  }

  @Test("row 62: scopes inside of scopes on one worker", arguments: allBackends)
  func nestedScopes(backend: TestBackend) throws {
    @Sendable func nest(_ depth: Int, _ count: Counter) {
      count.increment()
      guard depth > 0 else { return }
      withForkScope { scope in
        scope.spawn { nest(depth - 1, count) }
        scope.spawn { nest(depth - 1, count) }
      }
    }
    try backend.withQueue(workers: 1) { queue in
      let count = Counter()
      queue.addOperation { nest(7, count) }
      try queue.drainInTime()
      #expect(count.value == 255)
    }
  }

  @Test("row 62: a child may use joins, loops and operations", arguments: allBackends)
  func childrenFork(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let count = Counter()
      queue.addOperation {
        withForkScope { scope in
          for _ in 0..<10 {
            scope.spawn {
              join({ count.increment() }, { count.increment() })
              concurrentPerform(iterations: 8) { _ in count.increment() }
              if OperationQueue.current != queue { count.increment() }
            }
          }
        }
      }
      try queue.drainInTime()
      #expect(count.value == 100)
    }
  }

  @Test("row 62: of the children that throw, the error of the first one is thrown", arguments: allBackends)
  func firstErrorWins(backend: TestBackend) throws {
    try backend.withBackend { pool in
      for _ in 0..<20 {
        let tracker = LifetimeTracker()
        let error = #expect(throws: Refused.self) {
          try pool.run {
            try withForkScope(throwing: Refused.self) { scope throws(Refused) in
              for number in 0..<50 {
                let token = tracker.token()
                scope.spawn { () throws(Refused) in
                  _ = token
                  if number % 10 == 3 { throw Refused(number: number) }
                }
              }
            }
          }
        }
        #expect(error == Refused(number: 3))
        try tracker.waitUntilAllReleased("the children's closures")
      }
    }
  }

  @Test("row 62: the body's error comes first, and children that have not begun are dropped", arguments: allBackends)
  func bodyThrows(backend: TestBackend) throws {
    try backend.withBackend { pool in
      let begun = Counter()
      let ended = Counter()
      let error = #expect(throws: Refused.self) {
        try pool.run {
          try withForkScope(throwing: Refused.self) { scope throws(Refused) in
            for number in 0..<100 {
              scope.spawn { () throws(Refused) in
                begun.increment()
                defer { ended.increment() }
                throw Refused(number: number)
              }
            }
            throw Refused(number: -1)
          }
        }
      }
      #expect(error == Refused(number: -1))
      #expect(begun.value == ended.value)
    }
  }
}
