import HarnessResults
import HarnessStatistics
import HarnessWords
import Workloads

/// The table of a simulation: a line for each cell, with medians over the seeds.
package struct SimulationTable {
  private var cells: [SimulationPlan.Cell] = []
  private var results: [SimulationPlan.Cell: [SimulationResult]] = [:]

  package init() {}

  package mutating func add(_ cell: SimulationPlan.Cell, _ result: SimulationResult) {
    if results[cell] == nil { cells.append(cell) }
    results[cell, default: []].append(result)
  }

  private static let columns = [
    "work", "backend", "workers", "makespan", "efficiency", "work %", "path %", "scheduler %", "steals", "wakes",
    "idle %", "rank error",
  ]

  /// - Parameter sweeps: whether the runs are sweeps: then METG alone is shown.
  package func text(model: CostModel, sweeps: Bool) -> String {
    var lines = ["simulated: no CPU ran these tasks. The costs are those of: \(model.name)"]
    for graph in cells.map(\.graph).uniqued {
      lines += ["", "\(graph)"] + (sweeps ? thresholds(graph) : Self.aligned([Self.columns] + rows(graph)))
    }
    if !sweeps {
      lines += together()
      lines += [
        "",
        "efficiency: the shortest possible schedule by the makespan. work, path, scheduler: shares of the makespan: all",
        "workers busy, what the longest path takes beyond that, and the rest. steals, wakes: for each task. rank error: how",
        "many queued tasks should have gone first, on average. Medians over seeds.",
      ]
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func rows(_ graph: GraphChoice) -> [[String]] {
    cells.filter { $0.graph == graph }.map { cell in
      func median(_ value: (SimulationResult) -> Double) -> Double {
        Statistics.median(results[cell]!.map(value))
      }
      func percent(_ value: (SimulationResult) -> Double) -> String {
        NumberFormat.significant(100 * median { $0.makespan == 0 ? 0 : value($0) / Double($0.makespan) })
      }
      func each(_ value: (SimulationResult) -> UInt64) -> String {
        NumberFormat.significant(median { Double(value($0)) / Double(max(1, $0.tasks)) })
      }
      let makespan = median { Double($0.makespan) }
      return [
        NumberFormat("ns", cell.work).text(cell.work), cell.backend, "\(cell.workers)",
        NumberFormat("ns", makespan).text(makespan), NumberFormat.significant(median { $0.efficiency }),
        percent(\.workShare), percent(\.pathShare), percent(\.schedulerShare), each { $0.statistics.pool.steals },
        each { $0.statistics.pool.wakes }, percent { Double($0.statistics.idle) / Double($0.workers) },
        NumberFormat.significant(median { $0.rankError }),
      ]
    }
  }

  /// All graphs as one: the makespan over the shortest possible one. Empty when there is one graph.
  private func together() -> [String] {
    let graphs = cells.map(\.graph).uniqued.count
    let counts = cells.map(\.workers).uniqued
    if graphs == 1 { return [] }
    var rows = [["work", "backend"] + counts.map { "\(Count.of($0, "worker"))" }]
    for work in cells.map(\.work).uniqued {
      for backend in cells.map(\.backend).uniqued {
        rows.append(
          [NumberFormat("ns", work).text(work), backend] + counts.map { together(work, backend, workers: $0) })
      }
    }
    let what = "the makespan over the shortest possible one: geometric mean [least, most of the seeds]"
    return ["", "all \(graphs) graphs: \(what)"] + Self.aligned(rows)
  }

  private func together(_ work: Double, _ backend: String, workers: Int) -> String {
    let runs = cells.filter { $0.work == work && $0.backend == backend && $0.workers == workers }.map { results[$0]! }
    let means = (0..<(runs.map(\.count).min() ?? 0)).compactMap { seed in
      Statistics.geometricMean(runs.map { 1 / $0[seed].efficiency })
    }
    guard let least = means.min(), let most = means.max() else { return "-" }
    return NumberFormat.ratio(Statistics.median(means), least...most)
  }

  /// METG at each level: of the medians over the seeds at each granularity.
  private func thresholds(_ graph: GraphChoice) -> [String] {
    let arms = cells.filter { $0.graph == graph }.map { Arm(subject: $0.backend, workers: $0.workers) }.uniqued
    let rows = arms.map { arm in
      let points = cells.filter { $0.graph == graph && $0.backend == arm.subject && $0.workers == arm.workers }
        .map { cell -> METG.Point in
          let makespan = Statistics.median(results[cell]!.map { Double($0.makespan) })
          let utilisation = Statistics.median(results[cell]!.map(\.utilisation))
          let tasks = Double(results[cell]![0].tasks)
          return METG.Point(granularity: makespan * Double(arm.workers) / tasks, efficiency: utilisation)
        }
      return [arm.subject, "\(arm.workers)"] + METG.levels.map { METG.text(try? METG.find(Double($0) / 100, points)) }
    }
    return Self.aligned([["backend", "workers"] + METG.levels.map { "METG(\($0) %)" }] + rows)
  }

  /// Columns of one width each: words to the left, numbers to the right.
  private static func aligned(_ rows: [[String]]) -> [String] {
    let widths = rows[0].indices.map { column in rows.map { TextWidth.of($0[column]) }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).enumerated().map { index, cell in
        let space = String(repeating: " ", count: cell.1 - TextWidth.of(cell.0))
        return rows[0][index] == "backend" ? cell.0 + space : space + cell.0
      }
      return "  " + cells.joined(separator: "  ")
    }
  }
}

extension Array where Element: Hashable {
  /// The elements, each once, in the order in which they first stand.
  fileprivate var uniqued: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
