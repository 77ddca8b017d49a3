import HarnessWords

/// One operation on which many depend. Each of the dependent operations checks that the first has run.
struct FanOut: ShapeWorkload {
  let name = BenchmarkName("dependencies", "fan-out")
  let summary = "many operations that depend on one"

  /// As with a chain, Foundation's cost grows with the square of the width.
  func parameterSets() -> [Parameters] { [["width": "400"]] }
  func extendedParameterSets() -> [Parameters] { [["width": "1000"]] }

  func graph(_ setting: Setting) throws -> TaskGraph { .fanOut(width: try setting.integer("width")) }
}

extension TaskGraph {
  /// One task, and `width` tasks that depend on the first.
  static func fanOut(width: Int) -> TaskGraph { TaskGraph(idle: [[]] + Array(repeating: [0], count: width)) }

  /// Tasks that do no work.
  init(idle inputs: [[Int]]) {
    self.init(inputs: inputs, nanoseconds: [Double](repeating: 0, count: inputs.count))
  }
}
