import TestSupport
import Testing

@testable import OperationCore

@Suite struct DependencyGraphTests {
  /// Operations of which number i depends on those in `edges[i]`. Cycles of operations own one another, so the
  /// dependencies are taken away afterwards.
  private func withGraph<Result>(_ edges: [[Int]], _ body: ([Operation]) throws -> Result) rethrows -> Result {
    let operations = edges.indices.map { _ in Operation() }
    for (operation, targets) in zip(operations, edges) {
      for target in targets { operation.addDependency(operations[target]) }
    }
    defer {
      for operation in operations { operation.releaseDependencies() }
    }
    return try body(operations)
  }

  /// The cycles as sorted numbers, themselves sorted.
  private func cycles(_ edges: [[Int]], roots: [Int]? = nil) -> [[Int]] {
    withGraph(edges) { operations in
      let chosen = roots.map { $0.map { operations[$0] } } ?? operations
      return DependencyGraph.cycles(from: chosen)
        .map { $0.compactMap { operations.firstIndex(of: $0) }.sorted() }
        .sorted { ($0.first ?? 0) < ($1.first ?? 0) }
    }
  }

  @Test func `graphs without a cycle`() {
    #expect(cycles([]) == [])
    #expect(cycles([[]]) == [])
    #expect(cycles([[], [0], [1]]) == [])
    // A diamond, and two ways to the same end.
    #expect(cycles([[], [0], [0], [1, 2], [3, 0]]) == [])
  }

  @Test func `two that wait for one another, and a ring`() {
    #expect(cycles([[1], [0]]) == [[0, 1]])
    #expect(cycles([[1], [2], [3], [0]]) == [[0, 1, 2, 3]])
  }

  @Test func `what only leads to a cycle, or follows from one, is no member`() {
    #expect(cycles([[1], [2], [1, 3], []]) == [[1, 2]])
  }

  @Test func `cycles that share a member are one component, others are apart`() {
    #expect(cycles([[1, 2], [0], [0]]) == [[0, 1, 2]])
    #expect(cycles([[1], [0], [3], [2], [0, 2]]) == [[0, 1], [2, 3]])
    // One depends on the other, not the other way round.
    #expect(cycles([[1], [0, 2], [3], [2]]) == [[0, 1], [2, 3]])
  }

  @Test func `found from any root, and only once`() {
    let edges = [[1], [2], [0, 3], [4], [3]]
    for root in 0..<3 { #expect(cycles(edges, roots: [root]) == [[0, 1, 2], [3, 4]]) }
    #expect(cycles(edges, roots: [3]) == [[3, 4]])
    #expect(cycles(edges, roots: [4, 0, 4, 2, 1]) == [[0, 1, 2], [3, 4]])
  }

  @Test func `a finished member breaks the cycle`() {
    let cycles = withGraph([[1], [2], [0]]) { operations in
      operations[1].cancel()
      operations[1].start()
      #expect(operations[1].isFinished)
      return DependencyGraph.cycles(from: operations)
    }
    #expect(cycles.isEmpty)
  }

  @Test(arguments: 1...40) func `the components of random graphs are those of mutual reachability`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 2...14, using: &random)
    var edges: [[Int]] = []
    for from in 0..<count {
      edges.append((0..<count).filter { $0 != from && Int.random(in: 0..<count, using: &random) < 2 })
    }
    // Warshall's transitive closure.
    var reaches = edges.map { Set($0) }
    for middle in 0..<count {
      for from in 0..<count where reaches[from].contains(middle) { reaches[from].formUnion(reaches[middle]) }
    }
    var expected: [[Int]] = []
    for member in 0..<count where reaches[member].contains(member) {
      let component = (0..<count).filter { reaches[member].contains($0) && reaches[$0].contains(member) }
      if component.first == member { expected.append(component) }
    }
    #expect(cycles(edges) == expected)
  }

  @Test func `a chain of 100,000 needs no stack`() throws {
    let edges = (0..<100_000).map { $0 == 0 ? [] : [$0 - 1] }
    try withGraph(edges) { operations in
      let roots = Array(operations.reversed())
      let count = try inTime("the walk along the chain") { DependencyGraph.cycles(from: roots).count }
      #expect(count == 0)
    }
  }

  @Test func `a ring of 100,000 is one cycle`() throws {
    let count = 100_000
    try withGraph((0..<count).map { [($0 + 1) % count] }) { operations in
      let lengths = try inTime("the walk around the ring") { DependencyGraph.cycles(from: operations).map(\.count) }
      #expect(lengths == [count])
    }
  }

  @Test func `the error names the members`() {
    withGraph([[1], [0], []]) { operations in
      for (operation, name) in zip(operations, ["first", "second", "third"]) { operation.name = name }
      let error = DependencyCycleError(cycles: DependencyGraph.cycles(from: operations))
      #expect(error.description.contains("\"first\""))
      #expect(error.description.contains("\"second\""))
      #expect(!error.description.contains("\"third\""))
    }
  }
}
