import HarnessPlanning
import HarnessResults
import HarnessWords
import VirtualScheduling
import Workloads

/// What is simulated: every graph at every granularity on every pool with every number of workers, once for each seed.
package struct SimulationPlan: Sendable {
  package var graphs: [GraphChoice]
  /// The mean work of a task, in nanoseconds.
  package var works: [Double]
  package var backends: [SimulatedBackend]
  package var workers: [Int]
  package var seeds: [UInt64]
  /// The seed of the graphs.
  package var graphSeed: UInt64
  package var model: CostModel
  package var topology: VirtualTopology
  /// Whether one thread adds the tasks first, as in the benchmarks.
  package var countsAdding = false
  /// Whether the tasks that the end of a task makes ready are forks, and not operations.
  package var forks = false
  /// Whether the granularities are those of a sweep for METG, whatever `works` says.
  package var sweeps = false
  /// The only part of the plan that is run; nil: all.
  package var shard: Shard?

  package init(
    graphs: [GraphChoice], works: [Double], backends: [SimulatedBackend], workers: [Int], seeds: [UInt64],
    graphSeed: UInt64, model: CostModel, topology: VirtualTopology
  ) {
    (self.graphs, self.works, self.backends, self.workers) = (graphs, works, backends, workers)
    (self.seeds, self.graphSeed, self.model, self.topology) = (seeds, graphSeed, model, topology)
  }

  /// One graph at one granularity on one pool with one number of workers.
  package struct Cell: Hashable, Sendable {
    package let graph: GraphChoice
    package let work: Double
    package let backend: String
    package let workers: Int
  }

  /// Every graph with every number of workers: what shards share out.
  package var shardedCells: Int { graphs.count * workers.count }

  /// The plan as the laboratory has it: a benchmark for each graph, and a block for each seed.
  package var plan: Plan {
    let arms = workers.flatMap { count in backends.map { Arm(subject: $0.name, workers: count) } }
    let scenarios = graphs.map { graph in
      PlannedScenario(
        scenario: Scenario(SimulationConditions.benchmark(graph.name), graph.values), arms: arms, incapable: [],
        repeats: .samples(1, seconds: 0), headlines: [], countsAllocations: false, notes: [])
    }
    var plan = Plan(
      scenarios: scenarios, effort: SimulationConditions.effort(seeds: seeds.count), seed: graphSeed)
    (plan.sharesCells, plan.shard) = (true, shard)
    return plan
  }

  /// The number of runs; of a sweep, the most there may be.
  package var runCount: Int {
    plan.sharedIndices.count * (sweeps ? GranularityLadder.works.count : works.count) * backends.count * seeds.count
  }

  /// Runs everything in the order of the cells.
  /// - Parameter onRow: called with each result. When it throws, nothing more is run.
  package func run(onRow: (Cell, _ seed: UInt64, SimulationResult) throws -> Void) throws {
    for index in plan.sharedIndices {
      let (graph, count) = (graphs[index / workers.count], workers[index % workers.count])
      // A nominal work of a millisecond: a fraction of a nanosecond is lost, and not of one of ten.
      let nominal = 1_000_000.0
      let unit = SimulatedGraph(try graph.graph(workers: count, nanoseconds: nominal, seed: graphSeed))
      for backend in backends {
        for seed in seeds {
          var ladder = GranularityLadder(given: sweeps ? nil : works)
          while let work = ladder.next() {
            let result = simulation(unit.scaled(by: work / nominal), backend, count, seed).run()
            ladder.reached(result.utilisation)
            try onRow(Cell(graph: graph, work: work, backend: backend.name, workers: count), seed, result)
          }
        }
      }
    }
  }

  private func simulation(
    _ graph: SimulatedGraph, _ backend: SimulatedBackend, _ workers: Int, _ seed: UInt64
  ) -> Simulation {
    var simulation = Simulation(
      graph, strategy: backend.strategy, workers: workers, costs: model.costs, seed: seed)
    simulation.topology = topology
    simulation.forks = forks
    simulation.order = backend.order ?? .added
    if countsAdding { simulation.adding = model.adding }
    return simulation
  }
}

/// The granularities of a sweep, largest first: two steps halve the work, as in `dependencies/metg`. The sweep ends
/// when the workers are busy for less than a fifth of the time twice in a row.
struct GranularityLadder {
  static let works: [Double] = (0...32).map { 1_048_576 / 2.0.squareRoot().power($0) }
  private static let little = 0.2

  private var left: ArraySlice<Double>
  private var low = 0
  private let isSweep: Bool

  init(given works: [Double]?) {
    isSweep = works == nil
    left = (works ?? Self.works)[...]
  }

  mutating func next() -> Double? { low < 2 ? left.popFirst() : nil }

  mutating func reached(_ utilisation: Double) {
    low = isSweep && utilisation < Self.little ? low + 1 : 0
  }
}

extension Double {
  fileprivate func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { product, _ in product * self } }
}
