import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords
import VirtualScheduling
import Workloads

/// Simulated makespans against those of the real pools, at one and at two workers. A run with more workers than CPUs is
/// no check: its workers take turns.
package struct RealPoolCheck: Sendable {
  /// The largest part of the makespan by which the two may differ.
  package static let tolerance = 0.1

  /// Patterns with tasks of 50 and 200 us, and the workflow that the benchmarks generate.
  package static func cases(seed: UInt64) throws -> [MeasuredGraph] {
    var scenarios: [Scenario] = []
    for (pattern, imbalance) in [("stencil_1d", 0), ("fft", 0), ("tree", 1), ("random_nearest", 1)] {
      for work in ["50000", "200000"] {
        var parameters: Parameters = [
          "imbalance": "\(imbalance)", "steps": "16", "width": "16", "pattern": pattern, "work_ns": work,
        ]
        if pattern == "random_nearest" { parameters["radix"] = "5" }
        scenarios.append(Scenario(BenchmarkName("dependencies", "graph"), parameters))
      }
    }
    scenarios.append(
      Scenario(
        BenchmarkName("dependencies", "replay"),
        ["graph": try Workflow.generated(seed: seed).name, "scale": "\(5e-6)"]))
    return scenarios.compactMap { MeasuredGraph($0, seed: seed) }
  }

  package let backends: [SimulatedBackend]
  package let workers: [Int]
  package let cases: [MeasuredGraph]
  package let seed: UInt64
  package let model: CostModel

  package init(backends: [SimulatedBackend], workers: [Int], seed: UInt64, model: CostModel) throws {
    (self.backends, self.workers, self.seed, self.model) = (backends, workers, seed, model)
    cases = try Self.cases(seed: seed)
  }

  /// A measured cell: the makespan of each block, and what a CPU then did in a nanosecond while `workers` CPUs spun.
  package struct Measured: Sendable {
    package var makespans: [Double] = []
    package var peaks: [Double] = []

    package init() {}
  }

  /// The cells, in the order of the table.
  package var cells: [CellKey] {
    cases.flatMap { item in
      backends.flatMap { backend in workers.map { CellKey(item.scenario, Arm(subject: backend.name, workers: $0)) } }
    }
  }

  /// Simulates each measured cell.
  package func table(_ measured: [CellKey: Measured]) throws -> CheckTable {
    var table = CheckTable(
      "Real pools",
      words:
        "The makespan from the call that adds the tasks until the last one has run: the fastest of the blocks, each a process, "
        + "beside the median. A task's work is scaled by what a CPU does at best when as many CPUs spin as there are workers, "
        + "because two CPUs may share a core. The error is the simulated makespan by the real one, less 1; it may be "
        + "\(Int(100 * Self.tolerance)) %.",
      columns: ["graph", "work", "pool", "workers", "real, ms", "median", "simulated, ms", "error, %"])
    for item in cases {
      for backend in backends {
        for count in workers {
          let key = CellKey(item.scenario, Arm(subject: backend.name, workers: count))
          guard let real = measured[key] else { continue }
          // The fastest block and the highest peak: what is possible when nothing disturbs, on both sides.
          let simulated = try simulate(item, backend, count, work: item.work / (real.peaks.max() ?? 1))
          let fastest = real.makespans.min() ?? 0
          let error = simulated / fastest - 1
          func ms(_ nanoseconds: Double) -> String { NumberFormat.significant(nanoseconds / 1e6) }
          table.add(
            [
              item.choice.name, NumberFormat("ns", item.work).text(item.work), backend.name, "\(count)",
              ms(fastest), ms(Statistics.median(real.makespans)), ms(simulated), NumberFormat.significant(100 * error),
            ], holds: abs(error) <= Self.tolerance)
        }
      }
    }
    return table
  }

  private func simulate(
    _ item: MeasuredGraph, _ backend: SimulatedBackend, _ workers: Int, work: Double
  ) throws -> Double {
    item.makespan(
      of: SimulatedGraph(try item.tasks(workers: workers, work: work)), on: backend, workers: workers, model: model)
  }
}
