import HarnessStatistics
import HarnessWords

/// A random graph in layers. Each task depends on each task of the layer before with the given probability, and on at
/// least one of them. The seed decides, so all subjects run the same graph. Every consumer checks all its inputs.
struct RandomDAG: ShapeWorkload {
  let name = BenchmarkName("dependencies", "random-dag")
  let summary = "a seeded random graph in layers"

  func parameterSets() -> [Parameters] { [["tasks": "512", "layers": "16", "probability": "0.1"]] }
  func extendedParameterSets() -> [Parameters] { [["tasks": "512", "layers": "16", "probability": "0.5"]] }

  func graph(_ setting: Setting) throws -> TaskGraph {
    .random(
      tasks: try setting.integer("tasks"), layers: try setting.integer("layers"),
      probability: try setting.number("probability"), seed: setting.seed)
  }
}

extension TaskGraph {
  static func random(tasks: Int, layers: Int, probability: Double, seed: UInt64) -> TaskGraph {
    var random = SeededGenerator(seed: seed, purpose: "random-dag")
    var inputs: [[Int]] = []
    var previous = 0..<0
    for layer in 0..<layers {
      let current = slice(layer, of: layers, count: tasks)
      for _ in current {
        var chosen = previous.filter { _ in Double.random(in: 0..<1, using: &random) < probability }
        if chosen.isEmpty, let input = previous.randomElement(using: &random) { chosen = [input] }
        inputs.append(chosen)
      }
      previous = current
    }
    return TaskGraph(idle: inputs)
  }
}
