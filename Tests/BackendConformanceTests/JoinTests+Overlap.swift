import DeterministicOperations
import Glibc
import Operations
import Synchronization
import TestSupport
import Testing

// Rows 56.4 and 56.5: bodies at the same time.

extension JoinTests {
  @Test("row 56.4: two bodies that wait for each other", arguments: allBackends, Place.allCases)
  func overlap(backend: TestBackend, place: Place) throws {
    let met = try place.run(backend) { backend in
      let together = Rendezvous(2)
      let (left, right) = backend.run { join({ together.arrive() }, { together.arrive() }) }
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
      let (left, right) = backend.run { join({ together.arrive() }, { together.arrive() }) }
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
        let (left, right) = backend.run { join({ join({ body() }, { body() }) }, { join({ body() }, { body() }) }) }
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
        for _ in 0..<200 { backend.run { join({}, {}) } }
        let waiting = Rendezvous(2)
        let computing = SpinningRendezvous(2)
        @Sendable func body() -> Bool { mayCompute && round % 2 == 0 ? computing.arrive() : waiting.arrive() }
        let (left, right) = backend.run { join({ body() }, { body() }) }
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
      return backend.run {
        join(
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
        )
      }.0
    }
    #expect(met)
  }

  @Test(
    "rows 46 and 56.4: a fork beside bodies that block in every other place", arguments: allBackends, Place.allCases)
  func besideBlockedBodies(backend: TestBackend, place: Place) throws {
    let met = try place.run(backend) { backend in
      let queue = OperationQueue(backend: backend)
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
      let (left, right) = backend.run { join({ together.arrive() }, { together.arrive() }) }
      return left && right
    }
    #expect(met)
  }

  @Test("row 56.5: a thread that waits for an operation gives its forks away", arguments: allBackends, Place.allCases)
  func waitingGivesForksAway(backend: TestBackend, place: Place) throws {
    let ran = try place.run(backend) { backend in
      let started = Gate()
      let awaited = AsynchronousOperation { _ in started.open() }
      OperationQueue(backend: backend).addOperation(awaited)
      started.pass()
      let ran = Counter()
      @Sendable func nest(_ depth: Int) {
        guard depth > 0 else { return awaited.waitUntilFinished() }
        join(
          { nest(depth - 1) },
          {
            if ran.increment() == 8 { awaited.finish() }
          })
      }
      backend.run {
        join(
          { nest(7) },
          {
            if ran.increment() == 8 { awaited.finish() }
          })
      }
      return ran.value
    }
    #expect(ran == 8)
  }
}
