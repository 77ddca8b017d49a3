import TestSupport
import Testing

@testable import OperationCore

@Suite struct DependencyListTests {
  private func makeList(_ operations: [Operation]) -> DependencyList {
    var list = DependencyList()
    for operation in operations { list.append(operation, isLinked: false) }
    return list
  }

  /// The order, and that every position leads to the operation that stands there.
  private func expect(_ list: DependencyList, is expected: [Operation]) {
    #expect(list.operations == expected)
    #expect(list.count == expected.count)
    for operation in expected {
      let entry = list.position(of: operation).flatMap { list.entry(at: $0) }
      #expect(entry?.operation === operation)
    }
  }

  @Test(arguments: [0, 1, 7, 8, 9, 10, 40]) func `keeps the order of adding, and finds each`(count: Int) {
    let operations = (0..<count).map { _ in Operation() }
    let list = makeList(operations)
    expect(list, is: operations)
    #expect(list.position(of: Operation()) == nil)
    #expect(list.unlinkedCount == count)
  }

  @Test(arguments: [3, 8, 9, 30])
  func `a removed one leaves the others in order, and can come back at the end`(count: Int) {
    let operations = (0..<count).map { _ in Operation() }
    for index in 0..<count {
      var list = makeList(operations)
      let position = list.position(of: operations[index])
      let removed = position.flatMap { list.remove(at: $0) }
      #expect(removed?.operation === operations[index])
      var expected = operations
      expected.remove(at: index)
      expect(list, is: expected)
      #expect(list.position(of: operations[index]) == nil)
      list.append(operations[index], isLinked: true)
      expect(list, is: expected + [operations[index]])
    }
  }

  @Test func `a hole is not removed again`() {
    let operations = (0..<20).map { _ in Operation() }
    var list = makeList(operations)
    #expect(list.remove(at: 4)?.operation === operations[4])
    #expect(list.remove(at: 4) == nil)
    #expect(list.count == 19)
  }

  @Test func `linking asks each that is not linked, once, in order`() {
    let operations = (0..<12).map { _ in Operation() }
    var list = makeList(operations)
    list.append(Operation(), isLinked: true)
    _ = list.remove(at: 3)
    var asked: [Operation] = []
    list.linkAll {
      asked.append($0)
      return $0 !== operations[5]
    }
    #expect(asked == operations.filter { $0 !== operations[3] })
    #expect(list.unlinkedCount == 1)
    asked = []
    list.linkAll {
      asked.append($0)
      return true
    }
    #expect(asked == [operations[5]])
    #expect(list.unlinkedCount == 0)
  }

  @Test func `the first that satisfies a condition, past holes`() {
    let operations = (0..<10).map { _ in Operation() }
    var list = makeList(operations)
    _ = list.remove(at: 0)
    #expect(list.first { _ in true } === operations[1])
    #expect(list.first { $0 === operations[7] } === operations[7])
    #expect(list.first { $0 === operations[0] } == nil)
  }

  @Test(arguments: 1...40) func `does what an array does`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let operations = (0..<30).map { _ in Operation() }
    var list = DependencyList()
    var model: [Operation] = []
    for _ in 0..<300 {
      guard let operation = operations.randomElement(using: &random) else { return }
      #expect((list.position(of: operation) != nil) == model.contains(operation))
      if let position = list.position(of: operation) {
        #expect(list.remove(at: position)?.operation === operation)
        model.removeAll { $0 === operation }
      } else {
        list.append(operation, isLinked: false)
        model.append(operation)
      }
      #expect(list.operations == model)
      #expect(list.count == model.count)
    }
  }

  @Test func `operations that went are let go`() {
    let tracker = LifetimeTracker()
    final class Tracked: Operation, @unchecked Sendable {
      let token: LifetimeTracker.Token
      init(_ token: LifetimeTracker.Token) {
        self.token = token
        super.init()
      }
    }
    var list = DependencyList()
    for _ in 0..<20 { list.append(Tracked(tracker.token()), isLinked: false) }
    for position in 0..<7 { _ = list.remove(at: position) }
    #expect(tracker.live == 13)
    list = DependencyList()
    #expect(tracker.live == 0)
  }
}
