import HarnessMeasuring
import HarnessWords
import Subjects

/// Graphs that are made once and run often, without work in their tasks.
///
/// With `run=again` the graph is there, and a run is timed. With `run=first`, making, running and releasing the graph
/// are timed together. Subjects that have only closures count unfinished inputs by hand, in a graph that is kept.
struct RecordedGraph: ShapeWorkload {
  let name = BenchmarkName("dependencies", "recorded")
  let summary = "a graph that is made once and run often"

  /// The shapes and sizes of the other benchmarks of dependencies.
  private enum Shape: String, CaseIterable {
    case chain
    case fanIn = "fan-in"
    case fanOut = "fan-out"
    case tree, diamond
    case nearest
    case stencil1D = "stencil_1d"
    case fft
    case allToAll = "all_to_all"

    var graph: TaskGraph {
      switch self {
      case .chain: TaskGraph(idle: (0..<1_000).map { $0 == 0 ? [] : [$0 - 1] })
      case .fanIn: TaskGraph(idle: (0...1_000).map { $0 < 1_000 ? [] : Array(0..<1_000) })
      case .fanOut: .fanOut(width: 400)
      case .tree: .reduction(leaves: 256)
      case .diamond: .diamonds(45, width: 8)
      case .nearest: pattern(.nearest)
      case .stencil1D: pattern(.stencil1D)
      case .fft: pattern(.fft)
      case .allToAll: pattern(.allToAll)
      }
    }

    private func pattern(_ pattern: GraphPattern) -> TaskGraph {
      PatternShape(pattern: pattern, width: 16, steps: 32, radix: pattern.hasRadix ? 5 : 0, seed: 0)
        .graph(work: 0, imbalance: 0)
    }
  }

  func parameterSets() -> [Parameters] { Self.parameters([.stencil1D], "again") }
  func extendedParameterSets() -> [Parameters] {
    let others = Shape.allCases.filter { $0 != .stencil1D }
    return Self.parameters(others, "again") + Self.parameters(Shape.allCases, "first")
  }

  private static func parameters(_ shapes: [Shape], _ run: String) -> [Parameters] {
    shapes.map { ["shape": $0.rawValue, "run": run] }
  }

  /// Counters by hand are kept in any case: there is no first run of them.
  func needs(_ parameters: Parameters) -> Abilities { parameters["run"] == "first" ? .recordedGraphs : [] }

  func graph(_ setting: Setting) throws -> TaskGraph {
    guard let shape = setting.parameters["shape"].flatMap(Shape.init(rawValue:)) else {
      throw Complaint(.usage, "there is no shape of a graph in '\(setting.parameters)'")
    }
    return shape.graph
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    guard S.abilities.contains(.recordedGraphs) else { return try prepare(closures: type, setting) }
    let graph = try graph(setting)
    let runner = KeptGraph<S>(graph, setting, isKept: setting.parameters["run"] != "first")
    return trial(graph, setting) { try runner.run(&$0) }
  }
}
