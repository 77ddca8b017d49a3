import HarnessWords

/// What one process of the gate measures: a benchmark on a subject, and which of its metrics are gated.
package struct GatedCell: Hashable, Sendable {
  package let cell: CellKey
  package let metrics: [GatedMetric]
  /// Whether its allocations are compared with the record.
  package let countsAllocations: Bool
  /// Whether its instructions are counted. The instructions of threads that wait for one another by spinning vary.
  package let countsInstructions: Bool

  package init(
    _ cell: CellKey, _ metrics: [GatedMetric], countsAllocations: Bool = false, countsInstructions: Bool = false
  ) {
    (self.cell, self.metrics) = (cell, metrics)
    (self.countsAllocations, self.countsInstructions) = (countsAllocations, countsInstructions)
  }

  /// Makes a copy of the cell on another subject.
  package func on(subject: String) -> GatedCell {
    GatedCell(
      CellKey(cell.scenario, Arm(subject: subject, workers: cell.arm.workers)), metrics,
      countsAllocations: countsAllocations, countsInstructions: countsInstructions)
  }

  /// Makes a copy of the cell with the metrics of the given tiers alone; nil when the cell has none.
  package func only(_ tiers: Set<GatedMetric.Tier>) -> GatedCell? {
    let kept = metrics.filter { tiers.contains($0.tier) }
    guard !kept.isEmpty else { return nil }
    return GatedCell(cell, kept, countsAllocations: countsAllocations, countsInstructions: countsInstructions)
  }
}
