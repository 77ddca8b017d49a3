import HarnessWords

/// A reduction: independent leaves, and above them operations that each depend on two operations, up to one root.
struct Tree: ShapeWorkload {
  let name = BenchmarkName("dependencies", "tree")
  let summary = "a binary reduction from the leaves to one root"

  func parameterSets() -> [Parameters] { [["leaves": "256"]] }
  func extendedParameterSets() -> [Parameters] { [["leaves": "1024"]] }

  func graph(_ setting: Setting) throws -> TaskGraph { .reduction(leaves: try setting.integer("leaves")) }
}

extension TaskGraph {
  /// Each level is made of pairs of the level below. A single task that is left goes up alone.
  static func reduction(leaves: Int) -> TaskGraph {
    var inputs = [[Int]](repeating: [], count: leaves)
    var level = 0..<leaves
    while level.count > 1 {
      for first in stride(from: level.lowerBound, to: level.upperBound, by: 2) {
        inputs.append(Array(first..<min(first + 2, level.upperBound)))
      }
      level = level.upperBound..<inputs.count
    }
    return TaskGraph(idle: inputs)
  }
}
