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
  func anOrdinaryOneIsUsedAgainByItsThread(limit: Int) throws {
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
        others.append(BlockOperation {})
      }
      // The first thread that fetches from the depot may find up to a magazine there; then it is the same one again.
      #expect(words.count == 1 && count.value == 100)
    }
  }

  @Test func oneThatIsKnownIsNot() throws {
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

  @Test func magazinesGoThroughTheDepot() throws {
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
