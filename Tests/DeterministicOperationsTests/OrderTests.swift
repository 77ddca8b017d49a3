import DeterministicOperations
import OperationBackends
import TestSupport
import Testing

/// The order follows from the seed, and from nothing else.
@Suite("Orders")
struct OrderTests {
  /// Runs operations that log their numbers.
  private static func order(of count: Int, seed: UInt64, workers: Int = 4) -> [Int] {
    let log = EventLog<Int>()
    withDeterministicOperations(seed: seed, workers: workers) { _ in
      let queue = OperationQueue()
      for number in 0..<count { queue.addOperation { log.append(number) } }
      queue.waitUntilAllOperationsAreFinished()
    }
    return log.events
  }

  private static func steps(seed: UInt64, strategy: StealingStrategy = .init()) -> [DeterministicStep] {
    withDeterministicOperations(seed: seed, strategy: strategy, recordsSteps: true) { backend in
      let queue = OperationQueue()
      for number in 0..<5 {
        queue.addOperation {
          let inner = BlockOperation { backend.work(for: .milliseconds(number)) }
          queue.addOperation(inner)
          backend.yield()
          inner.waitUntilFinished()
        }
      }
      queue.waitUntilAllOperationsAreFinished()
      return backend.steps
    }
  }

  @Test("the same seed has the same steps, twenty times")
  func sameSeed() {
    for seed in 0..<5 as Range<UInt64> {
      let first = Self.steps(seed: seed)
      #expect(first.count > 20)
      for _ in 0..<20 { #expect(Self.steps(seed: seed) == first) }
    }
  }

  @Test("different seeds have different steps")
  func differentSeeds() {
    #expect(Set((0..<50).map { Self.steps(seed: $0) }).count > 40)
  }

  @Test("every order of three operations comes up, and each operation runs once")
  func allOrders() {
    let orders = (0..<300).map { Self.order(of: 3, seed: $0) }
    #expect(orders.allSatisfy { $0.sorted() == [0, 1, 2] })
    #expect(Set(orders).count == 6)
  }

  @Test("one worker runs operations in the order of the contract, whatever the seed")
  func oneWorker() {
    for seed in 0..<50 as Range<UInt64> { #expect(Self.order(of: 10, seed: seed, workers: 1) == Array(0..<10)) }
  }

  @Test("the strategy of the pool counts")
  func strategies() throws {
    let log = EventLog<Int>()
    var newestFirst = ThreadPoolStrategy()
    newestFirst.order = .lifo
    let backend = DeterministicBackend(workers: 1, strategy: newestFirst, seed: 3, runsByItself: false)
    let queue = OperationQueue(backend: backend)
    for number in 0..<4 { queue.addOperation { log.append(number) } }
    backend.run()
    #expect(log.events == [3, 2, 1, 0])
    backend.shutdown()
    var giving = StealingStrategy()
    giving.waiting = .givesPlace
    #expect(Self.steps(seed: 1, strategy: giving) == Self.steps(seed: 1, strategy: giving))
  }

  @Test("the order is the same on every machine: this one is written down")
  func writtenDown() {
    #expect((0..<8).map { Self.order(of: 4, seed: $0) } == Self.known)
  }

  private static let known = [
    [0, 1, 2, 3], [0, 1, 3, 2], [0, 1, 2, 3], [2, 0, 3, 1], [2, 3, 1, 0], [2, 0, 1, 3], [0, 1, 3, 2], [0, 1, 2, 3],
  ]

  @Test("the body of a test goes on at a place that the seed chooses")
  func bodyYields() {
    let counts = (0..<60).map { seed in
      withDeterministicOperations(seed: seed) { backend in
        let ran = Counter()
        let queue = OperationQueue()
        for _ in 0..<4 { queue.addOperation { ran.increment() } }
        backend.yield()
        return ran.value
      }
    }
    #expect(Set(counts) == [0, 1, 2, 3, 4])
  }

  @Test("a step is one readable line")
  func lines() {
    let steps = withDeterministicOperations(seed: 1, workers: 1, recordsSteps: true) { backend in
      let load = BlockOperation { backend.work(for: .microseconds(2_500)) }
      load.name = "load"
      OperationQueue().addOperations([load], waitUntilFinished: true)
      backend.note("done")
      return backend.steps.map(\.description)
    }
    #expect(
      steps == [
        "0 ms, worker 0: begins load", "0 ms, worker 0: goes on at 2.5 ms", "2.5 ms, worker 0: goes on",
        "2.5 ms, worker 0: ends", "2.5 ms, beside the workers: a thread outside goes on",
        "2.5 ms, beside the workers: done",
      ])
  }
}
