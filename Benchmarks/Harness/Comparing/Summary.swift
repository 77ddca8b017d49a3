import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessStatistics
import HarnessWords

/// Makes the lines of the table from rows: a process is the median of its values, a cell the median of its processes.
package struct Summary: Sendable {
  /// One line of the table: a metric of a scenario, over all arms.
  package struct Line: Sendable {
    package let scenario: Scenario
    /// The scenario's parameters and the metric's own, such as a level.
    package let parameters: Parameters
    package let metric: Metric
    package let cells: [Arm: Cell]
  }

  /// The numbers of one arm on a line.
  package struct Cell: Sendable {
    package let estimate: Estimate
    /// The ratio to the reference, from the blocks in which both were measured.
    package let ratio: Estimate?
    /// The median of each process, by block.
    package let processes: [Int: Double]
  }

  package let lines: [Line]
  /// The lines of the one time that stands for each benchmark, also when the table does not show them.
  package let primaryLines: [Line]

  /// The `excluded` blocks count for no arm, and the tails of `crowded` blocks neither. A cell that failed in one block has
  /// no number from the other blocks either.
  package init(
    _ rows: [Row], plan: Plan, reference: String, excluding excluded: Set<ScenarioBlock> = [],
    crowded: Set<ScenarioBlock> = [], failures: [CellKey: String] = [:]
  ) {
    let used = rows.filter {
      let place = ScenarioBlock($0.cell.scenario, block: $0.block)
      return !excluded.contains(place) && failures[$0.cell] == nil
        && !($0.reading.metric.isTail && crowded.contains(place))
    }
    let byScenario = Dictionary(grouping: used) { $0.cell.scenario }
    lines = plan.scenarios.flatMap { planned in
      Self.lines(byScenario[planned.scenario] ?? [], planned, planned.headlines, reference: reference)
    }
    let primaryTimes = used.primaryTimes
    primaryLines = plan.scenarios.flatMap { planned -> [Line] in
      guard let primary = primaryTimes[planned.scenario.name] else { return [] }
      return Self.lines(byScenario[planned.scenario] ?? [], planned, [primary], reference: reference)
    }
  }

  private static func lines(
    _ rows: [Row], _ planned: PlannedScenario, _ metrics: [Metric], reference: String
  ) -> [Line] {
    var order: [Parameters] = []
    for row in rows where !order.contains(row.parameters) { order.append(row.parameters) }
    return order.flatMap { parameters in
      metrics.compactMap { metric in
        let cells = cells(
          rows.filter { $0.parameters == parameters && $0.reading.metric == metric }, reference: reference)
        // When allocations could not be counted, their line is empty. Any other metric without rows does not belong to
        // these parameters.
        let isMissingCount = planned.countsAllocations && Metric.allocation.contains(metric)
        guard !cells.isEmpty || isMissingCount else { return nil }
        return Line(scenario: planned.scenario, parameters: parameters, metric: metric, cells: cells)
      }
    }
  }

  private static func cells(_ rows: [Row], reference: String) -> [Arm: Cell] {
    let processes = Dictionary(grouping: rows) { $0.cell.arm }.mapValues(processNumbers)
    return processes.reduce(into: [:]) { cells, entry in
      let (arm, numbers) = entry
      var ratio: Estimate?
      if let base = Arm.reference(reference, for: arm, among: processes.keys), base != arm {
        ratio = Pairing.ratio(Pairing.logarithms(of: numbers, over: processes[base] ?? [:]).values)
      }
      cells[arm] = Cell(estimate: Statistics.estimate(Array(numbers.values)), ratio: ratio, processes: numbers)
    }
  }

  /// The geometric means of the arms' times. Each benchmark counts with its primary time. With a family, the means are
  /// over the benchmarks of that family alone.
  /// - Parameter ours: the subjects that say over which lines means stand together; nil: all but the reference.
  package func means(
    _ arms: [Arm], ours: Set<String>? = nil, reference: String, family: String? = nil, seed: UInt64
  ) -> CommonMeans {
    let lines = primaryLines.filter { family == nil || $0.scenario.name.family == family }.map { line in
      CommonMeans.Line(benchmark: "\(line.scenario.name)", numbers: line.cells.mapValues(\.processes))
    }
    return CommonMeans(lines, arms: arms, ours: ours, reference: reference, seed: seed)
  }

  /// The median of each process, by block. An arm has one process in each block.
  package static func processNumbers(_ rows: [Row]) -> [Int: Double] {
    Dictionary(grouping: rows, by: \.block).mapValues { Statistics.median($0.map(\.reading.value)) }
  }
}
