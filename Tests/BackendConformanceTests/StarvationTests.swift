import Operations
import Synchronization
import TestSupport
import Testing

/// Rows 20 and 28: no queued operation waits for ever while others feed themselves. The bound is counted in operations
/// that begin, so that a slow machine does not matter.
@Suite("Starvation")
struct StarvationTests {
  /// Operations, each of which adds the next one before it ends.
  private final class Streams: Sendable {
    /// Far above the bound that `StealingBackend/README.md` has: a thread that loses its CPU just when it has taken the
    /// awaited operation lets the others run tens of thousands.
    static let most = 1_000_000
    private let begun = Atomic<Int>(0)
    private let stopped = Atomic<Bool>(false)

    var count: Int { begun.load(ordering: .relaxed) }
    func stop() { stopped.store(true, ordering: .relaxed) }

    func feed(_ queue: OperationQueue, _ priority: Operation.QueuePriority, addsBatches: Bool) {
      let operation = BlockOperation { [self] in
        // When the bound is passed, the streams end by themselves, and the test fails.
        guard begun.wrappingAdd(1, ordering: .relaxed).newValue < Self.most else { return }
        if !stopped.load(ordering: .relaxed) { feed(queue, priority, addsBatches: addsBatches) }
      }
      operation.queuePriority = priority
      if addsBatches {
        queue.addOperations([operation], waitUntilFinished: false)
      } else {
        queue.addOperation(operation)
      }
    }
  }

  enum Parent: CaseIterable, Sendable {
    /// Blocks without the library's knowledge.
    case silent
    /// Waits in the library for an operation that the child finishes.
    case inTheLibrary
    /// Computes until the child has run.
    case computing
    /// The child is added from outside, behind a parent that does nothing.
    case outside
  }

  @Test(
    "rows 20.1, 20.5, 20.6 and 28.1: what a busy or blocked operation added begins while others feed themselves",
    arguments: allBackends.filter(\.isOrdered), Parent.allCases)
  func childOfABlockedParent(backend: TestBackend, parent: Parent) throws {
    for seed in 1...4 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let workers = parent == .computing ? Int.random(in: 2...4, using: &random) : Int.random(in: 1...4, using: &random)
      // Bodies of the deterministic backend run one at a time, so one that computes for another one would never end.
      if parent == .computing, backend.name == "deterministic" { continue }
      let (streamPriority, childPriority) = [
        (Operation.QueuePriority.normal, Operation.QueuePriority.normal), (.veryHigh, .veryLow), (.normal, .veryLow),
        (.low, .low),
      ][Int(seed) - 1]
      try backend.withBackend(workers: workers) { backend in
        let queue = OperationQueue(backend: backend)
        let streams = Streams()
        for _ in 0..<workers { streams.feed(queue, streamPriority, addsBatches: seed == 2) }
        let waited = Monitor<Int?>(nil)
        let ends = AsynchronousOperation { _ in }
        let hasRun = SpinFlag()
        let added = Monitor(0)
        let child = BlockOperation {
          let now = streams.count
          waited.with { $0 = now - added.value }
          hasRun.set()
          if parent == .inTheLibrary { ends.finish() }
        }
        child.queuePriority = childPriority
        let operation = BlockOperation {
          if parent == .inTheLibrary { queue.addOperation(ends) }
          added.with { $0 = streams.count }
          if parent == .outside { return }
          queue.addOperation(child)
          switch parent {
          case .silent: _ = waited.wait { $0 != nil }
          case .inTheLibrary: ends.waitUntilFinished()
          case .computing: hasRun.spin()
          case .outside: break
          }
        }
        operation.queuePriority = streamPriority
        queue.addOperation(operation)
        if parent == .outside {
          try operation.finishInTime()
          queue.addOperation(child)
        }
        let hasBegun = waited.wait { $0 != nil }
        streams.stop()
        try queue.drainInTime()
        #expect(hasBegun)
        #expect((waited.value ?? .max) < Streams.most / 2, "seed \(seed): with \(workers) workers")
      }
    }
  }
}
