import Harness

/// What a peer's program needs beyond the parameters to run a benchmark, so that it does the very same work.
package struct PeerInput: Sendable {
  /// Further `key=value` arguments.
  var fields: [(key: String, value: String)] = []
  /// The graph that the other subjects run.
  var graph: TaskGraph?
  /// From the readings of a value to those that the benchmark reports, where the program cannot know them.
  var derive: (@Sendable ([Reading]) throws -> [Reading])?
}

extension PeerInput {
  /// How many tasks a tree has and what they add up to: the program has to come to the same.
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
