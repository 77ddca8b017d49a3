import HarnessMeasuring

/// The input that a peer's program needs beyond the parameters, so that the program does exactly the same work.
package struct PeerInput: Sendable {
  /// Further `key=value` arguments.
  var fields: [(key: String, value: String)] = []
  /// The graph that the other subjects run.
  var graph: TaskGraph?
  /// Derives the readings that the benchmark reports from those of a value, when the program cannot know them.
  var derive: (@Sendable ([Reading]) throws -> [Reading])?
}

extension PeerInput {
  /// The number of tasks in a tree and the sum of the tree. The program must find the same.
  static func tree(_ tree: some ForkJoinTree) -> PeerInput {
    PeerInput(fields: [
      (key: "tasks", value: "\(tree.taskCount(tree.root))"), (key: "expected", value: "\(tree.expected)"),
    ])
  }
}

extension GraphWorkload {
  package func peerInput(_ setting: Setting) throws -> PeerInput {
    let graph = try graph(setting)
    return PeerInput(
      fields: [(key: "bound_ns", value: "\(graph.lowerBound(workers: setting.workers))")], graph: graph)
  }
}
