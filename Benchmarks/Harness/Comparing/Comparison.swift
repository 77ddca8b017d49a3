import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// Ratios of the cells that two results have in common, or of the cells that two subjects of one result have in common.
package struct Comparison: Sendable {
  package let lines: [Line]
  /// The geometric mean of each arm over its own lines; in one file, the mean against the reference.
  package let means: [(arm: Arm, against: String, mean: GeometricMean, lines: Int)]
  /// In one file, the geometric means that are over the same benchmarks.
  package let common: CommonMeans?
  package let sides: Sides
  /// A sentence that says how A and B were paired.
  package let pairing: String
  package let widening: Widening
  /// The cells that are not shown, because a result lacks them or they failed: a line each.
  package let missing: [String]
  /// The conditions in which two results differ: a line each.
  package let conditions: [String]
  /// The machines of the later result, and the ratios on which kinds of machines disagree.
  package let machines: Machines?
  /// Which versions of schedulers in other languages the later result measured; nil when there are none.
  package let peers: String?
  package let disagreements: [KindDisagreement]

  /// The metrics that are compared: the primary time of each benchmark, or the metrics that pass a test.
  package enum Metrics: Sendable {
    case primary
    case matching(@Sendable (String) -> Bool)

    func lines(_ table: ResultTable) -> [ResultTable.Line] {
      guard case .matching(let passes) = self else { return table.primaryLines }
      let asked = Set(table.lines.map(\.metric.name)).filter(passes)
      return table.lines.filter { asked.contains($0.metric.name) }
    }
  }

  /// Every other arm of one result against the reference.
  package init(_ set: ResultSet, reference: String, metrics: Metrics, seed: UInt64) throws {
    let table = ResultTable(set.rows, primary: set.primaryTimes)
    let lines = metrics.lines(table)
    let shown = Set(lines.map(\.metric.name))
    let order = set.arms
    guard order.contains(where: { Arm.reference(reference, for: $0, among: [$0]) != nil }) else {
      let names = Set(order.map(\.subject)).sorted()
      throw Complaint(
        .usage,
        "\(set.name) has no '\(reference)' for --reference to compare with\(Suggestion.words(for: reference, among: names))"
      )
    }
    let pairs = lines.flatMap { line in
      order.compactMap { arm -> Pair? in
        guard let own = line.cells[arm], let base = line.base(of: arm, reference) else { return nil }
        return Pair(line, arm, "\(base)", own, line.cells[base]!)
      }
    }
    let alone = Set(
      lines.flatMap { line in
        line.cells.keys.filter { Arm.reference(reference, for: $0, among: line.cells.keys) == nil }
          .map { CellKey(line.owner, $0) }
      }
    ).count
    let left = alone == 0 ? "" : "; without \(reference) beside it, and so left out: \(Count.of(alone, "cell"))"
    self.init(
      pairs, of: table, .subjects(of: set.name, reference: reference),
      common: table.means(order, ours: set.ours, reference: reference, seed: seed) { shown.contains($0.metric.name) },
      pairing: "paired by block within the run\(left)", missing: MissingCells(set).lines, conditions: [], shown: set,
      seed: seed)
  }

  /// The cells that two results have in common: A is the later result, B the earlier result.
  package init(before b: ResultSet, after a: ResultSet, metrics: Metrics, seed: UInt64) throws {
    let runs = Set(a.rows.map(\.runID))
    let isOneRun = runs == Set(b.rows.map(\.runID))
    // Results of one machine each are compared although the machines may differ: that is what was asked for.
    let matchHosts = max(a.machines?.count ?? 1, b.machines?.count ?? 1) > 1
    let left = ResultTable(
      a.rows, primary: a.primaryTimes, byRun: isOneRun, byHost: matchHosts, numberedWith: b.rows)
    let right = ResultTable(
      b.rows, primary: b.primaryTimes, byRun: isOneRun, byHost: matchHosts, numberedWith: a.rows)
    let order = a.arms
    let pairs = metrics.lines(left).flatMap { line in
      let others = right.line(line.scenario, line.metric)?.cells ?? [:]
      return order.compactMap { arm -> Pair? in
        guard let own = line.cells[arm], let other = others[arm] else { return nil }
        return Pair(line, arm, b.name, own, other)
      }
    }
    if matchHosts, !pairs.isEmpty, !pairs.contains(where: \.hasPlaces) {
      throw Complaint(
        .badInput, "\(b.name) and \(a.name) have no block in common on one machine: ratios pair blocks of one machine")
    }
    guard !pairs.isEmpty else {
      throw Complaint(.badInput, "\(b.name) and \(a.name) have no cell in common that --metric asks for")
    }
    let missing = MissingCells(
      before: b, after: a, onlyBefore: Self.missing(metrics.lines(right), in: left),
      onlyAfter: Self.missing(metrics.lines(left), in: right),
      unpaired: pairs.reduce(into: [:]) { cells, pair in
        guard pair.logarithms.isEmpty else { return }
        cells[CellKey(pair.line.owner, pair.arm), default: []].insert(pair.line.metric.name)
      })
    let pairing =
      isOneRun
      ? "paired by block of one run"
      : "paired by \(matchHosts ? "machine and " : "")block number; the runs were made at different times, and what changed between "
        + "them is in the ratios\(Self.otherMachine(b, a))"
    self.init(
      pairs, of: left, .results(before: b.name, after: a.name), common: nil, pairing: pairing, missing: missing.lines,
      conditions: Conditions.differences(before: b.record, after: a.record), shown: a, seed: seed)
  }

  /// The cells of lines that another result lacks, with the metrics in question.
  private static func missing(_ lines: [ResultTable.Line], in other: ResultTable) -> [CellKey: Set<String>] {
    lines.reduce(into: [:]) { cells, line in
      let known = other.line(line.scenario, line.metric)?.cells ?? [:]
      for arm in line.cells.keys where known[arm] == nil {
        cells[CellKey(line.owner, arm), default: []].insert(line.metric.name)
      }
    }
  }

  /// What to say of two results of one machine each, when the machines differ.
  private static func otherMachine(_ before: ResultSet, _ after: ResultSet) -> String {
    guard let first = before.machines, let second = after.machines, first.count == 1, second.count == 1,
      first.kinds[0].hosts != second.kinds[0].hosts
    else { return "" }
    return ", and so is the machine: \(first.kinds[0].hosts[0]) before, \(second.kinds[0].hosts[0]) after"
  }

  private struct Pair {
    let line: ResultTable.Line
    let arm: Arm
    let against: String
    let a: ResultTable.Processes
    let b: ResultTable.Processes

    /// Empty when there is no ratio.
    let logarithms: ResultTable.Processes

    init(
      _ line: ResultTable.Line, _ arm: Arm, _ against: String, _ a: ResultTable.Processes, _ b: ResultTable.Processes
    ) {
      (self.line, self.arm, self.against, self.a, self.b) = (line, arm, against, a, b)
      logarithms = Pairing.logarithms(of: a, over: b)
    }

    var hasPlaces: Bool { a.keys.contains { b[$0] != nil } }
  }

  private init(
    _ pairs: [Pair], of table: ResultTable, _ sides: Sides, common: CommonMeans?, pairing: String,
    missing: [String], conditions: [String], shown: ResultSet, seed: UInt64
  ) {
    (self.missing, self.conditions) = (missing, conditions)
    machines = shown.machines
    peers = shown.record?.peersSentence
    disagreements =
      machines.map { machines in
        KindDisagreement.all(
          pairs.map { pair in
            KindDisagreement.Series(
              what: "\(pair.line.scenario) \(pair.line.metric.name), \(pair.arm) to \(pair.against)",
              logarithms: table.byKind(pair.logarithms, machines))
          })
      } ?? []
    (self.sides, self.common, self.pairing) = (sides, common, pairing)
    let widening = Widening(comparisons: pairs.count { SignedRank.coverage($0.logarithms.count) != nil })
    self.widening = widening
    let lines = pairs.compactMap { pair -> Line? in
      let count = pair.logarithms.count
      let confidence = widening.confidence(of: count) ?? Widening.familyConfidence
      guard let ratio = Pairing.ratio(pair.logarithms.values, confidence: confidence) else { return nil }
      return Line(
        scenario: pair.line.scenario, metric: pair.line.metric, isPrimary: table.isPrimary(pair.line), arm: pair.arm,
        against: pair.against,
        a: Statistics.median(pair.logarithms.keys.map { pair.a[$0]! }),
        b: Statistics.median(pair.logarithms.keys.map { pair.b[$0]! }), ratio: ratio,
        logarithms: pair.logarithms)
    }
    self.lines = lines
    var arms: [Arm] = []
    for line in lines where !arms.contains(line.arm) { arms.append(line.arm) }
    means = arms.compactMap { arm in
      let used = lines.filter { $0.arm == arm && $0.isPrimary }
      return GeometricMean(
        used.map { RatioSeries(benchmark: "\($0.scenario.name)", logarithms: $0.logarithms) }, seed: seed
      ).map { (arm, used[0].against, $0, used.count) }
    }
  }
}
