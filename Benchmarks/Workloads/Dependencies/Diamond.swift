import HarnessWords

/// Diamonds in a row: one operation, `width` operations that depend on the first, and one operation that depends on all
/// of these and begins the next diamond. Fan-out and fan-in alternate, and nothing of a diamond may start before the
/// diamond before is complete.
struct Diamond: ShapeWorkload {
  let name = BenchmarkName("dependencies", "diamond")
  let summary = "fan-out and fan-in in turns"

  func parameterSets() -> [Parameters] { [["width": "8", "diamonds": "45"]] }
  func extendedParameterSets() -> [Parameters] {
    [["width": "2", "diamonds": "100"], ["width": "100", "diamonds": "5"]]
  }

  func graph(_ setting: Setting) throws -> TaskGraph {
    .diamonds(try setting.integer("diamonds"), width: try setting.integer("width"))
  }
}

extension TaskGraph {
  static func diamonds(_ count: Int, width: Int) -> TaskGraph {
    var inputs: [[Int]] = [[]]
    for _ in 0..<count {
      let top = inputs.count - 1
      inputs += Array(repeating: [top], count: width)
      inputs.append(Array(top + 1...top + width))
    }
    return TaskGraph(idle: inputs)
  }
}
