import Glibc
import Operations
import Synchronization
import TestSupport
import Testing

/// Sentences 56.12 and 56.13, 63.1 and 63.2: what a fork sees of its maker, on whatever thread the fork runs.
@Suite("What a fork sees")
struct ForkValuesTests {
  typealias Place = JoinTests.Place

  final class Tracked: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
  }

  enum Local {
    @TaskLocal static var id = "none"
    @TaskLocal static var depth = -1
    @TaskLocal static var wide = SIMD8<Double>(repeating: 0)
    @TaskLocal static var tracked: Tracked?
    @TaskLocal static var token: LifetimeTracker.Token?
  }

  /// Counts bodies that see something else.
  struct Sights: Sendable {
    let bodies = Counter()
    let wrong = EventLog<String>()

    func look(for id: String, at place: String) {
      bodies.increment()
      if Local.id != id { wrong.append("\(place) sees \(Local.id) in the place of \(id)") }
    }

    func check(atLeast count: Int) {
      #expect(wrong.events.isEmpty)
      #expect(bodies.value >= count)
    }
  }

  @Test("row 56.12: the values of the maker, on another thread", arguments: allBackends, Place.allCases)
  func values(backend: TestBackend, place: Place) throws {
    let seen = try place.run(backend) { pool in
      let together = Rendezvous(2)
      return Local.$id.withValue("A") {
        Local.$wide.withValue(SIMD8(repeating: 1)) {
          pool.run {
            join(
              {
                Local.$id.withValue("of the first body") { together.arrive() ? Local.id : "" }
              },
              { () -> (String, Double, Int) in
                let met = together.arrive()
                return (met ? Local.id : "", Local.wide.sum(), Local.depth)
              })
          }
        }
      }
    }
    #expect(seen.0 == "of the first body")
    #expect(seen.1 == ("A", 8, -1))
  }

  @Test("row 56.12: each kind of loop, the sort and the scope", arguments: allBackends, Place.allCases)
  func loops(backend: TestBackend, place: Place) throws {
    let sights = Sights()
    try place.run(backend, workers: 4) { pool in
      Local.$id.withValue("A") {
        /// Two bodies of each loop run on two threads.
        func meeting() -> @Sendable (Int) -> Void {
          let meeting = Rendezvous(2)
          return { if $0 == 0 || $0 == 99 { meeting.arrive() } }
        }
        var meet = meeting()
        pool.run {
          concurrentPerform(iterations: 100) { [meet] in
            meet($0)
            sights.look(for: "A", at: "perform")
          }
        }
        meet = meeting()
        pool.run {
          (0..<100).concurrentForEach { [meet] in
            meet($0)
            sights.look(for: "A", at: "forEach")
          }
        }
        meet = meeting()
        _ = pool.run {
          (0..<100).concurrentMap { [meet] number in
            meet(number)
            sights.look(for: "A", at: "map")
            return number
          }
        }
        _ = pool.run {
          (0..<100).concurrentReduce(0) {
            sights.look(for: "A", at: "reduce")
            return $0 + $1
          }
        }
        var numbers = (0..<2_000).map { ($0 * 7_919) % 2_003 }
        pool.run {
          numbers.concurrentSort {
            sights.look(for: "A", at: "sort")
            return $0 < $1
          }
        }
        let both = Rendezvous(2)
        pool.run {
          withForkScope { scope in
            for _ in 0..<2 {
              scope.spawn {
                both.arrive()
                sights.look(for: "A", at: "scope")
                scope.spawn { sights.look(for: "A", at: "child of a child") }
              }
            }
          }
        }
      }
      sights.look(for: "none", at: "the caller, behind all of it")
    }
    sights.check(atLeast: 2_000)
  }

  @Test("row 56.12: a tree in which each node binds a value of its own", arguments: allBackends, Place.allCases)
  func tree(backend: TestBackend, place: Place) throws {
    let sights = Sights()
    @Sendable func visit(_ name: String, _ depth: Int) {
      sights.look(for: name, at: "a node")
      guard depth > 0 else { return }
      Local.$id.withValue(name + "l") {
        join(
          { visit(name + "l", depth - 1) },
          {
            sights.look(for: name + "l", at: "a fork")
            Local.$id.withValue(name + "r") { visit(name + "r", depth - 1) }
            sights.look(for: name + "l", at: "a fork, behind its own value")
          })
      }
      sights.look(for: name, at: "a node, behind its join")
    }
    try place.run(backend) { pool in
      for _ in 0..<4 {
        Local.$id.withValue("t") { pool.run { join({ visit("t", 9) }, { visit("t", 9) }) } }
        sights.look(for: "none", at: "the caller, behind the tree")
      }
    }
    sights.check(atLeast: 4 * 1_000)
  }

  @Test("row 56.12: nested loops in operations", arguments: allBackends)
  func nestedLoops(backend: TestBackend) throws {
    let sights = Sights()
    try backend.withQueue(workers: 3) { queue in
      for operation in 0..<6 {
        queue.addOperation {
          Local.$id.withValue("\(operation)") {
            concurrentPerform(iterations: 8) { outer in
              sights.look(for: "\(operation)", at: "the outer loop")
              Local.$id.withValue("\(operation).\(outer)") {
                concurrentPerform(iterations: 20) { _ in
                  sights.look(for: "\(operation).\(outer)", at: "the inner loop")
                }
              }
            }
          }
          sights.look(for: "none", at: "the operation, behind its loops")
        }
      }
      try queue.drainInTime()
    }
    sights.check(atLeast: 6 * 8 * 21)
  }

  @Test("row 56.12: a child has the values of where it was spawned", arguments: allBackends, Place.allCases)
  func children(backend: TestBackend, place: Place) throws {
    let sights = Sights()
    try place.run(backend) { pool in
      Local.$id.withValue("around") {
        pool.run {
          withForkScope { scope in
            for number in 0..<50 {
              scope.spawn { sights.look(for: "around", at: "a child") }
              Local.$id.withValue("\(number)") {
                Local.$tracked.withValue(Tracked("\(number)")) {
                  scope.spawn {
                    // The value is no longer bound where the child was spawned.
                    sights.look(for: "\(number)", at: "a child with a value of its own")
                    if Local.tracked?.name != "\(number)" { sights.wrong.append("the object of \(number) is gone") }
                    scope.spawn { sights.look(for: "\(number)", at: "a child of such a child") }
                  }
                }
              }
            }
            sights.look(for: "around", at: "the body")
          }
        }
        sights.look(for: "around", at: "the caller, behind the scope")
      }
    }
    sights.check(atLeast: 50 * 3)
  }

  @Test("row 56.12: what was bound is released once, behind the last child", arguments: allBackends)
  func releases(backend: TestBackend) throws {
    let tracker = LifetimeTracker()
    try Place.guest.run(backend) { pool in
      pool.run {
        withForkScope { scope in
          for _ in 0..<100 {
            Local.$token.withValue(tracker.token()) {
              scope.spawn { if Local.token == nil { Issue.record("the token is gone") } }
            }
          }
        }
      }
      #expect(tracker.live == 0 && tracker.peak > 0)
    }
  }

  // MARK: - Levels

  /// The deterministic backend runs one thread at a time: no thread of it computes until another one acts.
  static let parallelOrderedBackends = allBackends.filter { $0.isOrdered && $0.name != "deterministic" }

  /// An operation of a low level computes on one worker, and another operation holds the other worker. Then the first
  /// is raised beside many operations of a middle level, and the second ends. The free thread takes what the first has
  /// to give.
  /// - Parameter body: forks `second`, and then calls `first`, which computes until `second` has begun.
  /// - Returns: how many of the many operations ran before `second`.
  private func raise(
    _ backend: TestBackend,
    _ body: @escaping @Sendable (_ first: () -> Void, _ second: @escaping @Sendable () -> Void) -> Void
  ) throws -> Int {
    let (held, begun) = (Gate(), Gate())
    let (release, taken) = (SpinFlag(), SpinFlag())
    let flood = Counter()
    let before = Monitor<Int?>(nil)
    try backend.withQueue(workers: 2) { queue in
      queue.addOperation {
        held.open()
        release.spin()
      }
      held.pass()
      let raised = BlockOperation {
        body(
          {
            begun.open()
            taken.spin()
          },
          {
            let count = flood.value
            before.with { $0 = $0 ?? count }
            taken.set()
          })
      }
      raised.queuePriority = .low
      queue.addOperation(raised)
      begun.pass()
      for _ in 0..<400 { queue.addOperation { flood.increment() } }
      raised.queuePriority = .veryHigh
      release.set()
      try queue.drainInTime()
    }
    return try #require(before.value)
  }

  @Test("row 56.13: forks that are shown follow the level of their operation", arguments: parallelOrderedBackends)
  func raisedJoin(backend: TestBackend) throws {
    // A fair pool runs something less urgent now and then.
    #expect(try raise(backend) { first, second in join(first, second) } <= 2)
  }

  @Test("row 56.13: so do the children of a scope, and loops", arguments: parallelOrderedBackends)
  func raisedScope(backend: TestBackend) throws {
    let children = try raise(backend) { first, second in
      withForkScope { scope in
        for _ in 0..<4 { scope.spawn(second) }
        first()
      }
    }
    #expect(children <= 2)
  }

  // MARK: - Tasks

  @Test("row 63.1: in a cancelled task both bodies see that, and the values", arguments: allBackends)
  func cancelledTask(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning()
      let together = Rendezvous(2)
      @Sendable func look() -> (isCancelled: Bool, id: String, name: String?, priority: TaskPriority) {
        together.arrive()
        return (Task.isCancelled, Local.id, Task.name, Task.currentPriority)
      }
      let (first, second) = await Task(name: "maker", priority: .high) {
        withUnsafeCurrentTask { $0?.cancel() }
        return await Local.$id.withValue("inside") { await pool.run { join(look, look) } }
      }.value
      for seen in [first, second] { #expect(seen == (true, "inside", "maker", .high)) }
    }
  }

  @Test("row 63.1: a cancellation that comes later reaches each body that runs", arguments: allBackends)
  func cancelledLater(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning()
      let begun = Rendezvous(3)
      let task = AsynchronousTest.spawn {
        @Sendable func look() -> Bool {
          begun.arrive()
          let deadline = ContinuousClock.now + .seconds(patience)
          while !Task.isCancelled, ContinuousClock.now < deadline { usleep(100) }
          return Task.isCancelled
        }
        let (first, second) = await pool.run { join(look, look) }
        return first && second
      }
      try await AsynchronousTest.eventually("both bodies to begin") { begun.arrived == 2 }
      begun.arrive()
      task.cancel()
      #expect(try await task.value)
    }
  }

  @Test("row 63.2: a body on another thread has a task of its own", arguments: allBackends)
  func ownTask(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning()
      let together = Rendezvous(2)
      @Sendable func task() -> Int? {
        together.arrive()
        return withUnsafeCurrentTask { $0?.hashValue }
      }
      let (first, second) = await pool.run { join(task, task) }
      #expect(first != nil && second != nil && first != second)
    }
  }

  @Test("row 63.1: loops and scopes in a task", arguments: allBackends)
  func loopsInATask(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let pool = backend.leftRunning()
      let sights = Sights()
      try await AsynchronousTest.spawn {
        withUnsafeCurrentTask { $0?.cancel() }
        await Local.$id.withValue("inside") {
          let look: @Sendable (String) -> Void = { place in
            sights.look(for: "inside", at: place)
            if !Task.isCancelled { sights.wrong.append("\(place) is not cancelled") }
          }
          await pool.run {
            concurrentPerform(iterations: 200) { _ in
              look("a loop")
              join({ look("a join in a loop") }, { look("a fork in a loop") })
            }
          }
          await pool.run {
            withForkScope { scope in
              for _ in 0..<50 {
                scope.spawn { look("a child") }
                Local.$depth.withValue(1) { scope.spawn { look("a child with one more value") } }
              }
            }
          }
        }
        sights.look(for: "none", at: "the task, behind all of it")
      }.value
      sights.check(atLeast: 700)
    }
  }
}
