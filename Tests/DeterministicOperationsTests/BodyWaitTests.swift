import DeterministicOperations
import Operations
import TestSupport
import Testing

/// Waits inside bodies are those of real threads: no order of a stack.
@Suite("Waits between bodies")
struct BodyWaitTests {
  @Test("two bodies that wait for each other's steps go on, with every seed")
  func acrossBodies() throws {
    for seed in 0..<100 as Range<UInt64> {
      try inTime("seed \(seed)") {
        withDeterministicOperations(seed: seed) { _ in
          let queue = OperationQueue()
          let (first, second) = (AsynchronousOperation { _ in }, AsynchronousOperation { _ in })
          queue.addOperations([first, second], waitUntilFinished: false)
          // A body on top of the other's stack would keep it from going on.
          queue.addOperation {
            first.waitUntilFinished()
            second.finish()
          }
          queue.addOperation {
            first.finish()
            second.waitUntilFinished()
          }
          queue.waitUntilAllOperationsAreFinished()
        }
      }
    }
  }

  @Test("a ring of bodies, each waiting for the step of the next")
  func ring() throws {
    for seed in 0..<20 as Range<UInt64> {
      try inTime("seed \(seed)") {
        withDeterministicOperations(seed: seed) { _ in
          let queue = OperationQueue()
          let tokens = (0..<8).map { _ in AsynchronousOperation { _ in } }
          queue.addOperations(tokens, waitUntilFinished: false)
          for place in 0..<8 {
            queue.addOperation {
              // The last place begins; each other one goes on after its successor.
              if place < 7 { tokens[place + 1].waitUntilFinished() }
              tokens[place].finish()
              tokens[0].waitUntilFinished()
            }
          }
          queue.waitUntilAllOperationsAreFinished()
        }
      }
    }
  }

  @Test("more waiting bodies than workers")
  func manyWaiting() throws {
    let backend = DeterministicBackend(workers: 2, seed: 5, runsByItself: false)
    let queue = OperationQueue(backend: backend)
    let last = AsynchronousOperation { _ in }
    queue.addOperation(last)
    let ran = Counter()
    for _ in 0..<50 {
      queue.addOperation {
        last.waitUntilFinished()
        ran.increment()
      }
    }
    queue.addOperation { last.finish() }
    try queue.drainInTime()
    #expect(ran.value == 50)
    #expect(backend.statistics.replacements > 10)
    backend.shutdown()
  }

  @Test("a condition of the user's keeps the order")
  func conditions() throws {
    func order(_ seed: UInt64) throws -> [Int] {
      let log = EventLog<Int>()
      withDeterministicOperations(seed: seed) { backend in
        let queue = OperationQueue()
        for number in 0..<6 {
          queue.addOperation {
            // Each waits for the number before it.
            backend.waitUntil { log.count >= number }
            log.append(number)
          }
        }
        queue.waitUntilAllOperationsAreFinished()
      }
      return log.events
    }
    for seed in 0..<50 as Range<UInt64> { #expect(try order(seed) == Array(0..<6)) }
  }

  @Test("operations, barriers, limits and completion blocks that wait")
  func wholeQueue() throws {
    for seed in 0..<30 as Range<UInt64> {
      let log = EventLog<String>()
      let completed = Counter()
      try inTime("seed \(seed)") {
        withDeterministicOperations(seed: seed) { backend in
          let queue = OperationQueue()
          queue.maxConcurrentOperationCount = 2
          for number in 0..<4 {
            let operation = BlockOperation {
              backend.yield()
              log.append("before")
            }
            operation.completionBlock = {
              backend.yield()
              completed.increment()
            }
            operation.name = "\(number)"
            queue.addOperation(operation)
          }
          queue.addBarrierBlock { log.append("barrier") }
          queue.addOperation { log.append("after") }
          queue.waitUntilAllOperationsAreFinished()
        }
      }
      #expect(log.events == ["before", "before", "before", "before", "barrier", "after"])
      #expect(completed.value == 4)
    }
  }

  @Test("further blocks of an operation, and an overridden isReady, stay on the backend")
  func blocksAndQuestions() throws {
    final class Conditional: Operation, @unchecked Sendable {
      // Invariant: a thread-safe object.
      let condition = Gate()
      override var isReady: Bool { super.isReady && condition.isOpen }
      func allow() {
        willChangeValue(forKey: "isReady")
        condition.open()
        didChangeValue(forKey: "isReady")
      }
    }
    func steps(_ seed: UInt64) -> [DeterministicStep] {
      withDeterministicOperations(seed: seed, recordsSteps: true) { backend in
        let queue = OperationQueue()
        let conditional = Conditional()
        let blocks = BlockOperation { backend.yield() }
        for _ in 0..<4 { blocks.addExecutionBlock { backend.yield() } }
        queue.addOperations([conditional, blocks], waitUntilFinished: false)
        queue.addOperation { conditional.allow() }
        queue.waitUntilAllOperationsAreFinished()
        return backend.steps
      }
    }
    for seed in 0..<30 as Range<UInt64> { #expect(steps(seed) == steps(seed)) }
  }

  /// A body that computes keeps its virtual worker's place when the baton is taken from it. At its next wait it gives
  /// the place, or nobody could run what it waits for.
  @Test("a body that computed for long gives its place when it waits")
  func afterComputing() throws {
    let backend = DeterministicBackend(workers: 1, seed: 1, patience: .milliseconds(1))
    let queue = OperationQueue(backend: backend)
    for _ in 0..<3 {
      queue.addOperation {
        let end = ContinuousClock.now + .milliseconds(60)
        while ContinuousClock.now < end {}
        let inner = BlockOperation {}
        queue.addOperation(inner)
        inner.waitUntilFinished()
      }
    }
    try queue.drainInTime("bodies that compute and then wait")
    backend.shutdown()
  }
}
