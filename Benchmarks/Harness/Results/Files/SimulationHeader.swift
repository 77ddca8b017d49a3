/// The columns of the CSV of a simulation.
package enum SimulationHeader {
  /// The form of the rows.
  package static let schema = 1

  package static let columns =
    ["kind", "schema", "graph", "sizes", "work_ns", "backend", "workers", "seed", "model", "tasks", "edges"]
    + ["makespan_ns", "efficiency", "utilisation", "total_work_ns", "critical_path_ns"] + limits
    + ["steals", "failed_searches", "looks_in_vain", "lost_races", "from_outside", "wakes", "sleeps", "idle_ns"]
    + ["rank_error_mean", "rank_error_worst"]

  /// What the makespan is made of: every worker busy, the longest path, and the scheduler.
  package static let limits = ["limit_work_ns", "limit_critical_path_ns", "limit_scheduler_ns"]

  /// The columns that are no numbers.
  package static let texts: Set<String> = ["kind", "schema", "graph", "sizes", "backend", "model"]
}
