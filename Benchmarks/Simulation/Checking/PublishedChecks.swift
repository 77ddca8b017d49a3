import HarnessResults
import HarnessWords
import Scheduling
import VirtualScheduling
import Workloads

/// What others have published of one lock, of multi-queues and of deques, beside what the model says of a machine with
/// many CPUs. The order of the strategies must come out. The sizes are shown.
package enum PublishedChecks {
  private static let workerCounts = [8, 16, 32, 64, 128]

  package static func table(depth: Int = 16, seeds: Int = 3) -> CheckTable {
    var table = CheckTable(
      "What others have published",
      words:
        "A tree of splits with \(1 << depth) leaves, on the published costs of 2 sockets of 64 CPUs. \"One lock\" is the "
        + "thread pool, \"multi-queue\" is stealing(priorities=multi:2), and \"deques\" is stealing. A ratio is a makespan by "
        + "that of the deques. Medians over \(seeds) seeds. Only the order must hold: the programs, the machines and the work "
        + "of a task are others'. Sources: [1] GNU OpenMP has one lock for all tasks; Wang and others, arXiv:2502.05293 "
        + "(2025). [2] gcc@gcc.gnu.org, message 57985. [3] JuliaLang/julia #62285 (2026), fib with a task for each node, 64 "
        + "cores. [4] Olivier, Evaluating the efficiency of OpenMP tasking (Sandia, 2020), UTS. [5] rayon-rs/rayon #394 "
        + "(2017), instructions of the search.",
      columns: ["claim", "source", "published", "simulated"])
    let short = Runs(depth: depth, nanoseconds: 1_000, seeds: seeds)
    let deques = workerCounts.map { short.makespan("stealing", $0) }
    let times = workerCounts.map { short.makespan("threadpool", $0) }
    let locked = zip(times, deques).map { $0 / $1 }
    let spread = zip(workerCounts, deques).map { short.makespan("stealing(priorities=multi:2)", $0) / $1 }
    table.add(
      [
        "one lock falls behind deques, the more so the more threads", "[1]", "up to x1523",
        ratios(locked),
      ], holds: zip(locked, locked.dropFirst()).allSatisfy { $0 < $1 } && locked.last! > 2)
    table.add(
      [
        "threads beyond some number make one lock slower", "[2]", "not for 48 threads",
        zip(workerCounts, times).map { "\($0): \(NumberFormat("ns", $1).text($1))" }.joined(separator: ", "),
      ], holds: times.last! > times.min()!)
    table.add(
      ["a multi-queue is behind deques", "[3]", "x2 with 8 threads, x3.2 with 128", ratios(spread)],
      holds: spread.allSatisfy { $0 > 1 })
    table.add(
      [
        "a multi-queue is ahead of one lock where threads are many", "", "",
        ratios(zip(locked, spread).map { $0 / $1 }),
      ],
      holds: zip(locked, spread).dropFirst(2).allSatisfy { $0 > $1 })
    let long = Runs(depth: depth, nanoseconds: 30_000, seeds: seeds)
    let efficiencies = [32, 64].map { long.efficiency("stealing", $0) }
    table.add(
      [
        "deques keep all CPUs busy with tasks of 100,000 instructions, 30 us", "[4]", "more than 90 %, all cores",
        zip([32, 64], efficiencies).map { "\($0): \(NumberFormat.significant(100 * $1)) %" }.joined(separator: ", "),
      ], holds: efficiencies.allSatisfy { $0 > 0.9 })
    let looks = [4, 16, 64].map(looksInVain)
    table.add(
      [
        "what idle threads look at grows faster than their number", "[5]", "4: 238, 16: 3,569, 64: 177,090 million",
        zip([4, 16, 64], looks).map { "\($0): \(Int($1))" }.joined(separator: ", ") + " looks",
      ], holds: zip(looks, looks.dropFirst()).allSatisfy { 4 * $0 < $1 })
    return table
  }

  private static func ratios(_ all: [Double]) -> String {
    zip(workerCounts, all).map { "\($0): x\(NumberFormat.significant($1))" }.joined(separator: ", ")
  }

  /// The looks of threads that all search, when the work is enough for two threads.
  private static func looksInVain(workers: Int) -> Double {
    var strategy = StealingStrategy()
    (strategy.searchers, strategy.waking) = (.all, .all)
    let graph = TaskGraph(
      inputs: (0..<2_000).map { $0 < 2 ? [] : [$0 - 2] }, nanoseconds: Array(repeating: 1_000, count: 2_000))
    let simulation = Simulation(
      SimulatedGraph(graph), strategy: .stealing(strategy), workers: workers, costs: CostModel.manyCPUs.costs, seed: 1)
    return Double(simulation.run().statistics.looksInVain)
  }

  /// Runs of the tree with tasks of one length.
  private struct Runs {
    let graph: SimulatedGraph
    let seeds: Int

    init(depth: Int, nanoseconds: Double, seeds: Int) {
      graph = SimulatedGraph(TaskGraph.splitting(depth: depth).timed(nanoseconds))
      self.seeds = seeds
    }

    private func results(_ backend: String, _ workers: Int) -> [SimulationResult] {
      let model = CostModel.manyCPUs
      return (1...UInt64(seeds)).map { seed in
        guard let backend = try? SimulatedBackend(backend) else { fatalError("there is no pool \(backend)") }
        var simulation = Simulation(
          graph, strategy: backend.strategy, workers: workers, costs: model.costs, seed: seed)
        simulation.topology = model.topology
        simulation.measuresRank = false
        return simulation.run()
      }.sorted { $0.makespan < $1.makespan }
    }

    func makespan(_ backend: String, _ workers: Int) -> Double { Double(results(backend, workers)[seeds / 2].makespan) }

    func efficiency(_ backend: String, _ workers: Int) -> Double { results(backend, workers)[seeds / 2].efficiency }
  }
}
