import HarnessMeasuring
import HarnessPlanning
import HarnessStatistics
import HarnessWords

/// A line of a run's table: a metric of a scenario over all arms.
struct TableLine {
  /// The numbers of one arm.
  struct Cell {
    let estimate: Estimate
    /// The ratio to the reference, from the blocks in which both were measured.
    let ratio: Estimate?
  }

  let scenario: Scenario
  /// The scenario's parameters and the metric's own, such as a level.
  let parameters: Parameters
  let metric: Metric
  let cells: [Arm: Cell]

  /// The lines of a scenario, in the order in which its readings came.
  static func all(_ results: ResultTable, _ planned: PlannedScenario, reference: String) -> [TableLine] {
    let own = results.lines(of: planned.scenario)
    var order: [Parameters] = []
    for line in own where !order.contains(line.scenario.parameters) { order.append(line.scenario.parameters) }
    return order.flatMap { parameters in
      planned.headlines.compactMap { metric -> TableLine? in
        let line = own.first { $0.scenario.parameters == parameters && $0.metric == metric }
        // When allocations could not be counted, their line is empty. Any other metric without rows does not belong to
        // these parameters.
        guard line != nil || planned.countsAllocations && Metric.allocation.contains(metric) else { return nil }
        let cells = (line?.cells ?? [:]).map { arm, processes in
          let logarithms = line?.base(of: arm, reference).map { line!.logarithms(arm, $0) } ?? [:]
          return (
            arm, Cell(estimate: Statistics.estimate(Array(processes.values)), ratio: Pairing.ratio(logarithms.values))
          )
        }
        return TableLine(
          scenario: planned.scenario, parameters: parameters, metric: metric,
          cells: Dictionary(uniqueKeysWithValues: cells))
      }
    }
  }

  /// A curve should cross its level once. The table has the line only when a curve crosses more often.
  var isUnremarkable: Bool { metric == .crossings && cells.values.allSatisfy { $0.estimate.median <= 1 } }
}
