/// A directed acyclic graph of tasks. The order of the tasks puts every task after all its inputs.
package struct TaskGraph: Sendable {
  /// The tasks on which each task depends, each named once.
  package let inputs: [[Int]]
  /// How long each task spins, in nanoseconds; 0 for no work.
  package let nanoseconds: [Double]

  package init(inputs: [[Int]], nanoseconds: [Double]) {
    precondition(inputs.count == nanoseconds.count, "one duration per task")
    for (task, dependencies) in inputs.enumerated() {
      precondition(dependencies.allSatisfy { $0 < task }, "task \(task) stands before one of its inputs")
    }
    self.inputs = inputs
    self.nanoseconds = nanoseconds
  }

  package var count: Int { inputs.count }
  package var edges: Int { inputs.reduce(0) { $0 + $1.count } }

  /// The sum of all work (T1), in nanoseconds.
  package var totalWork: Double { nanoseconds.reduce(0, +) }

  /// The longest path by work (T-infinity), in nanoseconds.
  package var criticalPath: Double {
    var finish = [Double](repeating: 0, count: count)
    for task in 0..<count {
      finish[task] = (inputs[task].map { finish[$0] }.max() ?? 0) + nanoseconds[task]
    }
    return finish.max() ?? 0
  }

  /// For each task, the tasks that depend on it.
  var dependents: [[Int]] {
    var result = [[Int]](repeating: [], count: count)
    for (task, dependencies) in inputs.enumerated() {
      for dependency in dependencies { result[dependency].append(task) }
    }
    return result
  }

  /// The lower bound of a schedule's length: no schedule on that number of workers is shorter.
  package func lowerBound(workers: Int) -> Double { max(totalWork / Double(workers), criticalPath) }

  /// Graham's bound (1969): no schedule that never idles while a task is ready is longer.
  package func grahamBound(workers: Int) -> Double {
    let workers = Double(workers)
    return totalWork / workers + (1 - 1 / workers) * criticalPath
  }
}
