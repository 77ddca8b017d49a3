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

  @Test func `held back until a post, which one job answers`() {
    let operation = Conditional()
    queue.addOperation(operation)
    #expect(operation.asked.value == 1)
    #expect(backend.count == 0)
    #expect(operation.stateNow.has(StateWord.heldBack))
    operation.didChangeValue(forKey: "isReady")
    operation.didChangeValue(forKey: "ready")
    // The second post joins the examination that the first requested.
    #expect(backend.count == 1)
    backend.runAll()
    #expect(operation.runs.value == 0)
    operation.open()
    backend.runAll()
    #expect(operation.runs.value == 1)
    #expect(operation.isFinished)
    #expect(!operation.stateNow.has(StateWord.heldBack))
    #expect(operation.queueWord.load(ordering: .relaxed) == 0)
  }

  @Test func `a condition that becomes true while it is read is not missed`() {
    let operation = Conditional(opensWhenAsked: true)
    queue.addOperation(operation)
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
    operation.didChangeValue(forKey: "isFinished")
    #expect(backend.count == 2)
    backend.run()
    #expect(operation.isFinished)
    #expect(queue.operations == [])
    #expect(operation.queueWord.load(ordering: .relaxed) != 0)
    backend.run()
    #expect(operation.queueWord.load(ordering: .relaxed) == 0)
  }
}
