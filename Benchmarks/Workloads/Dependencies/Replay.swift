import Glibc
import HarnessMeasuring
import HarnessWords
import Operations
import Subjects

/// Replays real workflows: the recorded dependencies, and the runtimes scaled down and spun.
///
/// `makespan_ns` is the time from adding the batch until all tasks are done, without building the graph.
/// `efficiency = max(T1/P, T-infinity) / makespan`. No schedule is above 1. A schedule that never idles while a task is
/// ready is above the efficiency of Graham's bound, which the table shows. Subjects that have only closures count
/// unfinished inputs by hand.
struct Replay: GraphWorkload {
  static let name = BenchmarkName("dependencies", "replay")
  var name: BenchmarkName { Self.name }
  let summary = "a workflow from --graph, or a generated one, with scaled runtimes"
  let metrics = [Metric.efficiency, .grahamEfficiency, .makespan, .nsPerOp, .cpuNsPerOp] + Metric.allocation
  let headlines = [Metric.efficiency, .makespan]
  let repeats = RepeatPolicy.calibrated(seconds: Self.idealNanoseconds / 1e9)
  private let workflows: [Workflow]

  /// The time of one run at best, on all CPUs.
  static let idealNanoseconds = 100e6

  init(graphs: [String], seed: UInt64) throws {
    guard !graphs.isEmpty else {
      workflows = [try Workflow.generated(seed: seed)]
      return
    }
    workflows = try graphs.map(WfFormat.read)
    for (index, workflow) in workflows.enumerated() {
      if let twin = workflows[..<index].firstIndex(where: { $0.name == workflow.name }) {
        throw Complaint(
          .usage,
          "\(graphs[twin]) and \(graphs[index]) would have the same name in the results, '\(workflow.name)'; rename one"
        )
      }
      try Self.check(workflow, source: graphs[index])
    }
  }

  /// The total runtimes that can be scaled to a time for which a user can wait: from a nanosecond to thirty thousand
  /// years, in seconds.
  private static let scalable = 1e-9...1e12

  /// Throws when there is nothing to replay.
  fileprivate static func check(_ workflow: Workflow, source: String) throws {
    let seconds = workflow.totalSeconds
    guard seconds > 0 else {
      throw Complaint(.badInput, "\(source): no task takes any time, so there is nothing to replay")
    }
    guard scalable.contains(seconds) else {
      throw Complaint(
        .badInput,
        "\(source): all tasks together take \(seconds) s; a replay takes from \(scalable.lowerBound) to "
          + "\(scalable.upperBound) s")
    }
  }

  func parameterSets() -> [Parameters] {
    workflows.map { ["graph": $0.name, "scale": "\(Self.scale($0, workers: CPUs.available))"] }
  }

  /// The workflows as graphs that are kept, in each order of the tasks that are ready.
  func extendedParameterSets() -> [Parameters] {
    parameterSets().flatMap { set in GraphOrder.allCases.map { set.merging(["as": $0.rawValue]) } }
  }

  func needs(_ parameters: Parameters) -> Abilities { parameters["as"] == nil ? needs : .recordedGraphs }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let graph = try graph(setting)
    guard let order = setting.parameters["as"].flatMap(GraphOrder.init(rawValue:)) else {
      let runner = LinkedOperations<S>(graph, setting)
      return trial(graph, setting) { try runner.run(&$0) }
    }
    let runner = KeptGraph<S>(graph, setting, order: order)
    return trial(graph, setting) { try runner.run(&$0) }
  }

  /// The scale, with one significant digit, the same for every subject and number of workers.
  static func scale(_ workflow: Workflow, workers: Int) -> Double {
    let exact = idealNanoseconds / workflow.graph(scale: 1).lowerBound(workers: workers)
    let digits = Int(exact.exponentBase10)
    return Double("\(Int((exact / pow(10, Double(digits))).rounded()))e\(digits)")!
  }

  func notes(_ parameters: Parameters, workers: Int) -> [String] {
    guard let workflow = workflow(parameters), let scale = parameters.number("scale") else { return [] }
    return Self.notes(workflow, scale: scale, workers: workers)
  }

  fileprivate static func notes(_ workflow: Workflow, scale: Double, workers: Int) -> [String] {
    let graph = workflow.graph(scale: scale)
    func ms(_ nanoseconds: Double) -> String { "\((nanoseconds / 1e4).rounded() / 100) ms" }
    let lower = graph.lowerBound(workers: workers)
    let graham = graph.grahamBound(workers: workers)
    return [
      "\(workflow.tasks.count) tasks, \(workflow.edges) edges, depth \(workflow.depth), "
        + "widest level \(workflow.widestLevel), fan-in \(workflow.maximalFanIn), fan-out \(workflow.maximalFanOut)",
      "T1 \(ms(graph.totalWork)), T-inf \(ms(graph.criticalPath)); on \(workers) workers no schedule is below "
        + "\(ms(lower)), a greedy one not above Graham's \(ms(graham)) (efficiency \((lower / graham * 1_000).rounded() / 1_000))",
    ] + workflow.remarks
  }

  private func workflow(_ parameters: Parameters) -> Workflow? {
    workflows.first { parameters["graph"] == $0.name }
  }

  func graph(_ setting: Setting) throws -> TaskGraph {
    guard let workflow = workflow(setting.parameters) else {
      throw Complaint(.usage, "there is no graph '\(setting.parameters["graph"] ?? "")' among those given")
    }
    return workflow.graph(scale: try setting.number("scale"))
  }
}

extension Metric {
  /// The efficiency of a schedule that is as long as Graham's bound. Any greedy schedule reaches this efficiency.
  static let grahamEfficiency = Metric("graham_efficiency", unit: "ratio")
}

extension Workflow {
  /// The notes on a workflow that was read; throws when there is nothing to replay.
  package func replayNotes(source: String, workers: Int) throws -> [String] {
    try Replay.check(self, source: source)
    return Replay.notes(self, scale: Replay.scale(self, workers: workers), workers: workers)
  }
}

extension Double {
  /// The power of ten of the first significant digit.
  fileprivate var exponentBase10: Double { Glibc.log10(self).rounded(.down) }
}
