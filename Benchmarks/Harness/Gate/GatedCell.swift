/// A number that is held against its threshold, and how steady it is by nature.
public struct GatedMetric: Hashable, Sendable {
  public enum Tier: Int, Codable, Sendable, CaseIterable {
    /// The same every time. A metric of this tier must be zero.
    case deterministic = 0
    /// Nearly.
    case steady = 1
    case wallClock = 2
  }

  public let metric: Metric
  public let tier: Tier

  public init(_ metric: Metric, _ tier: Tier) {
    self.metric = metric
    self.tier = tier
  }

  /// The smallest threshold that is ever used: 5 % of time; 3 % of CPU time, or of one switch per operation.
  public var leastThreshold: Double {
    switch (GateScale(metric), tier) {
    case (.difference, _): 0.03
    case (.ratio, .wallClock): 1.05
    case (.ratio, _): 1.03
    }
  }

  /// Without a calibration: half of the smallest slowdown that must be caught, which is 20 %.
  public var defaultThreshold: Double { GateScale(metric) == .difference ? 0.1 : 1.1 }
}

/// What one process of the gate measures: a benchmark on a subject, and which of its numbers are held.
public struct GatedCell: Hashable, Sendable {
  public let cell: CellKey
  public let metrics: [GatedMetric]
  /// Whether its allocations are compared with the record.
  public let countsAllocations: Bool
  /// Whether its instructions are counted: those of threads that wait for one another by spinning vary.
  public let countsInstructions: Bool

  public init(
    _ cell: CellKey, _ metrics: [GatedMetric], countsAllocations: Bool = false, countsInstructions: Bool = false
  ) {
    self.cell = cell
    self.metrics = metrics
    self.countsAllocations = countsAllocations
    self.countsInstructions = countsInstructions
  }

  /// The same on another subject.
  public func on(subject: String) -> GatedCell {
    GatedCell(
      CellKey(cell.scenario, Arm(subject: subject, workers: cell.arm.workers)), metrics,
      countsAllocations: countsAllocations, countsInstructions: countsInstructions)
  }

  /// The same with the numbers of one tier alone; nil when it has none.
  public func only(_ tiers: Set<GatedMetric.Tier>) -> GatedCell? {
    let kept = metrics.filter { tiers.contains($0.tier) }
    guard !kept.isEmpty else { return nil }
    return GatedCell(cell, kept, countsAllocations: countsAllocations, countsInstructions: countsInstructions)
  }
}
