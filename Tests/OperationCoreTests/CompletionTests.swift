import TestSupport
import Testing

@testable import OperationCore

/// A completion block that stands alone, without a side object: who takes the block, and what happens when others come
/// in between. (`Sources/OperationCore/Operation/README.md` has the protocol.)
struct CompletionTests {
  private static let rounds = 1_000

  private func standsAlone(_ operation: Operation) -> Bool { operation.hasMark(ExtrasMark.completionAlone) }

  @Test func `only the first block of an operation that nobody has added stands alone`() {
    let operation = BlockOperation {}
    operation.completionBlock = nil
    #expect(operation.extrasWord.load(ordering: .relaxed) == 0)
    operation.completionBlock = {}
    #expect(standsAlone(operation))
    operation.completionBlock = {}
    #expect(!standsAlone(operation))

    let observed = BlockOperation {}
    let observation = observed.observe(\.completionBlock) { _, _ in }
    observed.completionBlock = {}
    #expect(!standsAlone(observed))
    withExtendedLifetime(observation) {}

    let queue = OperationQueue(backend: HeldBackend())
    let added = BlockOperation {}
    queue.addOperation(added)
    added.completionBlock = {}
    #expect(!standsAlone(added))
  }

  @Test func `a side object is made around the block and beside the operation's other properties`() {
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    let completed = Counter()
    let ran = Counter()
    let changes: [@Sendable (BlockOperation) -> Void] = [
      { $0.name = "name" }, { $0.threadPriority = 0.5 }, { $0.addExecutionBlock { ran.increment() } },
      { _ = $0.completionBlock }, { _ = $0.executionBlocks },
    ]
    for (index, change) in changes.enumerated() {
      let operation = BlockOperation { ran.increment() }
      operation.completionBlock = { completed.increment() }
      change(operation)
      #expect(!standsAlone(operation) && operation.completionBlock != nil)
      queue.addOperation(operation)
      backend.runAll()
      #expect(completed.value == index + 1 && operation.completionBlock == nil)
    }
    #expect(ran.value == changes.count + 1)
  }

  @Test func `a block that nobody takes goes with its operation`() {
    weak var token: Counter?
    do {
      let captured = Counter()
      token = captured
      let operation = BlockOperation {}
      operation.completionBlock = { captured.increment() }
      #expect(standsAlone(operation) && token != nil)
    }
    #expect(token == nil)
  }

  /// The epilogue takes the block while others make a side object around the block.
  @Test func `the block runs once while others read and name the operation`() throws {
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    for _ in 0..<Self.rounds {
      let completed = Counter()
      let operation = BlockOperation {}
      operation.completionBlock = { completed.increment() }
      queue.addOperation(operation)
      try race(
        "the operation and its readers", { backend.runAll() }, { operation.name = "name" },
        { _ = operation.completionBlock })
      #expect(completed.value == 1 && operation.completionBlock == nil)
      #expect(operation.name == "name")
    }
  }

  /// The start comes before, between or after the steps of setting.
  @Test func `a block that is set while the operation runs runs once or never, and goes`() throws {
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    for _ in 0..<Self.rounds {
      weak var token: Counter?
      do {
        let completed = Counter()
        token = completed
        let operation = BlockOperation {}
        try race(
          "the operation and its block",
          {
            queue.addOperation(operation)
            backend.runAll()
          },
          { operation.completionBlock = { completed.increment() } }
        )
        #expect(completed.value <= 1 && operation.isFinished && operation.completionBlock == nil)
      }
      try eventually("the block to go") { token == nil }
    }
  }

  /// Of two threads that set the first block one makes the side object for both.
  @Test func `of two blocks that are set at once one runs`() throws {
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    for _ in 0..<Self.rounds {
      let completed = Counter()
      let operation = BlockOperation {}
      try race(
        "two blocks and a name", { operation.completionBlock = { completed.increment() } },
        { operation.completionBlock = { completed.increment() } }, { operation.name = "name" })
      queue.addOperation(operation)
      backend.runAll()
      #expect(completed.value == 1 && operation.name == "name")
    }
  }
}
