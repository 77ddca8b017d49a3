import HarnessWords

/// A workflow of named tasks with runtimes. The order of the tasks puts every task after its parents.
package struct Workflow: Sendable {
  /// The name of the workflow, in the form that it has in `params`: two workflows with the same name cannot be told
  /// apart in results.
  package let name: String
  /// What a user should know of the file before its numbers: sentences without the file's name.
  package internal(set) var remarks: [String] = []
  package let tasks: [Task]

  package struct Task: Sendable, Hashable {
    package let id: String
    package let seconds: Double
    /// The positions in `tasks` of the tasks for which this task waits, ascending, each once.
    package let parents: [Int]
  }

  /// Sorts the tasks so that parents come first, and otherwise keeps their order. When the graph has a cycle, throws
  /// and names a task on the cycle and the parent that closes it.
  init(name: String, source: String, unsorted: [Task]) throws {
    guard !unsorted.isEmpty else { throw Complaint(.badInput, "\(source): the workflow has no tasks") }
    let order = try Self.sorted(unsorted, source: source)
    var position = [Int](repeating: 0, count: unsorted.count)
    for (place, task) in order.enumerated() { position[task] = place }
    self.name = Parameters.clean(name)
    tasks = order.map { index in
      let task = unsorted[index]
      return Task(id: task.id, seconds: task.seconds, parents: Set(task.parents.map { position[$0] }).sorted())
    }
  }

  /// Kahn's algorithm, in first-come order.
  private static func sorted(_ tasks: [Task], source: String) throws -> [Int] {
    var children = [[Int]](repeating: [], count: tasks.count)
    var waiting = tasks.map { Set($0.parents).count }
    for (index, task) in tasks.enumerated() { for parent in Set(task.parents) { children[parent].append(index) } }
    var order = tasks.indices.filter { waiting[$0] == 0 }
    var next = 0
    while next < order.count {
      for child in children[order[next]] {
        waiting[child] -= 1
        if waiting[child] == 0 { order.append(child) }
      }
      next += 1
    }
    if order.count < tasks.count { throw cycle(tasks, waiting: waiting, source: source) }
    return order
  }

  /// A task that still waits has a parent that still waits. Following such parents ends on a cycle.
  private static func cycle(_ tasks: [Task], waiting: [Int], source: String) -> Complaint {
    var task = waiting.firstIndex { $0 > 0 }!
    var seen: Set<Int> = []
    while true {
      let parent = tasks[task].parents.first { waiting[$0] > 0 }!
      if !seen.insert(task).inserted {
        return Complaint(
          .badInput,
          "\(source): the graph has a cycle: task '\(tasks[task].id)' waits for itself through parent "
            + "'\(tasks[parent].id)'")
      }
      task = parent
    }
  }
}

extension Workflow {
  package var edges: Int { tasks.reduce(0) { $0 + $1.parents.count } }
  package var maximalFanIn: Int { tasks.map(\.parents.count).max() ?? 0 }

  package var maximalFanOut: Int {
    var children = [Int](repeating: 0, count: tasks.count)
    for task in tasks { for parent in task.parents { children[parent] += 1 } }
    return children.max() ?? 0
  }

  /// The number of tasks on each level. A task's level is one more than the highest level of its parents.
  package var levels: [Int] {
    var level = [Int](repeating: 0, count: tasks.count)
    var widths: [Int] = []
    for (index, task) in tasks.enumerated() {
      level[index] = (task.parents.map { level[$0] + 1 }.max() ?? 0)
      if level[index] == widths.count { widths.append(0) }
      widths[level[index]] += 1
    }
    return widths
  }

  package var depth: Int { levels.count }
  package var widestLevel: Int { levels.max() ?? 0 }
  /// T1: the sum of all runtimes, in seconds.
  package var totalSeconds: Double { tasks.reduce(0) { $0 + $1.seconds } }

  /// The tasks, with runtimes scaled to a time for which a user can wait.
  func graph(scale: Double) -> TaskGraph {
    TaskGraph(inputs: tasks.map(\.parents), nanoseconds: tasks.map { $0.seconds * scale * 1e9 })
  }
}
