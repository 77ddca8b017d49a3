import Workloads

/// A task graph as the simulation reads it: flat, in 4 bytes for each edge and 20 for each task.
package struct SimulatedGraph: Sendable {
  /// The dependents of task `t` are `dependents[starts[t]..<starts[t + 1]]`. They stand behind `t`.
  let starts: [Int32]
  let dependents: [Int32]
  /// How many tasks each task waits for.
  let inputCounts: [Int32]
  /// The tasks that wait for none.
  let sources: [Int]
  /// The work of each task, in nanoseconds.
  private(set) var durations: [Int64]
  /// The sum of all work (T1), in nanoseconds.
  package private(set) var totalWork: Int64 = 0
  /// The longest path by work (T-infinity), in nanoseconds.
  package private(set) var criticalPath: Int64 = 0

  package var count: Int { durations.count }
  package var edges: Int { dependents.count }

  /// O(tasks + edges). A fraction of a nanosecond of a task's work is rounded.
  package init(_ graph: TaskGraph) {
    var starts = [Int32](repeating: 0, count: graph.count + 1)
    for inputs in graph.inputs { for input in inputs { starts[input + 1] += 1 } }
    for task in 0..<graph.count { starts[task + 1] += starts[task] }
    var next = starts
    var dependents = [Int32](repeating: 0, count: Int(starts[graph.count]))
    for (task, inputs) in graph.inputs.enumerated() {
      for input in inputs {
        dependents[Int(next[input])] = Int32(task)
        next[input] += 1
      }
    }
    inputCounts = graph.inputs.map { Int32($0.count) }
    sources = graph.inputs.indices.filter { graph.inputs[$0].isEmpty }
    durations = graph.nanoseconds.map { Int64($0.rounded()) }
    self.starts = starts
    self.dependents = dependents
    measure()
  }

  /// Makes a copy of the graph with `factor` times the work in each task.
  package func scaled(by factor: Double) -> SimulatedGraph {
    var graph = self
    graph.durations = durations.map { Int64((Double($0) * factor).rounded()) }
    graph.measure()
    return graph
  }

  /// The tasks, the first one of an order first. O(tasks log tasks + edges).
  func sorted(_ order: NodeOrder) -> [Int] {
    var longest = [Int64](repeating: 0, count: count)
    for task in durations.indices.reversed() where order != .added {
      var behind: Int64 = 0
      for index in Int(starts[task])..<Int(starts[task + 1]) { behind = max(behind, longest[Int(dependents[index])]) }
      longest[task] = behind + (order == .criticalPath ? durations[task] : 1)
    }
    return durations.indices.sorted { longest[$0] > longest[$1] || longest[$0] == longest[$1] && $0 < $1 }
  }

  private mutating func measure() {
    var start = [Int64](repeating: 0, count: durations.count)
    totalWork = 0
    criticalPath = 0
    for task in durations.indices {
      let end = start[task] + durations[task]
      totalWork += durations[task]
      criticalPath = max(criticalPath, end)
      for index in Int(starts[task])..<Int(starts[task + 1]) {
        start[Int(dependents[index])] = max(start[Int(dependents[index])], end)
      }
    }
  }
}
