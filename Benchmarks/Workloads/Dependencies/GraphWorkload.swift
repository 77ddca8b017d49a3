import HarnessMeasuring
import Subjects

/// A benchmark that builds, runs and releases one task graph. Subjects that have only closures count unfinished inputs
/// by hand and submit a task when it becomes ready.
protocol GraphWorkload: Workload {
  func graph(_ setting: Setting) throws -> TaskGraph
}

extension GraphWorkload {
  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let graph = try graph(setting)
    let runner = ClosureGraph<S>(graph, setting)
    return trial(graph, setting) { try runner.run(&$0) }
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let graph = try graph(setting)
    let runner = LinkedOperations<S>(graph, setting)
    return trial(graph, setting) { try runner.run(&$0) }
  }

  func trial(_ graph: TaskGraph, _ setting: Setting, run: @escaping (inout GraphTiming) throws -> Void) -> Trial {
    let bound = graph.lowerBound(workers: setting.workers)
    let graham = graph.grahamBound(workers: setting.workers)
    let edges = graph.edges
    return Trial(operationsPerRepeat: graph.count) { repeats in
      var timing = GraphTiming()
      for _ in 0..<repeats { try run(&timing) }
      let makespan = Double(timing.makespan) / Double(repeats)
      var readings = timing.elapsed.readings(operations: graph.count * repeats, edges: edges * repeats)
      readings.append(Reading(.makespan, makespan, count: repeats))
      if bound > 0 {
        readings.append(Reading(.efficiency, bound / makespan, count: repeats))
        readings.append(Reading(.grahamEfficiency, bound / graham, count: repeats))
      }
      return Value(readings.filter { metrics.contains($0.metric) })
    }
  }
}

/// A graph of one shape without work in its tasks. Such a benchmark measures the cost of an operation and of a
/// dependency: building, running and releasing.
protocol ShapeWorkload: GraphWorkload {}

extension ShapeWorkload {
  var metrics: [Metric] { Metric.cost + [.nsPerEdge] + Metric.allocation }
  var headlines: [Metric] { [.nsPerOp, .voluntarySwitchesPerOp] + Metric.allocation }
}
