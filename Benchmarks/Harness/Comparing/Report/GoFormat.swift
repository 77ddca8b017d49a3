import FoundationEssentials
import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// The Go project's benchmark format, which `benchstat` reads: a line per process with all its metrics.
package enum GoFormat {
  /// `benchstat -col /backend FILE` compares subjects, `benchstat -col file FILE` the files.
  ///
  /// Throws when two cells of a result would have the same name: `benchstat` would take their numbers for one cell's.
  package static func text(_ sets: [ResultSet]) throws -> String {
    try sets.map { set in
      try checkNames(set)
      return "file: \(set.name)\n" + lines(set.rows).map { "\($0)\n" }.joined()
    }.joined(separator: "\n")
  }

  private static func checkNames(_ set: ResultSet) throws {
    var cells: [String: CellKey] = [:]
    for cell in set.rows.map(\.cell) {
      let name = name(cell)
      guard let other = cells.updateValue(cell, forKey: name), other != cell else { continue }
      throw Complaint(
        .badInput,
        "\(set.name): \(other) and \(cell) would both be \(name) in Go's format; --benchmark takes one of the two")
    }
  }

  private struct Process: Hashable {
    let cell: CellKey
    let number: Int
    let run: String
  }

  static func lines(_ rows: [Row]) -> [String] {
    var order: [Process] = []
    var values: [Process: [(metric: Metric, numbers: [Double], count: Int)]] = [:]
    for row in rows {
      let process = Process(cell: row.cell, number: row.process, run: row.runID)
      if values[process] == nil { order.append(process) }
      if let place = values[process, default: []].firstIndex(where: { $0.metric == row.reading.metric }) {
        values[process]![place].numbers.append(row.reading.value)
        values[process]![place].count = max(values[process]![place].count, row.reading.count)
      } else {
        values[process, default: []].append((row.reading.metric, [row.reading.value], row.reading.count))
      }
    }
    return order.map { process in
      let metrics = values[process] ?? []
      let numbers = metrics.map { "\(CSV.number(Statistics.median($0.numbers))) \(unit($0.metric))" }
      let count = max(1, metrics.map(\.count).max() ?? 1)
      return "\(name(process.cell)) \(count) \(numbers.joined(separator: " "))"
    }
  }

  /// A name such as `BenchmarkOverhead/external-add/ops=10000/backend=stealing-2`. The number at the end is the number
  /// of workers.
  private static func name(_ cell: CellKey) -> String {
    let family = cell.scenario.name.family
    let parameters = "\(cell.scenario.parameters)".split(separator: ";").map { "/\($0)" }.joined()
    let text =
      "Benchmark\(family.prefix(1).uppercased())\(family.dropFirst())/\(cell.scenario.name.benchmark)\(parameters)"
      + "/backend=\(cell.arm.subject)-\(cell.arm.workers)"
    return String(text.map { $0.isWhitespace ? "_" : $0 })
  }

  /// The unit of a metric, with Go's own name where Go has a name for the unit.
  private static func unit(_ metric: Metric) -> String {
    switch metric.name {
    case "ns_per_op": "ns/op"
    case "allocations_per_op": "allocs/op"
    case "bytes_per_op": "B/op"
    default: metric.name
    }
  }
}
