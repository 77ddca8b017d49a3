import HarnessResults
import HarnessStatistics
import HarnessWords

/// What results say of limits. What the first result does not hold is looked for in the next.
package struct LimitTable: Sendable {
  package struct Line: Sendable {
    let limit: Limit
    let estimate: Estimate?
    let unit: String
    /// Whether the whole interval is on the right side of the limit, or on the wrong one; nil: not measured.
    package let verdict: Verdict?

    var words: String {
      switch verdict {
      case .less: "met"
      case .more: "missed"
      case .same: "within the interval"
      // Fewer than six blocks have no interval and decide nothing.
      case .open: "too few blocks"
      case nil: "not measured"
      }
    }
  }

  package let lines: [Line]
  /// When and where each result was made, and how much of it counts.
  let results: [String]

  package init(_ limits: [Limit], _ sets: [ResultSet]) throws {
    let numbers = try sets.map { try LimitNumbers($0) }
    results = sets.map(Self.made)
    lines = limits.map { limit in
      for own in numbers {
        guard let estimate = limit.estimate(own.processes) else { continue }
        return Line(
          limit: limit, estimate: estimate, unit: own.unit(limit.cell), verdict: Self.verdict(estimate, limit))
      }
      return Line(limit: limit, estimate: nil, unit: "", verdict: nil)
    }
  }

  private static func verdict(_ estimate: Estimate, _ limit: Limit) -> Verdict {
    guard estimate.interval != nil || limit.isExact == true else { return .open }
    let interval = estimate.interval ?? estimate.median...estimate.median
    return interval.upperBound <= limit.most ? .less : interval.lowerBound > limit.most ? .more : .same
  }

  private static func made(_ set: ResultSet) -> String {
    guard let record = set.record else { return "\(set.name): the environment of this run is not known" }
    let facts = SourceFacts(set)
    let when = record.startedAt.map { "\($0.prefix(10)), " } ?? ""
    return
      "\(set.name): \(when)commit \((record.commit ?? "unknown").prefix(7)), \(record.cpuModel ?? "unknown processor"); "
      + "\(facts.excluded.count) of \(facts.blocks ?? 0) blocks lost CPU time to other guests of the host and do not count"
  }

  /// How many limits have each verdict, in the order of the lines.
  private var tally: String {
    var order: [String] = []
    for line in lines where !order.contains(line.words) { order.append(line.words) }
    return order.map { words in "\(words): \(lines.count { $0.words == words })" }.joined(separator: ", ")
  }

  package func text() -> String {
    let rows = lines.map { line -> [String] in
      [
        line.limit.label, line.text, line.estimate.map { "\($0.count)" } ?? "0", line.limitText, line.words,
      ]
    }
    let table = Table.aligned([["limit", "number [95 % interval]", "blocks", "at most", ""]] + rows)
    return (results + [""] + table + ["", tally]).joined(separator: "\n") + "\n"
  }
}

extension LimitTable.Line {
  private func shown(_ number: Double, _ interval: ClosedRange<Double>?) -> String {
    limit.over == nil ? NumberFormat(unit, number).text(number, interval) : NumberFormat.ratio(number, interval)
  }

  /// The number with its interval; `-` where it was not measured.
  var text: String { estimate.map { shown($0.median, $0.interval) } ?? "-" }

  /// The limit in the unit that suits it.
  var limitText: String {
    guard limit.over == nil else { return "x\(NumberFormat.general(limit.most, digits: 6))" }
    let format = NumberFormat(unit, limit.most)
    return NumberFormat.general(limit.most / format.divisor, digits: 6) + format.suffix
  }
}

/// The numbers of one result that limits ask for.
private struct LimitNumbers {
  private let lines: [[String]: ResultTable.Line]

  init(_ set: ResultSet) throws {
    lines = Dictionary(
      try MeasuredResults([set], reference: nil).table.lines.map {
        ([$0.benchmark, "\($0.scenario.parameters)", $0.metric.name], $0)
      }
    ) { first, _ in first }
  }

  private func line(_ cell: Limit.Cell) -> ResultTable.Line? { lines[[cell.benchmark, cell.params, cell.metric]] }

  /// The median of each process; empty where the result does not have the cell.
  func processes(_ cell: Limit.Cell) -> [Int: Double] {
    let arms = (line(cell)?.cells ?? [:]).filter { arm, _ in
      arm.subject == cell.subject && (cell.workers == nil || arm.workers == cell.workers)
    }
    return arms.max { $0.key.workers < $1.key.workers }?.value ?? [:]
  }

  func unit(_ cell: Limit.Cell) -> String { line(cell)?.metric.unit ?? "" }
}

/// A line of the table for the document of facts.
struct LimitFacts: Encodable {
  let label: String
  let value: Double?
  let low: Double?
  let high: Double?
  let n: Int
  let text: String
  let most: Double
  let mostText: String
  let verdict: String

  init(_ line: LimitTable.Line) {
    let estimate = line.estimate
    (label, value, n) = (line.limit.label, estimate?.median, estimate?.count ?? 0)
    (low, high) = (estimate?.interval?.lowerBound, estimate?.interval?.upperBound)
    (text, most, mostText, verdict) = (line.text, line.limit.most, line.limitText, line.words)
  }
}
