import Synchronization
import TestSupport
import Testing

@testable import OperationCore

/// How an overridden `isReady` is asked, on one thread.
@Suite struct ReadinessProtocolTests {
  private let backend = HeldBackend()
  private let queue: OperationQueue

  init() { queue = OperationQueue(backend: backend) }

  /// Ready when `condition` says so; counts how often it was asked.
  private final class Conditional: Operation, @unchecked Sendable {
    let asked = Counter()
    let runs = Counter()
    let isOpen = Atomic<Bool>(false)
    /// Opens, and posts that, from inside the first question, which it still answers with no.
    let opensWhenAsked: Bool

    init(opensWhenAsked: Bool = false) {
      self.opensWhenAsked = opensWhenAsked
      super.init()
    }

    override var isReady: Bool {
      let answer = super.isReady && isOpen.load(ordering: .relaxed)
      if asked.increment() == 1, opensWhenAsked { open() }
      return answer
    }

    override func main() { runs.increment() }

    func open() {
      isOpen.store(true, ordering: .relaxed)
      didChangeValue(forKey: "isReady")
    }
  }

  @Test func `held back until a post, which the examiner answers`() throws {
    let operation = Conditional()
    queue.addOperation(operation)
    #expect(operation.asked.value == 1)
    #expect(backend.count == 0)
    #expect(operation.stateNow.has(StateWord.heldBack))
    operation.didChangeValue(forKey: "isReady")
    try operation.asked.wait(for: 2, "the question after a post")
    #expect(backend.count == 0)
    operation.open()
    try eventually("the operation to be handed over") { backend.count == 1 }
    backend.runAll()
    #expect(operation.runs.value == 1)
    #expect(operation.isFinished)
    #expect(!operation.stateNow.has(StateWord.heldBack))
    #expect(operation.queueWord.load(ordering: .relaxed) == 0)
  }

  @Test func `a post joins the examination that another has requested`() throws {
    let operation = Conditional()
    queue.addOperation(operation)
    // As after a post whose examination has not begun.
    operation.raise(StateWord.examinePending)
    for _ in 0..<10 { operation.open() }
    giveOthersAChance()
    #expect(operation.asked.value == 1)
    operation.examine()
    #expect(operation.asked.value == 2)
    backend.runAll()
    #expect(operation.runs.value == 1)
  }

  @Test func `a condition that becomes true while it is read is not missed`() throws {
    let operation = Conditional(opensWhenAsked: true)
    queue.addOperation(operation)
    try eventually("the operation to be handed over") { backend.count == 1 }
    backend.runAll()
    #expect(operation.runs.value == 1)
  }

  @Test func `a post before the operation is in a queue counts when it is added`() {
    let operation = Conditional()
    operation.open()
    queue.addOperation(operation)
    #expect(backend.count == 1)
    backend.runAll()
    #expect(operation.runs.value == 1)
  }

  @Test func `cancelled while held back, it starts without being asked, and skips`() {
    let operation = Conditional()
    queue.addOperation(operation)
    let asked = operation.asked.value
    operation.cancel()
    backend.runAll()
    #expect(operation.isFinished)
    #expect(operation.runs.value == 0)
    #expect(operation.asked.value == asked)
  }

  @Test func `a pending examination keeps a finished operation in its queue's hands until it ran`() {
    let operation = Conditional()
    operation.isOpen.store(true, ordering: .relaxed)
    queue.addOperation(operation)
    // As after a post whose examination has not begun.
    operation.raise(StateWord.examinePending)
    backend.runAll()
    #expect(operation.isFinished)
    #expect(queue.operations == [])
    #expect(operation.queueWord.load(ordering: .relaxed) != 0)
    operation.examine()
    #expect(operation.queueWord.load(ordering: .relaxed) == 0)
  }
}
