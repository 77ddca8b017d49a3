import HarnessStatistics

/// The facts that a reader needs of a metric beside its name and unit. The facts are in `X.env.json`, so that the
/// report needs no other source.
package struct MetricFacts: Codable, Hashable, Sendable {
  package enum Side: String, Codable, Sendable { case less, more }

  /// The metric in words.
  package let words: String
  /// The better side; nil for a metric that is neither good nor bad.
  package let better: Side?

  package init(words: String, better: Side?) {
    self.words = words
    self.better = better
  }
}

extension Metric {
  package var facts: MetricFacts { MetricFacts(words: words, better: better) }

  package var better: MetricFacts.Side? {
    // The best efficiency and the best Jain's index are 1, the best speedup is the number of workers, and the best
    // smallest share is 1/n.
    if [.efficiency, .speedup, .minShare, .jain, .capacity, .capacityOfIdeal].contains(self)
      || Metric.throughput.contains(self)
    {
      return .more
    }
    // The laboratory sets the arrival interval, the same for all subjects, and computes what is ideal.
    if self == .arrivalInterval || name.hasPrefix("ideal_") { return nil }
    let costs = [
      "ns", "bytes", "allocations", "percent", "switches", "migrations", "faults", "instructions", "cycles",
    ]
    return costs.contains(unit) || [.lateStarts, .peakPending, .timeOverSerial, .worstLoss].contains(self)
      || isOfDistribution || Metric.slowdowns.contains(self) ? .less : nil
  }

  private var words: String { Self.named[self] ?? percentileWords ?? plainWords }

  static let named: [Metric: String] = [
    .nsPerOp: "time per operation",
    .cpuNsPerOp: "CPU time per operation",
    .nsPerEdge: "time per edge",
    .nsPerCancel: "time per cancelled operation",
    .makespan: "makespan",
    .metg(50): "METG(50 %)",
    .metg(95): "METG(95 %)",
    .allocationsPerOp: "allocations per operation",
    .bytesPerOp: "bytes allocated per operation",
    .pendingBytesPerOp: "bytes per waiting operation",
    .retainedBytesPerOp: "bytes kept per operation",
    .runDelayNsPerOp: "wait for a CPU per operation",
    .speedup: "speed-up over the plain recursion",
    .forkOverhead: "time per operation beyond the plain recursion, one worker",
    .timeOverSerial: "time over the plain recursion",
    .worstLoss: "worst time over the plain recursion",
    .breakEven: "smallest problem that gains from forks",
    .capacity: "highest load",
    .idealCapacity: "highest load of a queue without cost",
    .capacityOfIdeal: "highest load over that of a queue without cost",
    .disturbedRuns: "runs that other guests disturbed",
    .serial: "time of the plain recursion",
    .idleCPUPercent: "CPU while idle",
    .inversion: "priority inversion, mean",
    .inversionMax: "priority inversion, maximum",
    .lateStarts: "bodies begun too late",
    .peakPending: "most operations pending at once",
    .minShare: "smallest share",
    .jain: "Jain's index",
    .peakRSS: "peak memory",
    .stealsPerOp: "jobs taken from other workers, per operation",
    .failedStealsPerOp: "searches that found no job, per operation",
    .wakesPerOp: "sleeping threads woken, per operation",
  ]

  /// Words such as `latency, p99.9` for `latency_p999_ns`, and `rank error, mean`.
  private var percentileWords: String? {
    guard let end = name.dropSuffix("_ns").split(separator: "_").last else { return nil }
    let places = ["mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "maximum"]
    let isSlowdown = (Metric.slowdowns + Metric.idealSlowdowns).contains(self)
    guard let place = places[String(end)], unit == "ns" || isOfDistribution || isSlowdown else { return nil }
    return "\(name.dropSuffix("_ns").dropSuffix("_\(end)").replacing("_", with: " ")), \(place)"
  }

  private var plainWords: String {
    let whole = name.hasSuffix("_per_op") ? name + "eration" : name.dropSuffix("_ns")
    return whole.replacing("_", with: " ")
  }
}

extension String {
  fileprivate func dropSuffix(_ suffix: String) -> String {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
  }
}
