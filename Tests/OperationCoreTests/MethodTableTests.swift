import Operations
import Testing

@testable import OperationCore

/// What a class overrides is found in its method table.
@Suite struct MethodTableTests {
  private class Plain: Operation, @unchecked Sendable { override func main() {} }
  private final class Cancels: Plain, @unchecked Sendable { override func cancel() { super.cancel() } }
  private final class Depends: Plain, @unchecked Sendable {
    override func addDependency(_ operation: Operation) { super.addDependency(operation) }
  }
  private class Ready: Operation, @unchecked Sendable { override var isReady: Bool { super.isReady } }
  private final class BelowReady: Ready, @unchecked Sendable { override func start() { super.start() } }
  private final class Finishes: AsynchronousOperation, @unchecked Sendable {
    override var isFinished: Bool { super.isFinished }
    override var isExecuting: Bool { super.isExecuting }
  }
  private final class Generic<Value>: Operation, @unchecked Sendable {
    var value: Value?
    override var isCancelled: Bool { super.isCancelled }
  }

  @Test func `the places of the methods are found`() {
    let members: [OverridableMember] = [.cancel, .isCancelled, .isExecuting, .isFinished, .isReady, .addDependency]
    let areFound = members.map { $0.isFound }
    #expect(!areFound.contains(false))
  }

  @Test func `what a class overrides is seen`() {
    func overridden(_ operation: Operation) -> [String] {
      let members: [(String, OverridableMember)] = [
        ("cancel", .cancel), ("isCancelled", .isCancelled), ("isExecuting", .isExecuting), ("isFinished", .isFinished),
        ("isReady", .isReady), ("addDependency", .addDependency),
      ]
      return members.filter { $0.1.isOverridden(by: operation) }.map(\.0)
    }
    #expect(overridden(Operation()) == [] && overridden(BlockOperation {}) == [] && overridden(Plain()) == [])
    #expect(overridden(AsynchronousOperation { $0.finish() }) == [])
    #expect(overridden(Cancels()) == ["cancel"] && overridden(Depends()) == ["addDependency"])
    #expect(overridden(Ready()) == ["isReady"] && overridden(BelowReady()) == ["isReady"])
    #expect(overridden(Finishes()) == ["isExecuting", "isFinished"])
    #expect(overridden(Generic<Int>()) == ["isCancelled"] && overridden(Generic<String>()) == ["isCancelled"])
  }
}
