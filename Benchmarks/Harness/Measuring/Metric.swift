/// A metric of schema 1. A name is never given another meaning or unit within a schema number.
package struct Metric: Hashable, Sendable {
  package let name: String
  package let unit: String

  package init(_ name: String, unit: String) {
    self.name = name
    self.unit = unit
  }

  package static let nsPerOp = Metric("ns_per_op", unit: "ns")
  package static let cpuNsPerOp = Metric("cpu_ns_per_op", unit: "ns")
  package static let voluntarySwitchesPerOp = Metric("voluntary_switches_per_op", unit: "switches")
  package static let involuntarySwitchesPerOp = Metric("involuntary_switches_per_op", unit: "switches")
  package static let nsPerEdge = Metric("ns_per_edge", unit: "ns")
  package static let makespan = Metric("makespan_ns", unit: "ns")
  package static let efficiency = Metric("efficiency", unit: "ratio")
  package static let allocationsPerOp = Metric("allocations_per_op", unit: "allocations")
  package static let bytesPerOp = Metric("bytes_per_op", unit: "bytes")
  /// Counts of a process in which the library uses no memory again: they do not depend on which thread is ahead.
  package static let freshAllocationsPerOp = Metric("fresh_allocations_per_op", unit: "allocations")
  package static let freshBytesPerOp = Metric("fresh_bytes_per_op", unit: "bytes")
  /// The bytes that each operation holds while the operation waits in a suspended queue.
  package static let pendingBytesPerOp = Metric("pending_bytes_per_op", unit: "bytes")
  /// The bytes per operation that are in use after counted operations and were not in use before them: what a leak
  /// leaves behind.
  package static let retainedBytesPerOp = Metric("retained_bytes_per_op", unit: "bytes")
  package static let nsPerCancel = Metric("ns_per_cancel", unit: "ns")
  package static let lateStarts = Metric("late_starts", unit: "operations")
  /// In one repeat, the operations whose body ran, and the operations that were cancelled before their body ran.
  package static let executed = Metric("executed", unit: "operations")
  package static let cancelled = Metric("cancelled", unit: "operations")
  /// How long an operation stayed ready while an operation of lower priority ran that had started later: the mean over
  /// all operations, and the longest time.
  package static let inversion = Metric("inversion_ns", unit: "ns")
  package static let inversionMax = Metric("inversion_max_ns", unit: "ns")
  /// Jain's index of the shares of several: (sum x)^2 / (n * sum x^2). The index is 1 when all got the same, and 1/n
  /// when one got all.
  package static let jain = Metric("jain", unit: "ratio")
  /// The largest number of operations at one time that were added and had not started.
  package static let peakPending = Metric("peak_pending", unit: "operations")
  /// The smallest share of the whole; 1/n when all got the same.
  package static let minShare = Metric("min_share", unit: "ratio")

  /// The metrics of `Elapsed`.
  package static let cost = [nsPerOp, cpuNsPerOp, voluntarySwitchesPerOp, involuntarySwitchesPerOp]
  /// The metrics that the counting process reports.
  package static let allocation = [allocationsPerOp, bytesPerOp]

  package static let itemsPerSecond = Metric("items_per_second", unit: "items/s")
  package static let bytesPerSecond = Metric("bytes_per_second", unit: "bytes/s")
  /// The metrics of a benchmark that says how many items or bytes an operation handles.
  package static let throughput = [itemsPerSecond, bytesPerSecond]

  package static let threadsCreated = Metric("threads_created", unit: "threads")
  package static let peakRSS = Metric("peak_rss", unit: "bytes")
  /// How long threads were ready to run and had no CPU.
  package static let runDelayNsPerOp = Metric("run_delay_ns_per_op", unit: "ns")
  package static let contextSwitchesPerOp = Metric("context_switches_per_op", unit: "switches")
  package static let migrationsPerOp = Metric("migrations_per_op", unit: "migrations")
  package static let pageFaultsPerOp = Metric("page_faults_per_op", unit: "faults")
  package static let instructionsPerOp = Metric("instructions_per_op", unit: "instructions")
  package static let cyclesPerOp = Metric("cycles_per_op", unit: "cycles")

  package static let stealsPerOp = Metric("steals_per_op", unit: "steals")
  package static let failedStealsPerOp = Metric("failed_steals_per_op", unit: "searches")
  package static let wakesPerOp = Metric("wakes_per_op", unit: "wakes")
  /// What a subject reports that counts what its threads do; see `SchedulerCounts`.
  package static let scheduling = [stealsPerOp, failedStealsPerOp, wakesPerOp]

  /// The metrics that every timed process reports once, with any benchmark; see `ProcessCost`, `SchedulerCounts` and
  /// `PerfCount`.
  package static let process = [threadsCreated, peakRSS, runDelayNsPerOp] + scheduling + PerfEvent.all.map(\.metric)

  /// The metrics that every counting process reports once, with any benchmark.
  package static let counting = [retainedBytesPerOp]

  /// Whether the laboratory itself gives a metric of this name, so that a benchmark of one's own cannot.
  package static func isBuiltIn(_ name: String) -> Bool {
    let reported = cost + throughput + allocation + process + counting
    return (reported + named.keys).contains { $0.name == name }
  }

  /// The metrics `prefix_mean`, `prefix_p99` and `prefix_max`, counted in operations.
  package static func distribution(_ prefix: String) -> [Metric] {
    ["mean", "p99", "max"].map { Metric("\(prefix)_\($0)", unit: "operations") }
  }

  /// Whether the metric is one of a distribution.
  package var isOfDistribution: Bool {
    unit == "operations" && ["_mean", "_p99", "_max"].contains(where: name.hasSuffix)
  }

  /// The one time that stands for a benchmark where benchmarks are averaged: the first metric of the list that the
  /// benchmark reports, or else a median latency. Costs beside the time, and tails, do not stand for a benchmark.
  package static func primaryTime(of metrics: some Sequence<Metric>) -> Metric? {
    let times = metrics.filter { $0.unit == "ns" }
    for name in ["ns_per_op", "ns_per_task", "ns_per_cancel", "makespan_ns", "metg50_ns"] {
      if let metric = times.first(where: { $0.name == name }) { return metric }
    }
    return times.filter { $0.name.hasSuffix("_p50_ns") }.min { $0.name < $1.name }
  }

  /// Whether the metric is a difference of two times. When the interval of a difference holds zero, only the bound is
  /// known.
  package var isDifference: Bool { name.hasSuffix("_overhead_ns") }
}

