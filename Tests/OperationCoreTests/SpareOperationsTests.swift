import CPlatform
import TestSupport
import Testing

@testable import OperationCore

/// Which operations are kept to be used again. Everything runs on threads of its own: what a thread keeps is its own.
struct SpareOperationsTests {
  /// Runs the test's part on a new thread, which has kept nothing yet, and waits for it.
  private func onNewThread(_ body: @escaping @Sendable () -> Void) throws {
    let done = Gate()
    startThread {
      body()
      done.open()
    }
    try done.wait("the thread")
  }

  @Test(arguments: [OperationQueue.defaultMaxConcurrentOperationCount, 1])
  func `an ordinary operation is used again by its thread`(limit: Int) throws {
    try onNewThread {
      let backend = HeldBackend()
      let queue = OperationQueue(backend: backend)
      queue.maxConcurrentOperationCount = limit
      let count = Counter()
      var words: Set<UInt> = []
      var others: [Operation] = []
      for _ in 0..<100 {
        queue.addOperation { count.increment() }
        words.insert(queue.operations[0].word)
        backend.runAll()
        // Takes memory that was freed instead of kept.
        others.append(Derived {})
      }
      // The first thread that fetches from the depot may find up to a magazine there; then it is the same one again.
      #expect(words.count == 1 && count.value == 100)
    }
  }

  @Test func `an operation that somebody knows is not used again`() throws {
    try onNewThread {
      let backend = HeldBackend()
      let queue = OperationQueue(backend: backend)
      queue.addOperation {}
      let first = backend.words[0]
      let strong = queue.operations[0]
      backend.runAll()
      queue.addOperation {}
      #expect(backend.words[0] != first && strong.isFinished)
      weak let weakly = queue.operations[0]
      backend.runAll()
      #expect(weakly == nil)
    }
  }

  /// A subclass inherits the initializer that always allocates.
  private final class Derived: BlockOperation, @unchecked Sendable {}

  /// A queue whose backend runs jobs on the calling thread, when it is told to.
  private struct Bench {
    let backend = HeldBackend()
    let queue: OperationQueue

    init() { queue = OperationQueue(backend: backend) }

    /// Adds an operation that nobody holds any more when this function has returned, and runs it.
    /// - Returns: where the operation lay.
    func run(_ make: () -> Operation) -> UInt {
      let word = add(make())
      backend.runAll()
      return word
    }

    private func add(_ operation: Operation) -> UInt {
      queue.addOperation(operation)
      return operation.word
    }
  }

  /// Whether this thread keeps the operation that lay there.
  private func keeps(_ word: UInt) -> Bool {
    let magazines = SpareOperations.local(cplatform_thread_words_address()).pointee
    for first in [magazines.loaded, magazines.full] {
      for kept in sequence(first: first, next: { SpareOperations.next(of: $0) }).prefix(while: { $0 != 0 })
      where kept == word {
        return true
      }
    }
    return false
  }

  @Test func `an operation that a user made is used again`() throws {
    try onNewThread {
      let bench = Bench()
      let count = Counter()
      var others: [Operation] = []
      var words: Set<UInt> = []
      for _ in 0..<100 {
        words.insert(bench.run { BlockOperation { count.increment() } })
        others.append(Derived {})
      }
      #expect(words.count == 1 && count.value == 100)
    }
  }

  @Test func `a dependency that nobody holds is used again when its dependent ends`() throws {
    try onNewThread {
      let bench = Bench()
      let log = EventLog<Int>()
      var words: Set<UInt> = []
      var others: [Operation] = []
      for _ in 0..<100 {
        var first: Operation? = BlockOperation { log.append(1) }
        let second = { () -> Operation in
          let second = BlockOperation { log.append(2) }
          first.map { second.addDependency($0) }
          return second
        }
        words.insert(first?.word ?? 0)
        first.map { bench.queue.addOperation($0) }
        first = nil
        words.insert(bench.run(second))
        #expect(log.events.suffix(2) == [1, 2] && bench.queue.operationCount == 0)
        others.append(Derived {})
      }
      #expect(words.count == 2)
    }
  }

