import HarnessResults
import HarnessStatistics
import HarnessWords
import VirtualScheduling
import Workloads

/// A benchmark whose tasks the simulator can run too: `dependencies/graph`, and `dependencies/replay` of the workflow
/// that the benchmarks generate.
package struct MeasuredGraph: Sendable {
  package let scenario: Scenario
  package let choice: GraphChoice
  /// The mean work of a task, in nanoseconds.
  package let work: Double
  private let seed: UInt64

  /// Nil for a benchmark that cannot be simulated.
  package init?(_ scenario: Scenario, seed: UInt64) {
    let parameters = scenario.parameters
    switch (scenario.name.description, parameters["pattern"]) {
    case ("dependencies/graph", let pattern?):
      let sizes = parameters.pairs.filter { !["pattern", "work_ns"].contains($0.key) }
        .map { "\($0.key)=\($0.value)" }.joined(separator: ";")
      guard let work = parameters.number("work_ns"), let choice = try? GraphChoice("\(pattern)(\(sizes))", seed: seed)
      else { return nil }
      (self.choice, self.work) = (choice, work)
    case ("dependencies/replay", _):
      guard let workflow = try? Workflow.generated(seed: seed), parameters["graph"] == workflow.name,
        let scale = parameters.number("scale"), let choice = try? GraphChoice("generated", seed: seed)
      else { return nil }
      self.choice = choice
      work = workflow.totalSeconds * scale * 1e9 / Double(workflow.tasks.count)
    default: return nil
    }
    (self.scenario, self.seed) = (scenario, seed)
  }

  /// The tasks.
  /// - Parameter work: the mean work of a task, where it is not the benchmark's.
  package func tasks(workers: Int, work: Double? = nil) throws -> TaskGraph {
    try choice.graph(workers: workers, nanoseconds: work ?? self.work, seed: seed)
  }

  private static let seeds: UInt64 = 5

  /// The simulated makespan in nanoseconds: the median over five seeds. One thread adds the tasks, and that counts.
  /// - Parameter change: changes the costs, and how long adding a task takes.
  package func makespan(
    of tasks: SimulatedGraph, on backend: SimulatedBackend, workers: Int, model: CostModel,
    change: (_ costs: inout VirtualCosts, _ adding: inout Int64) -> Void = { _, _ in }
  ) -> Double {
    var (costs, adding) = (model.costs, model.adding)
    change(&costs, &adding)
    return Statistics.median(
      (0..<Self.seeds).map { offset in
        var simulation = Simulation(
          tasks, strategy: backend.strategy, workers: workers, costs: costs, seed: seed &+ offset)
        (simulation.adding, simulation.topology) = (adding, model.topology)
        return Double(simulation.run().makespan)
      })
  }
}
