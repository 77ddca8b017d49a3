import Primitives

/// A graph that is complete: what all of its runs read, and nobody writes.
final class GraphPlan: @unchecked Sendable {
  // Sendable: nothing changes.

  let count: Int
  /// The successors of a node begin where those of the node before end.
  let steps: UnsafeMutablePointer<GraphStep>
  private let memory: GraphSteps
  let successors: UnsafeMutablePointer<UInt32>
  /// The nodes without predecessors, in the order of adding.
  let roots: [UInt32]
  /// How many nodes have no successors.
  let sinks: Int
  let drops: [GraphDrop]
  let valueBytes: Int
  let valueAlignment: Int
  let order: GraphOrder
  /// The runs under way, where each node runs in the order of the runs.
  let line: GraphLine?
  /// The asynchronous bodies.
  let tasks: [UInt32: GraphTaskBody]
  private let names: [UInt32: String]
  /// The costs that were given; empty for an order that needs none.
  private let costs: [Float]

  init(_ builder: consuming GraphBuilder, order: GraphOrder, overlapping: GraphOverlap) {
    count = builder.steps.count
    let count = count
    self.order = order
    line = overlapping == .inOrder ? GraphLine() : nil
    (names, tasks, drops) = (builder.names, builder.tasks, builder.droppable)
    (valueBytes, valueAlignment) = (builder.valueBytes, builder.valueAlignment)
    memory = builder.steps
    steps = memory.pointer
    successors = .allocate(capacity: max(1, builder.predecessors.count))
    // How many successors each node has; then where they begin, which is moved as they are written.
    var ends = [UInt32](repeating: 0, count: count + 1)
    for predecessor in builder.predecessors { ends[Int(predecessor)] += 1 }
    var sum: UInt32 = 0
    var sinks = 0
    for node in 0..<count {
      if ends[node] == 0 { sinks += 1 }
      (ends[node], sum) = (sum, sum + ends[node])
    }
    var roots: [UInt32] = []
    var first = 0
    for node in 0..<count {
      let last = Int(steps[node].end)
      for place in first..<last {
        let predecessor = Int(builder.predecessors[place])
        successors[Int(ends[predecessor])] = UInt32(node)
        ends[predecessor] += 1
      }
      first = last
      if steps[node].predecessors == 0 { roots.append(UInt32(node)) }
    }
    for node in 0..<count { steps[node].end = ends[node] }
    (self.roots, self.sinks) = (roots, sinks)
    costs = order == .criticalPath ? builder.costs + Array(repeating: 1, count: count - builder.costs.count) : []
  }

  deinit { successors.deallocate() }

  /// Where the successors of a node lie.
  @inline(__always)
  func successors(of node: Int) -> (first: Int, end: Int) {
    (node == 0 ? 0 : Int(steps[node - 1].end), Int(steps[node].end))
  }

  func name(of node: UInt32) -> String { names[node].map { "\"\($0)\"" } ?? "node \(node)" }

  /// What hangs on each node: its cost, and that of the longest way behind it. O(nodes and edges): edges lead from
  /// lower to higher indices.
  func rank(_ ranks: UnsafeMutablePointer<Float>, costs measured: UnsafeMutablePointer<Float>?) {
    for node in (0..<count).reversed() {
      let (first, end) = successors(of: node)
      var longest: Float = 0
      for place in first..<end { longest = max(longest, ranks[Int(successors[place])]) }
      ranks[node] = longest + (measured.map { $0[node] } ?? costs[node])
    }
  }
}