  @Test func `an operation whose completion block has run is used again`() throws {
    try onNewThread {
      let bench = Bench()
      let completed = Counter()
      for round in 1...100 {
        let word = bench.run {
          let operation = BlockOperation {}
          #expect(operation.completionBlock == nil)
          // Reading a block makes a side object. What the next round makes is as new all the same.
          let reads = round % 2 == 0
          operation.completionBlock = { completed.increment() }
          if reads { #expect(operation.completionBlock != nil) }
          return operation
        }
        #expect(completed.value == round && keeps(word) == (round % 2 != 0))
      }
    }
  }

  /// Whatever happened to the operation that lay there, the next one is as new.
  @Test func `an operation that is used again is as new`() throws {
    try onNewThread {
      let bench = Bench()
      let before = BlockOperation {}
      let first = bench.run {
        let operation = BlockOperation {}
        operation.queuePriority = .veryHigh
        operation.qualityOfService = .userInteractive
        operation.addDependency(before)
        bench.queue.addOperation(before)
        return operation
      }
      let operation = BlockOperation {}
      #expect(operation.word == first)
      #expect(!operation.isFinished && !operation.isExecuting && !operation.isCancelled && operation.isReady)
      #expect(operation.queuePriority == .normal && operation.qualityOfService == .default)
      #expect(operation.dependencies.isEmpty && operation.name == nil && operation.completionBlock == nil)
      #expect(operation.executionBlocks.count == 1 && operation.stateNow.dependencyCount == 1)
      operation.start()
      #expect(operation.isFinished)
    }
  }

  /// Each of these may be known to somebody, or holds something that a new operation does not.
  @Test(arguments: UncommonEnd.allCases)
  func `an operation with an uncommon end is not used again`(_ end: UncommonEnd) throws {
    try onNewThread {
      let bench = Bench()
      var held: [AnyObject] = []
      weak var weakly: Operation?
      let word = bench.run {
        let operation = end == .subclass ? Derived {} : BlockOperation {}
        switch end {
        case .none, .subclass: break
        case .held: held.append(operation)
        case .heldWeakly: weakly = operation
        case .named: operation.name = "name"
        case .completionReplaced:
          operation.completionBlock = {}
          operation.completionBlock = {}
        case .observed: held.append(operation.observe(\.isFinished) { _, _ in })
        case .cancelled: operation.cancel()
        case .moreBlocks: operation.addExecutionBlock {}
        case .readBlocks: _ = operation.executionBlocks
        case .threadPriority: operation.threadPriority = 0.25
        }
        return operation
      }
      #expect(keeps(word) == (end == .none))
      #expect(weakly == nil)
      withExtendedLifetime(held) {}
    }
  }

  enum UncommonEnd: CaseIterable {
    case none, subclass, held, heldWeakly, named, completionReplaced, observed, cancelled, moreBlocks, readBlocks
    case threadPriority
  }

  /// While a thread borrows the only reference to a dependency, the dependency is not used for anything else.
  @Test func `a dependency that a snapshot holds is not used again`() throws {
    try onNewThread {
      let bench = Bench()
      let dependent = BlockOperation {}
      let first: UInt
      do {
        let dependency = BlockOperation {}
        first = dependency.word
        dependent.addDependency(dependency)
        bench.queue.addOperation(dependency)
      }
      let snapshot = dependent.dependencies
      bench.queue.addOperation(dependent)
      bench.backend.runAll()
      #expect(!keeps(first) && snapshot[0].isFinished)
    }
  }

  @Test func `magazines go through the depot`() throws {
    // One thread runs what another adds: what is kept by the first comes back to the second.
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    let count = Counter()
    for round in 1...20 {
      for _ in 0..<100 { queue.addOperation { count.increment() } }
      try onNewThread { backend.runAll() }
      #expect(count.value == round * 100 && queue.operationCount == 0)
    }
  }
}
