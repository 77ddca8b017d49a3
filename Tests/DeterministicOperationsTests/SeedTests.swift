import DeterministicOperations
import Operations
import TestSupport
import Testing

/// Many seeds, failures and what two runs of a seed compare.
@Suite("Seeds")
struct SeedTests {
  private struct Wrong: Error {}

  @Test("each seed runs once, or twice with checksDeterminism")
  func eachSeed() throws {
    let seeds = EventLog<UInt64>()
    try forEachSeed(3..<6) { seeds.append($0.seed) }
    #expect(seeds.events == [3, 4, 5])
    try forEachSeed([9], checksDeterminism: true) { seeds.append($0.seed) }
    #expect(seeds.events == [3, 4, 5, 9, 9])
  }

  @Test("a failure names its seed, and has the steps")
  func failure() throws {
    let failure = try #require(throws: SeedFailure.self) {
      try forEachSeed(0..<100) { backend in
        let operation = BlockOperation {}
        operation.name = "culprit"
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        if backend.seed == 7 { throw Wrong() }
      }
    }
    #expect(failure.seed == 7 && failure.underlyingError is Wrong)
    #expect(failure.steps.contains { $0.what == "begins culprit" })
    #expect(failure.description.contains("OPERATIONS_SEED=7") && failure.description.contains("begins culprit"))
  }

  @Test("an order that few seeds show is found, and its seed shows it again")
  func rareOrder() throws {
    // The last of four operations goes first.
    func lastIsFirst(_ backend: DeterministicBackend) throws {
      let log = EventLog<Int>()
      let queue = OperationQueue()
      for number in 0..<4 { queue.addOperation { log.append(number) } }
      queue.waitUntilAllOperationsAreFinished()
      if log.events.first == 3 { throw Wrong() }
    }
    let failure = try #require(throws: SeedFailure.self) { try forEachSeed(0..<10_000, workers: 4, lastIsFirst) }
    for _ in 0..<5 {
      let again = try #require(throws: SeedFailure.self) { try forEachSeed([failure.seed], workers: 4, lastIsFirst) }
      #expect(again.steps == failure.steps)
    }
  }

  @Test("a body that depends on something else is found")
  func nondeterminism() throws {
    // What real time, an address or a random number does: another value in each run.
    let runs = Counter()
    let failure = try #require(throws: NondeterminismFailure.self) {
      try forEachSeed([1], checksDeterminism: true) { backend in
        let run = runs.increment()
        let queue = OperationQueue()
        queue.addOperation {}
        for _ in 0..<run { queue.addOperation { backend.yield() } }
        queue.waitUntilAllOperationsAreFinished()
      }
    }
    #expect(failure.seed == 1 && failure.first != failure.second)
    #expect(failure.description.contains("step \(failure.index + 1)"))
    let address = try #require(throws: NondeterminismFailure.self) {
      try forEachSeed([1], checksDeterminism: true) { backend in
        backend.note("\(ContinuousClock.now)")
      }
    }
    #expect(address.index == 0)
  }

  @Test("a body that is decided by its seed is not accused")
  func determinism() throws {
    try forEachSeed(0..<50, checksDeterminism: true) { backend in
      let queue = OperationQueue()
      var random = SeededGenerator(seed: backend.seed)
      for _ in 0..<10 {
        let time = Duration.microseconds(Int.random(in: 0..<5, using: &random))
        queue.addOperation { backend.work(for: time) }
      }
      queue.waitUntilAllOperationsAreFinished()
      backend.note("\(backend.now)")
    }
  }
}