extension Metric {
  package static let idleCPUPercent = Metric("idle_cpu_percent", unit: "percent")
  package static let speedup = Metric("speedup", unit: "ratio")
  /// What a task or an iteration takes beyond the serial program of its own language, with one worker.
  package static let forkOverhead = Metric("fork_overhead_ns", unit: "ns")
  /// The time of a problem that forks over the time of the plain recursion: see `BreakEven`.
  package static let timeOverSerial = Metric("time_over_serial", unit: "ratio")
  package static let worstLoss = Metric("worst_loss", unit: "ratio")
  package static let breakEven = Metric("break_even_ns", unit: "ns")
  /// The time of the plain recursion, which the program of a peer gives beside its makespan.
  package static let serial = Metric("serial_ns", unit: "ns")
  /// The mean time between the intended starts of an open loop: the same for every subject of a run.
  package static let arrivalInterval = Metric("arrival_interval_ns", unit: "ns")
  /// The highest load at which a service level holds, in percent of the workers' time: see `ServiceLevel`. 0 where it
  /// does not hold at the least load.
  package static let capacity = Metric("capacity_percent", unit: "percent")
  /// That of one queue without any cost, and the share of it that a subject has.
  package static let idealCapacity = Metric("ideal_capacity_percent", unit: "percent")
  package static let capacityOfIdeal = Metric("capacity_of_ideal", unit: "ratio")
  /// The runs of a search that did not count, since other guests of the host had the CPUs.
  package static let disturbedRuns = Metric("disturbed_runs", unit: "runs")
  /// The time that a request is there over the time that it takes, at one load: by percentile, of a subject and of a
  /// queue without any cost.
  package static let slowdowns = ["p50", "p99", "p999"].map { Metric("slowdown_\($0)", unit: "ratio") }
  package static let idealSlowdowns = slowdowns.map { Metric("ideal_\($0.name)", unit: $0.unit) }
  /// How often a curve of efficiency over granularity passes the level asked for. More than one crossing means noise.
  package static let crossings = Metric("crossings", unit: "crossings")

  /// The smallest average task granularity that still reaches the given share of the peak.
  package static func metg(_ percent: Int) -> Metric { Metric("metg\(percent)_ns", unit: "ns") }
}
