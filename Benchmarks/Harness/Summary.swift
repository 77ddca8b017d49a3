/// One line of the table: a metric of a scenario, over all arms.
public struct SummaryLine: Sendable {
  public let scenario: Scenario
  /// The scenario's parameters and the metric's own, such as a level.
  public let parameters: Parameters
  public let metric: Metric
  public let cells: [Arm: SummaryCell]
}

/// What one arm has on a line.
public struct SummaryCell: Sendable {
  public let estimate: Estimate
  /// To the reference, from the blocks in which both were measured.
  public let ratio: Estimate?
}

/// From rows to the lines of the table: a process is the median of its values, a cell the median of its processes.
public struct Summary: Sendable {
  public let lines: [SummaryLine]

  /// `excluded` blocks count for no arm, and a cell that failed in one block has no number from the others either.
  public init(
    _ rows: [Row], plan: Plan, reference: String, excluding excluded: Set<ScenarioBlock> = [],
    failures: [CellKey: String] = [:]
  ) {
    let used = rows.filter {
      !excluded.contains(ScenarioBlock($0.cell.scenario, block: $0.block)) && failures[$0.cell] == nil
    }
    let byScenario = Dictionary(grouping: used) { $0.cell.scenario }
    lines = plan.scenarios.flatMap { planned in
      Self.lines(byScenario[planned.scenario] ?? [], planned, reference: reference)
    }
  }

  private static func lines(_ rows: [Row], _ planned: PlannedScenario, reference: String) -> [SummaryLine] {
    var order: [Parameters] = []
    for row in rows where !order.contains(row.parameters) { order.append(row.parameters) }
    return order.flatMap { parameters in
      planned.headlines.compactMap { metric in
        let cells = cells(
          rows.filter { $0.parameters == parameters && $0.reading.metric == metric }, reference: reference)
        // A count that nobody could make is an empty line; any other metric without rows does not belong to these
        // parameters.
        let isMissingCount = planned.countsAllocations && Metric.allocation.contains(metric)
        guard !cells.isEmpty || isMissingCount else { return nil }
        return SummaryLine(scenario: planned.scenario, parameters: parameters, metric: metric, cells: cells)
      }
    }
  }

  private static func cells(_ rows: [Row], reference: String) -> [Arm: SummaryCell] {
    let processes = Dictionary(grouping: rows) { $0.cell.arm }.mapValues(processNumbers)
    let base = processes.first { $0.key.subject == reference }
    return processes.reduce(into: [:]) { cells, entry in
      let (arm, numbers) = entry
      var ratio: Estimate?
      if let base, base.key != arm {
        ratio = Statistics.pairedRatio(
          numbers.sorted { $0.key < $1.key }.compactMap { block, value in base.value[block].map { (value, $0) } })
      }
      cells[arm] = SummaryCell(estimate: Statistics.estimate(Array(numbers.values)), ratio: ratio)
    }
  }

  /// By block; an arm has one process in each.
  static func processNumbers(_ rows: [Row]) -> [Int: Double] {
    Dictionary(grouping: rows, by: \.block).mapValues { Statistics.median($0.map(\.reading.value)) }
  }
}
