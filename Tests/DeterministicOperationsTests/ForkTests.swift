import DeterministicOperations
import OperationBackends
import TestSupport
import Testing

/// What forks on the backend do, the seed alone decides: no clock of the processor's.
@Suite("Forks and seeds")
struct ForkTests {
  struct Kind: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Runs in an operation. `note` is for what a body does.
    let run: @Sendable (_ backend: DeterministicBackend, _ note: @escaping @Sendable (Int) -> Void) -> Void
  }

  static let kinds: [Kind] = [
    Kind(testDescription: "concurrentPerform") { _, note in concurrentPerform(iterations: 60) { note($0) } },
    Kind(testDescription: "a loop with chunks of many indices") { _, note in
      concurrentPerform(iterations: 5_000) { if $0 % 50 == 0 { note($0) } }
    },
    Kind(testDescription: "a loop in Backend.run") { backend, note in
      backend.run { concurrentPerform(iterations: 60) { note($0) } }
    },
    Kind(testDescription: "concurrentForEach") { _, note in Array(0..<60).concurrentForEach { note($0) } },
    Kind(testDescription: "concurrentMap") { _, note in
      let squares = Array(0..<60).concurrentMap { number in
        note(number)
        return number * number
      }
      if squares != (0..<60).map({ $0 * $0 }) { note(-1) }
    },
    Kind(testDescription: "concurrentReduce") { _, note in
      let sum = Array(0..<200).concurrentReduce(0) { left, right in
        if right % 7 == 0 { note(right) }
        return left + right
      }
      note(sum)
    },
    Kind(testDescription: "concurrentSort") { _, note in
      var numbers = (0..<600).map { ($0 * 7919) % 601 }
      numbers.concurrentSort { left, right in
        if left == 300 { note(right) }
        return left < right
      }
      if numbers != numbers.sorted() { note(-1) }
    },
    Kind(testDescription: "join") { _, note in
      @Sendable func grow(_ depth: Int, _ name: Int) {
        note(name)
        if depth > 0 { join({ grow(depth - 1, 2 * name) }, { grow(depth - 1, 2 * name + 1) }) }
      }
      grow(5, 1)
    },
    Kind(testDescription: "withForkScope") { _, note in
      withForkScope { scope in for number in 0..<40 { scope.spawn { note(number) } } }
    },
    Kind(testDescription: "a graph that runs twice") { _, note in
      let graph = OperationGraph { graph in
        let first = (0..<12).map { number in graph.add { note(number) } }
        let second = (0..<12).map { number in
          graph.add(after: [first[number], first[(number + 1) % 12]]) { note(20 + number) }
        }
        graph.add(after: second) { note(40) }
      }
      for _ in 0..<2 { try? graph.run() }
    },
    Kind(testDescription: "loops in a loop") { _, note in
      concurrentPerform(iterations: 8) { outer in concurrentPerform(iterations: 8) { note(8 * outer + $0) } }
    },
  ]

  @Test("two runs of a seed do the same", arguments: kinds)
  func sameSteps(kind: Kind) throws {
    var orders: Set<[String]> = []
    let seeds = part(15, of: 60)
    try forEachSeed(0..<UInt64(seeds), checksDeterminism: true) { backend in
      let queue = OperationQueue()
      // Two at the same time: each is the other's thief.
      for number in 0..<2 {
        queue.addOperation {
          kind.run(backend) { what in
            // How long a body takes in real time changes nothing.
            if what % 13 == number { Self.compute(what % 3) }
            backend.note("\(number): \(what)")
          }
        }
      }
      queue.waitUntilAllOperationsAreFinished()
      orders.insert(backend.steps.map(\.what))
    }
    // And seeds still differ.
    #expect(orders.count > seeds / 2)
  }

  @Test(
    "each way in which forks become visible is decided by the seed",
    arguments: [.idle, .upTo(count: 2), .onRequest] as [StealingStrategy.Forks])
  func visibility(forks: StealingStrategy.Forks) throws {
    var strategy = StealingStrategy()
    strategy.forks = forks
    try forEachSeed(0..<UInt64(part(20, of: 60)), strategy: strategy, checksDeterminism: true) { backend in
      @Sendable func grow(_ depth: Int, _ name: Int) {
        if name % 7 == 0 { Self.compute(name % 3) }
        backend.note("\(name)")
        if depth > 0 { join({ grow(depth - 1, 2 * name) }, { grow(depth - 1, 2 * name + 1) }) }
      }
      OperationQueue().addOperations([BlockOperation { grow(6, 1) }], waitUntilFinished: true)
    }
  }

  @Test("another list of forks, used by another pool before, does the same")
  func usedLists() throws {
    let steps = Self.stepsOfALoop()
    for round in 0..<20 {
      // What the thread's list has measured for the default backend: scopes that were all short, or long.
      for _ in 0..<5 { join({ Self.compute(round % 2) }, { Self.compute(round % 2) }) }
      let isSame = Self.stepsOfALoop() == steps
      #expect(isSame, "round \(round)")
    }
  }

  private static func stepsOfALoop() -> [DeterministicStep] {
    withDeterministicOperations(seed: 3, recordsSteps: true) { backend in
      // On the thread of the test, which has a list already, and in an operation.
      concurrentPerform(iterations: 40) { backend.note("test \($0)") }
      OperationQueue().addOperations(
        [BlockOperation { concurrentPerform(iterations: 40) { backend.note("operation \($0)") } }],
        waitUntilFinished: true)
      return backend.steps
    }
  }

  /// Some tens of microseconds.
  private static func compute(_ amount: Int) {
    var number = 1
    for step in 0..<(amount * 20_000) { number = number &* 31 &+ step }
    #expect(number != 0)
  }
}
