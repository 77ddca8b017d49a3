import Harness
import VirtualScheduling

/// The CSV of a simulation: a row for each run. The first column says that no CPU ran the tasks.
package enum SimulationRows {
  /// The form of the rows.
  package static let schema = 1

  package static let header = [
    "kind", "schema", "graph", "sizes", "work_ns", "backend", "workers", "seed", "model", "tasks", "edges",
    "makespan_ns", "efficiency", "utilisation", "total_work_ns", "critical_path_ns", "limit_work_ns",
    "limit_critical_path_ns", "limit_scheduler_ns", "steals", "failed_searches", "looks_in_vain", "lost_races",
    "from_outside", "wakes", "sleeps", "idle_ns", "rank_error_mean", "rank_error_worst",
  ]

  package static func line(
    _ cell: SimulationPlan.Cell, seed: UInt64, model: String, _ result: SimulationResult
  ) -> String {
    let counts = result.statistics
    let numbers: [Double] = [
      Double(result.tasks), Double(result.edges), Double(result.makespan), result.efficiency, result.utilisation,
      Double(result.totalWork), Double(result.criticalPath), result.workShare, result.pathShare,
      result.schedulerShare, Double(counts.pool.steals), Double(counts.pool.failedSearches), Double(counts.looksInVain),
      Double(counts.lostRaces), Double(counts.pool.fromOutside), Double(counts.pool.wakes), Double(counts.pool.sleeps),
      Double(counts.idle), result.rankError, Double(counts.worstRankError),
    ]
    return CSV.line(
      [
        "simulated", "\(schema)", cell.graph.name, cell.graph.sizes, CSV.number(cell.work), cell.backend,
        "\(cell.workers)", "\(seed)", model,
      ] + numbers.map(CSV.number))
  }
}
