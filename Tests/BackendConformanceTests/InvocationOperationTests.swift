import Operations
import TestSupport
import Testing

/// Row 51: target, method and argument, with a typed result.
@Suite("Invocation operations")
struct InvocationOperationTests {
  private struct BadInput: Error, Equatable {
    let value: Int
  }

  private final class Calculator: Sendable {
    let calls = Counter()
    func square(_ value: Int) throws -> Int {
      calls.increment()
      guard value >= 0 else { throw BadInput(value: value) }
      return value * value
    }
    func describe() -> String { "calculator" }
    func touch() { calls.increment() }
  }

  @Test("row 51: the result is what the method returned", arguments: allBackends)
  func result(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let calculator = Calculator()
      let squares = (0..<50).map {
        InvocationOperation(target: calculator, method: Calculator.square, argument: $0)
      }
      let text = InvocationOperation(target: calculator, method: Calculator.describe)
      let nothing = InvocationOperation(target: calculator, method: Calculator.touch)
      queue.addOperations(squares + [text, nothing], waitUntilFinished: false)
      try queue.drainInTime()
      #expect(try squares.map { try $0.result } == (0..<50).map { $0 * $0 })
      #expect(try text.result == "calculator")
      try nothing.result
      #expect(calculator.calls.value == 51)
    }
  }

  @Test("row 51: the error is what the method threw, and the operation has finished", arguments: allBackends)
  func thrownError(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = InvocationOperation(target: Calculator(), method: Calculator.square, argument: -3)
      let dependent = CountingOperation()
      dependent.addDependency(operation)
      queue.addOperations([operation, dependent], waitUntilFinished: false)
      try queue.drainInTime()
      #expect(operation.isFinished && dependent.mains.value == 1)
      #expect(throws: BadInput(value: -3)) { try operation.result }
    }
  }

  @Test(
    "row 51: the result before the end is .notFinished, of a cancelled operation .cancelled", arguments: allBackends)
  func noResult(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let calculator = Calculator()
      let operation = InvocationOperation(target: calculator, method: Calculator.square, argument: 3)
      let cancelled = InvocationOperation(target: calculator, method: Calculator.square, argument: 4)
      #expect(throws: InvocationOperationError.notFinished) { try operation.result }
      queue.isSuspended = true
      queue.addOperations([operation, cancelled], waitUntilFinished: false)
      cancelled.cancel()
      #expect(throws: InvocationOperationError.notFinished) { try operation.result }
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(try operation.result == 9)
      #expect(throws: InvocationOperationError.cancelled) { try cancelled.result }
      #expect(calculator.calls.value == 1)
    }
  }

  @Test("row 51: target and argument are released with the operation", arguments: allBackends)
  func lifetime(backend: TestBackend) throws {
    final class Target: Sendable {
      let token: LifetimeTracker.Token
      init(_ tracker: LifetimeTracker) { token = tracker.token() }
      func take(_ token: LifetimeTracker.Token) -> LifetimeTracker.Token { token }
    }
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for _ in 0..<10 {
        queue.addOperation(
          InvocationOperation(target: Target(tracker), method: Target.take, argument: tracker.token()))
      }
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("targets and arguments")
    }
  }
}
