import HarnessMeasuring
import HarnessWords

/// The input that a peer's program needs beyond the parameters, so that the program does exactly the same work.
package struct PeerInput: Sendable {
  /// The benchmark that the program runs; nil: the benchmark that is measured.
  var benchmark: BenchmarkName?
  /// Further `key=value` arguments.
  var fields: [(key: String, value: String)] = []
  /// What the other subjects run, and what is too much for an argument.
  var file: PeerFile?
  /// Derives the readings that the benchmark reports from those of a value, when the program cannot know them.
  var derive: (@Sendable ([Reading]) throws -> [Reading])?
  /// Whether the program runs many problems for one value.
  var isSweep = false
  /// Gives the readings of a value for which the program runs several times, a process for each call of `ask`. The
  /// other fields then mean nothing.
  var search: (@Sendable (_ ask: (PeerInput) throws -> [Reading]) throws -> [Reading])?
}

/// A file that the program of a peer reads. The program is told the place in an argument.
package struct PeerFile: Equatable, Sendable {
  let key: String
  package let text: String

  /// A line per task: its nanoseconds, and the indices of the tasks on which it depends. The tasks on which a task
  /// depends are all on earlier lines.
  package static func graph(_ graph: TaskGraph) -> PeerFile {
    let lines = zip(graph.nanoseconds, graph.inputs).map { nanoseconds, inputs in
      (["\(nanoseconds)"] + inputs.map(String.init)).joined(separator: " ") + "\n"
    }
    return PeerFile(key: "graph", text: lines.joined())
  }

  /// A line per request: when it comes, in nanoseconds from the beginning, for how many it uses a CPU, and for how many
  /// it sleeps behind that.
  static func requests(_ offsets: [Double], _ services: [Double], _ sleeps: [Double]) -> PeerFile {
    let lines = offsets.indices.map { "\(offsets[$0]) \(services[$0]) \(sleeps[$0])\n" }
    return PeerFile(key: "requests", text: lines.joined())
  }
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
      fields: [(key: "bound_ns", value: "\(graph.lowerBound(workers: setting.workers))")], file: .graph(graph))
  }
}
