import Glibc
import HarnessWords
import Scheduling
import VirtualScheduling
import Workloads

/// Simulated makespans against what is proven of every schedule of their kind.
package enum BoundChecks {
  private static let workerCounts = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024]

  /// Graham (1969): a schedule that never idles while a task is ready takes at most `T1/p + (1 - 1/p) T-infinity`. With
  /// all costs 0 the pools are such schedulers. No schedule is shorter than `max(T1/p, T-infinity)`.
  package static func graham(graphs: Int = 5) -> CheckTable {
    var table = CheckTable(
      "Graham's bounds",
      words:
        "Random graphs of 4,096 tasks in 32 layers with three inputs each and uneven work, all costs 0: the makespan "
        + "divided by the lower bound max(T1/p, T-inf), at least 1, and by Graham's upper bound, at most 1. The extremes of "
        + "\(graphs) graphs.",
      columns: ["pool", "workers", "by lower bound, least", "by Graham's bound, most"])
    let all = (1...UInt64(graphs)).map {
      TaskGraph.layers(tasks: 4_096, layers: 32, inputs: 3, imbalance: 2, seed: $0).timed(10_000)
    }
    for (name, strategy) in [
      ("stealing", VirtualStrategy.stealing(.init())), ("threadpool", .threadPool(.init())),
    ] {
      for workers in workerCounts {
        var least = Double.infinity
        var most = 0.0
        for (index, graph) in all.enumerated() {
          let simulated = SimulatedGraph(graph)
          let result = Simulation(
            simulated, strategy: strategy, workers: workers, costs: .none, seed: UInt64(index)
          ).run()
          let makespan = Double(result.makespan)
          let path = Double(simulated.criticalPath)
          let count = Double(workers)
          least = min(least, makespan / result.lowerBound)
          most = max(most, makespan / (Double(simulated.totalWork) / count + (1 - 1 / count) * path))
        }
        table.add(
          [name, "\(workers)", NumberFormat.significant(least), NumberFormat.significant(most)],
          holds: least >= 1 && most <= 1 + 1e-9)
      }
    }
    return table
  }

  /// Gast, Khatiri, Trystram and Wagner, "A new analysis of work stealing with latency" (arXiv:1805.00857, 2018): W
  /// unit tasks, all on one worker at first; an idle worker asks a random one, and the question and the answer take λ
  /// each; an answer brings half of the work. Then `E[Cmax] <= W/p + 16.12 λ log2(W / 2λ) + 3λ` (their theorem 4.1).
  /// Their simulations fit `W/p + 3.8 λ log2(W/λ)`.
  package static func stealLatency(seeds: Int = 5) -> CheckTable {
    let depth = 16
    let work = Double(1 << depth)
    var table = CheckTable(
      "Work stealing with steal latency",
      words:
        "A binary tree of splits with \(1 << depth) leaves of 1 us: the oldest job of a worker is half of what it has "
        + "left. Own jobs newest first, one job a theft, all may search; a theft takes 2 λ. A search that meets a worker with "
        + "jobs never fails, so the mean should be below the bound of Gast and others (2018), W/p + 16.12 λ log2(W/2λ) + 3λ. "
        + "The mean is W/p + c λ log2(W/λ); their own simulations fit c = 3.8. In us, means over \(seeds) seeds.",
      columns: ["λ", "workers", "W/p", "simulated", "bound", "c"])
    let graph = SimulatedGraph(TaskGraph.splitting(depth: depth).timed(1_000))
    var strategy = StealingStrategy()
    strategy.ownEnd = .lifo
    strategy.searchers = .all
    strategy.waking = .all
    strategy.search = .microseconds(10_000)
    // A worker runs the children of a split in a row; none of them is too many.
    strategy.runLength = 1_000_000
    for latency in [2.0, 16, 128] {
      var costs = VirtualCosts()
      costs.steal = VirtualCosts.ByDistance(Int64(2_000 * latency))
      for workers in [2, 16, 64, 256, 1_024] {
        let makespans = (1...UInt64(seeds)).map { seed in
          Double(
            Simulation(graph, strategy: .stealing(strategy), workers: workers, costs: costs, seed: seed).run().makespan)
        }
        let mean = makespans.reduce(0, +) / Double(seeds) / 1_000
        let even = work / Double(workers)
        let bound = even + 16.12 * latency * log2(work / (2 * latency)) + 3 * latency
        let factor = (mean - even) / (latency * log2(work / latency))
        table.add(
          ["\(Int(latency))", "\(workers)"]
            + [even, mean, bound].map { NumberFormat.significant($0) } + [NumberFormat.significant(factor)],
          holds: mean >= even && mean <= bound)
      }
    }
    return table
  }
}

extension TaskGraph {
  /// Makes a copy of the graph with `nanoseconds` for each unit of work.
  func timed(_ nanoseconds: Double) -> TaskGraph {
    TaskGraph(inputs: inputs, nanoseconds: self.nanoseconds.map { $0 * nanoseconds })
  }
}
