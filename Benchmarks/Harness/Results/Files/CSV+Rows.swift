import HarnessWords

/// The columns of schema 2, the one that is written and read.
extension CSV {
  package static let schema = 2

  package static let header = [
    "schema", "run_id", "block", "process", "value_index", "family", "benchmark", "params", "backend", "workers",
    "metric", "unit", "value", "n", "host",
  ]

  package static func line(_ row: Row) -> String {
    line([
      "\(schema)", row.runID, "\(row.block)", "\(row.process)", "\(row.valueIndex)", row.cell.scenario.name.family,
      row.cell.scenario.name.benchmark, row.parameters.description, row.cell.arm.subject, "\(row.cell.arm.workers)",
      row.reading.metric.name, row.reading.metric.unit, number(row.reading.value), "\(row.reading.count)", row.host,
    ])
  }
}
