import Operations
import TestSupport
import Testing

/// Rows 8, 10, 11, 25, 35 and 40: whom a finish serves first, and that nobody's code stands in the way.
@Suite("Order of a finish")
struct FinishOrderTests {
  /// Limits of a queue: without one the controller takes no part.
  private static let limits = [-1, 1, 2]

  @Test("row 11: an observer of a dependent's isReady may wait for the dependency", arguments: allBackends, limits)
  func observerOfADependentWaits(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      let dependency = BlockOperation {}
      let dependent = BlockOperation {}
      dependent.addDependency(dependency)
      let returned = Gate()
      let token = dependent.observe(\.isReady, options: [.new]) { _, change in
        guard change.newValue == true else { return }
        dependency.waitUntilFinished()
        returned.open()
      }
      queue.addOperations([dependent, dependency], waitUntilFinished: false)
      try returned.wait("the observer that waits")
      try queue.drainInTime()
      token.invalidate()
    }
  }

  /// Waits for its dependency whenever it is asked, as careless code does.
  private final class WaitingInIsReady: Operation, @unchecked Sendable {
    // Invariant: constant.
    private let awaited: Operation
    init(_ awaited: Operation) { self.awaited = awaited }
    override var isReady: Bool {
      guard super.isReady else { return false }
      awaited.waitUntilFinished()
      return true
    }
  }

  @Test("row 11: an overridden isReady may wait for the dependency", arguments: allBackends, limits)
  func overriddenIsReadyWaits(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      let dependency = BlockOperation {}
      let dependent = WaitingInIsReady(dependency)
      dependent.addDependency(dependency)
      queue.addOperations([dependent, dependency], waitUntilFinished: false)
      try queue.drainInTime()
    }
  }

  @Test("rows 11 and 35: an overridden isReady may wait for what was added with it", arguments: allBackends, limits)
  func overriddenIsReadyWaitsInABatch(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      // What is ready already is on its way in the same batch when the other one is asked.
      let first = BlockOperation {}
      let second = WaitingInIsReady(first)
      try inTime("the call that adds an operation whose isReady waits for the one before it") {
        queue.addOperations([first, second], waitUntilFinished: false)
      }
      try Self.drain(queue)
    }
  }

  @Test(
    "rows 11 and 35: an overridden isReady may wait for what the same finish released", arguments: allBackends, limits)
  func overriddenIsReadyWaitsAmongDependents(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      let dependency = GatedOperation()
      // Both are of a class that is asked: their answers belong to one batch.
      let first = CountingOperation()
      let second = WaitingInIsReady(first)
      for dependent in [first, second] { dependent.addDependency(dependency) }
      queue.addOperations([first, second, dependency], waitUntilFinished: false)
      dependency.release.open()
      try Self.drain(queue)
      #expect(first.mains.value == 1)
    }
  }

  /// Forks when it is asked, and one of its forks waits for another operation on another thread.
  private final class ForkingInIsReady: Operation, @unchecked Sendable {
    // Invariant: constant.
    private let (awaited, backend): (Operation, any Backend)
    init(_ awaited: Operation, _ backend: any Backend) { (self.awaited, self.backend) = (awaited, backend) }
    override var isReady: Bool {
      guard super.isReady else { return false }
      let began = Gate()
      backend.run {
        join({ began.pass() }) {
          began.open()
          awaited.waitUntilFinished()
        }
      }
      return true
    }
  }

  @Test(
    "rows 11 and 35: a fork of an overridden isReady may wait for what the same finish released",
    arguments: compensatingBackends, limits)
  func forkOfIsReadyWaits(backend: TestBackend, limit: Int) throws {
    try backend.withQueue(workers: 4) { queue in
      queue.maxConcurrentOperationCount = limit
      let dependency = GatedOperation()
      let first = CountingOperation()
      let second = ForkingInIsReady(first, queue.backend)
      for dependent in [first, second] { dependent.addDependency(dependency) }
      queue.addOperations([first, second, dependency], waitUntilFinished: false)
      dependency.release.open()
      try Self.drain(queue)
      #expect(first.mains.value == 1)
    }
  }

  /// Without the diagnosis of `drainInTime`, which would ask the `isReady` that waits.
  private static func drain(_ queue: OperationQueue) throws {
    try inTime("the queue to drain") { queue.waitUntilAllOperationsAreFinished() }
  }

  @Test(
    "rows 10.2, 10.3 and 11: a waiter returns while an observer of a dependent still runs", arguments: allBackends,
    limits)
  func waiterReturnsBeforeObservers(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      let dependency = GatedOperation()
      let dependent = BlockOperation {}
      dependent.addDependency(dependency)
      let (entered, release) = (Gate(), Gate())
      let token = dependent.observe(\.isReady, options: [.new]) { _, change in
        guard change.newValue == true else { return }
        entered.open()
        release.pass()
      }
      queue.addOperations([dependent, dependency], waitUntilFinished: false)
      dependency.release.open()
      try entered.wait("the observer")
      try dependency.finishInTime("the dependency, whose dependent's observer still runs")
      #expect(!queue.operations.contains(dependency))
      release.open()
      try queue.drainInTime()
      token.invalidate()
    }
  }

  @Test("row 25: the place is free while an observer of a dependent still runs", arguments: allBackends)
  func placeIsFreeBeforeObservers(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let other = BlockOperation {}
      let dependency = BlockOperation {}
      let dependent = BlockOperation {}
      dependent.addDependency(dependency)
      let returned = Gate()
      let token = dependent.observe(\.isReady, options: [.new]) { _, change in
        guard change.newValue == true else { return }
        other.waitUntilFinished()
        returned.open()
      }
      queue.addOperations([dependency, dependent, other], waitUntilFinished: false)
      try returned.wait("the observer that waits for another operation of the queue")
      try queue.drainInTime()
      token.invalidate()
    }
  }

  @Test("row 10: a completion block that waits for its turn keeps no worker", arguments: allBackends)
  func handedOffCompletionBlock(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let started = Gate()
      let asynchronous = AsynchronousOperation { _ in started.open() }
      let completed = Gate()
      asynchronous.completionBlock = { completed.open() }
      let dependent = BlockOperation {}
      dependent.addDependency(asynchronous)
      let (entered, release) = (Gate(), Gate())
      let token = dependent.observe(\.isReady, options: [.new]) { _, change in
        guard change.newValue == true else { return }
        entered.open()
        release.pass()
      }
      queue.addOperations([asynchronous, dependent], waitUntilFinished: false)
      try started.wait("the asynchronous operation")
      startThread { asynchronous.finish() }
      try entered.wait("the observer, on the thread that finishes")
      // The finishing thread is in user code. The only worker must be free for others, and for the completion block.
      let other = BlockOperation {}
      queue.addOperation(other)
      try other.finishInTime("an operation behind the finish")
      try completed.wait("the completion block, while an observer of a dependent runs")
      release.open()
      try queue.drainInTime()
      token.invalidate()
    }
  }

  @Test("rows 8 and 40: cancelled between its claim and its body, it skips the body", arguments: allBackends)
  func cancelledJustBeforeTheBody(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operations = [CountingOperation(), CountingOperation()]
      let tokens = operations.map { operation in
        operation.observe(\.isExecuting, options: [.new]) { operation, change in
          if change.newValue == true { operation.cancel() }
        }
      }
      queue.addOperations(operations, waitUntilFinished: false)
      try queue.drainInTime()
      for operation in operations {
        #expect(operation.mains.value == 0 && operation.isFinished && operation.isCancelled)
        try operation.completions.wait(for: 1, "the completion block")
      }
      for token in tokens { token.invalidate() }
    }
  }
}
