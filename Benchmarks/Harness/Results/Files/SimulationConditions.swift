import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// What the rows of a simulation depend on, beside its cells and seeds. A seed is a block of the plan.
package struct SimulationConditions: Codable, Hashable, Sendable {
  /// What the steps of a pool cost.
  package let model: CostModel
  /// The mean work of a task, in nanoseconds; nil in a sweep.
  package let works: [Double]?
  /// How many workers share a group of CPUs, and a socket; nil when all do.
  package let workersPerGroup: Int?
  package let workersPerSocket: Int?
  /// Whether one thread adds all tasks first, and that time counts.
  package let countsAdding: Bool
  /// Whether tasks are forks; nil for operations.
  private let forks: Bool?

  package init(
    model: CostModel, works: [Double]?, workersPerGroup: Int?, workersPerSocket: Int?, countsAdding: Bool,
    forks: Bool = false
  ) {
    (self.model, self.works, self.countsAdding) = (model, works, countsAdding)
    self.forks = forks ? true : nil
    (self.workersPerGroup, self.workersPerSocket) = (workersPerGroup, workersPerSocket)
  }

  /// The benchmark of a simulated graph.
  package static func benchmark(_ graph: String) -> BenchmarkName { BenchmarkName("simulation", graph) }

  /// The effort of a simulation: a block for each seed, and no time for anything else.
  package static func effort(seeds: Int) -> Effort {
    Effort(blocks: seeds, values: 1, leadIn: 0, target: 0, budget: 0, longBlocks: seeds)
  }

  /// In what two simulations differ, in words; nil when they are equal.
  func difference(from other: SimulationConditions) -> String? {
    if model != other.model { return "another model" }
    if works != other.works { return "another work of a task" }
    if countsAdding != other.countsAdding { return countsAdding ? "the time of adding" : "no time of adding" }
    if forks != other.forks { return forks == nil ? "operations in the place of forks" : "forks" }
    return self == other ? nil : "other groups of CPUs"
  }
}
