import HarnessMeasuring
import HarnessWords
import Subjects

/// Graphs of the eleven patterns of Task Bench. Each task writes its coordinates, and each consumer checks all its
/// inputs.
///
/// Without work (`work_ns=0`), the benchmark measures the cost of a task and of an edge: building, running and
/// releasing. An operation gets its dependencies as `GraphDependencies` says. With work, `makespan_ns` is the time from
/// adding the batch until all tasks are done, and `efficiency` is the shortest possible schedule divided by the
/// makespan. Subjects that have only closures count unfinished inputs by hand and submit a task when it becomes ready.
struct GraphPatterns: GraphWorkload {
  let name = BenchmarkName("dependencies", "graph")
  let summary = "the eleven graph patterns of Task Bench"
  let metrics = Metric.cost + [Metric.nsPerEdge, Metric.makespan, Metric.efficiency] + Metric.allocation
  let headlines = [Metric.nsPerOp, .efficiency, .allocationsPerOp]
  /// During this time the threads of a young process overlap more: an operation takes up to a quarter less time, and
  /// the same CPU time.
  let leadIn: UInt64 = 80_000_000

  /// The patterns of every run: without dependencies, with few, with many, and uneven. The ratios of the other patterns
  /// follow the ratios of one of these four, with correlations of 0.99 over the subjects of the reference.
  func parameterSets() -> [Parameters] {
    [
      parameters(.trivial, work: 0, imbalance: 0), parameters(.stencil1D, work: 0, imbalance: 0),
      parameters(.allToAll, work: 0, imbalance: 0), parameters(.randomNearest, work: 10_000, imbalance: 1),
    ]
  }

  func needs(_ parameters: Parameters) -> Abilities {
    GraphDependencies(parameters) == .initializer ? [.operations, .dependenciesAtOnce] : needs
  }

  /// The other patterns, from 0 to 64 dependencies for each task, and operations that are made with their dependencies.
  func extendedParameterSets() -> [Parameters] {
    let all =
      GraphPattern.allCases.map { parameters($0, work: 0, imbalance: 0) }
      + [GraphPattern.stencil1D, .tree].map { parameters($0, work: 10_000, imbalance: 1) }
    let radixes = [0, 1, 2, 4, 8, 16, 32, 64].map { radix -> Parameters in
      ["pattern": "nearest", "width": "64", "steps": "8", "work_ns": "0", "imbalance": "0", "radix": "\(radix)"]
    }
    let atOnce = [GraphPattern.stencil1D, .allToAll].flatMap { pattern in
      [GraphDependencies.initializer, .adding].map { way -> Parameters in
        parameters(pattern, work: 0, imbalance: 0).merging([GraphDependencies.key: way.rawValue])
      }
    }
    return all.filter { !parameterSets().contains($0) } + radixes + atOnce
  }

  private func parameters(_ pattern: GraphPattern, work: Int, imbalance: Int) -> Parameters {
    var parameters: Parameters = [
      "pattern": pattern.rawValue, "width": "16", "steps": "32", "work_ns": "\(work)", "imbalance": "\(imbalance)",
    ]
    if pattern.hasRadix { parameters["radix"] = "5" }
    return parameters
  }

  func graph(_ setting: Setting) throws -> TaskGraph {
    guard let pattern = setting.parameters["pattern"].flatMap(GraphPattern.init(rawValue:)) else {
      throw Complaint(.usage, "there is no graph pattern in '\(setting.parameters)'")
    }
    let shape = PatternShape(
      pattern: pattern, width: try setting.integer("width"), steps: try setting.integer("steps"),
      radix: pattern.hasRadix ? try setting.integer("radix") : 0, seed: setting.seed)
    return shape.graph(work: try setting.number("work_ns"), imbalance: try setting.number("imbalance"))
  }
}
