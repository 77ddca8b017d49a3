import HarnessStatistics

extension Workflow {
  /// A workflow for runs without a graph file, in the shape that many scientific workflows share: a split, a wide level
  /// of uneven tasks, a pairwise combination, one join, a second wide level, and a final collection. The runtimes come
  /// from the seed. The workflow is no record of a real run, and its name says so.
  package static func generated(seed: UInt64) throws -> Workflow {
    let width = 48
    var random = SeededGenerator(seed: seed, purpose: "generated-workflow")
    var tasks: [Task] = []

    func add(_ kind: String, seconds: ClosedRange<Double>, parents: [Int]) -> Int {
      // Most tasks are short and a few are long: the square of a uniform number.
      let uniform = Double.random(in: 0...1, using: &random)
      let duration = seconds.lowerBound + uniform * uniform * (seconds.upperBound - seconds.lowerBound)
      tasks.append(Task(id: "\(kind)-\(tasks.count)", seconds: duration, parents: parents))
      return tasks.count - 1
    }

    let split = add("split", seconds: 5...10, parents: [])
    let projected = (0..<width).map { _ in add("project", seconds: 20...200, parents: [split]) }
    let combined = (0..<width).map { index in
      add("combine", seconds: 1...10, parents: [projected[index], projected[(index + 1) % width]])
    }
    let model = add("model", seconds: 30...60, parents: combined)
    let corrected = (0..<width).map { index in add("correct", seconds: 5...40, parents: [projected[index], model]) }
    _ = add("collect", seconds: 10...20, parents: corrected)
    return try Workflow(name: "generated-\(seed)", source: "the generated workflow", unsorted: tasks)
  }
}
