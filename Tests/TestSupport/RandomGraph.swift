import Operations

/// A random graph, and what a serial run of it gives: the model that runs on threads are compared with.
public struct RandomGraph: Sendable {
  public struct Refused: Error, Equatable {
    public let number: Int

    public init(number: Int) { self.number = number }
  }

  /// The nodes that each node comes after.
  public let before: [[Int]]
  /// What each node computes of those.
  public let sums: [Int]

  public init(seed: UInt64, most: Int = 120) {
    var random = SeededGenerator(seed: seed)
    var before: [[Int]] = []
    var sums: [Int] = []
    for node in 0..<Int.random(in: 1...most, using: &random) {
      let count = node == 0 ? 0 : Int.random(in: 0...min(4, node), using: &random)
      let reach = Bool.random(using: &random) ? node : min(node, 8)
      before.append((0..<count).map { _ in node - 1 - Int.random(in: 0..<max(1, reach), using: &random) })
      sums.append(before[node].reduce(node) { $0 &+ 3 &* sums[$1] })
    }
    (self.before, self.sums) = (before, sums)
  }

  /// Which nodes a run leaves out, and the error that it throws, when these nodes fail and all others go on.
  public func skipped(failing: Set<Int>) -> (nodes: [Bool], error: Refused?) {
    var skipped: [Bool] = []
    var first: Int?
    for (node, before) in before.enumerated() {
      let isBehind = before.contains { skipped[$0] }
      if !isBehind, failing.contains(node), first == nil { first = node }
      skipped.append(isBehind || failing.contains(node))
    }
    return (skipped, first.map(Refused.init))
  }

  /// The graph, whose nodes hand their sums along the edges. Its value has the sums of all nodes.
  /// - Parameters:
  ///   - failing: nodes that throw.
  ///   - asynchronous: nodes whose bodies are.
  ///   - visit: called by each node that does not throw, with the node and whether its sum is right.
  public func graph(
    overlapping: GraphOverlap = .anyOrder, order: GraphOrder = .added, failing: Set<Int> = [],
    asynchronous: Set<Int> = [], visit: @escaping @Sendable (Int, Bool) -> Void
  ) -> OperationGraph<Void> {
    let sums = sums
    return OperationGraph(overlapping: overlapping, order: order) { graph in
      var nodes: [GraphNode<Int>] = []
      for (index, before) in before.enumerated() {
        @Sendable func finish(_ inputs: [Int]) throws -> Int {
          if failing.contains(index) { throw Refused(number: index) }
          let sum = inputs.reduce(index) { $0 &+ 3 &* $1 }
          visit(index, sum == sums[index])
          return sum
        }
        let inputs = before.map { nodes[$0] }
        let cost = Double(index % 7)
        let node: GraphNode<Int>
        switch inputs.count {
        case 0: node = graph.add(cost: cost) { try finish([]) }
        case 1 where asynchronous.contains(index):
          node = graph.addTask(inputs[0], cost: cost) { first in
            await Task.yield()
            return try finish([first])
          }
        case 1: node = graph.add(inputs[0], cost: cost) { try finish([$0]) }
        case 2 where asynchronous.contains(index):
          node = graph.addTask(inputs[0], inputs[1]) { try finish([$0, $1]) }
        case 2: node = graph.add(inputs[0], inputs[1]) { try finish([$0, $1]) }
        case 3: node = graph.add(inputs[0], inputs[1], inputs[2]) { try finish([$0, $1, $2]) }
        default: node = graph.add(inputs[0], inputs[1], inputs[2], inputs[3]) { try finish([$0, $1, $2, $3]) }
        }
        nodes.append(node)
      }
    }
  }
}
