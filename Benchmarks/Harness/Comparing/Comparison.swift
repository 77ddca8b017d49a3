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
  package let disagreements: [KindDisagreement]

  /// The processes of one arm on one line: the median of each process, by machine and block.
  typealias Processes = [PairKey: Double]

  struct PairKey: Hashable, Comparable {
    let run: String
    let host: String
    let block: Int

    static func < (left: PairKey, right: PairKey) -> Bool {
      (left.run, left.host, left.block) < (right.run, right.host, right.block)
    }
  }

  private struct LineKey: Hashable {
    let scenario: Scenario
    let metric: Metric
  }

  /// The metrics that are compared: the primary time of each benchmark, or the metrics that pass a test.
  package enum Metrics: Sendable {
    case primary
    case matching(@Sendable (String) -> Bool)
  }

  /// Every other arm of one result against the reference.
  package init(_ set: ResultSet, reference: String, metrics: Metrics, seed: UInt64) throws {
    let cells = Self.cells(set.rows, metrics, matchRuns: true, matchHosts: true)
    let order = set.arms
    guard set.rows.contains(where: { Arm.reference(reference, for: $0.cell.arm, among: [$0.cell.arm]) != nil }) else {
      let names = Set(set.rows.map(\.cell.arm.subject)).sorted()
      throw Complaint(
        .usage,
        "\(set.name) has no '\(reference)' for --reference to compare with\(Suggestion.words(for: reference, among: names))"
      )
    }
    let pairs = cells.order.flatMap { key, arms in
      arms.inOrder(order).compactMap { arm -> Pair? in
        guard let base = Arm.reference(reference, for: arm, among: arms.order), base != arm else { return nil }
        return Pair(key: key, arm: arm, against: "\(base)", a: arms[arm], b: arms[base])
      }
    }
    let primary = set.rows.primaryTimes
    let times = cells.order.filter { primary[$0.0.scenario.name] == $0.0.metric }.map { key, arms in
      (key, Dictionary(uniqueKeysWithValues: arms.order.map { ($0, arms[$0]) }))
    }
    let numbers = Self.numbers(times.flatMap { $0.1.values.flatMap(\.keys) })
    let lines = times.map { key, arms in
      CommonMeans.Line(
        benchmark: "\(key.scenario.name)",
        numbers: arms.mapValues { Dictionary(uniqueKeysWithValues: $0.map { (numbers[$0.key]!, $0.value) }) })
    }
    let alone = Set(
      cells.order.flatMap { key, arms in
        arms.inOrder(order).filter { Arm.reference(reference, for: $0, among: arms.order) == nil }
          .map { CellKey(key.scenario, $0) }
      }
    ).count
    let left = alone == 0 ? "" : "; without \(reference) beside it, and so left out: \(Count.of(alone, "cell"))"
    self.init(
      pairs, .subjects(of: set.name, reference: reference), primary: primary,
      common: CommonMeans(lines, arms: order, ours: set.ours, reference: reference, seed: seed),
      pairing: "paired by block within the run\(left)", missing: MissingCells(set).lines, conditions: [],
      machines: set.machines, seed: seed)
  }

  /// The cells that two results have in common: A is the later result, B the earlier result.
  package init(before b: ResultSet, after a: ResultSet, metrics: Metrics, seed: UInt64) throws {
    let runs = Set(a.rows.map(\.runID))
    let isOneRun = runs == Set(b.rows.map(\.runID))
    // Results of one machine each are compared although the machines may differ: that is what was asked for.
    let matchHosts = max(a.machines?.count ?? 1, b.machines?.count ?? 1) > 1
    let left = Self.cells(a.rows, metrics, matchRuns: isOneRun, matchHosts: matchHosts)
    let right = Self.cells(b.rows, metrics, matchRuns: isOneRun, matchHosts: matchHosts)
    let order = a.arms
    let pairs = left.order.flatMap { key, arms in
      arms.inOrder(order).compactMap { arm -> Pair? in
        guard let others = right.index[key].map({ right.order[$0].1 }), others.contains(arm) else { return nil }
        return Pair(key: key, arm: arm, against: b.name, a: arms[arm], b: others[arm])
      }
    }
    if matchHosts, !pairs.isEmpty, pairs.allSatisfy({ $0.places.isEmpty }) {
      throw Complaint(
        .badInput, "\(b.name) and \(a.name) have no block in common on one machine: ratios pair blocks of one machine")
    }
    guard !pairs.isEmpty else {
      throw Complaint(.badInput, "\(b.name) and \(a.name) have no cell in common that --metric asks for")
    }
    let missing = MissingCells(
      before: b, after: a, onlyBefore: Self.missing(right, in: left), onlyAfter: Self.missing(left, in: right),
      unpaired: pairs.reduce(into: [:]) { cells, pair in
        guard pair.logarithms.isEmpty else { return }
        cells[CellKey(pair.key.scenario, pair.arm), default: []].insert(pair.key.metric.name)
      })
    let pairing =
      isOneRun
      ? "paired by block of one run"
      : "paired by \(matchHosts ? "machine and " : "")block number; the runs were made at different times, and what changed between "
        + "them is in the ratios\(Self.otherMachine(b, a))"
    self.init(
      pairs, .results(before: b.name, after: a.name), primary: a.rows.primaryTimes, common: nil, pairing: pairing,
      missing: missing.lines, conditions: Conditions.differences(before: b.record, after: a.record),
      machines: a.machines, seed: seed)
  }

  /// The cells of `all` that `some` lacks, with the metrics in question.
  private static func missing(
    _ all: Ordered<LineKey, Arms>, in some: Ordered<LineKey, Arms>
  ) -> [CellKey: Set<String>] {
    all.order.reduce(into: [:]) { cells, entry in
      let (key, arms) = entry
      let others = some.index[key].map { some.order[$0].1 }
      for arm in arms.order where others?.contains(arm) != true {
        cells[CellKey(key.scenario, arm), default: []].insert(key.metric.name)
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
    let key: LineKey
    let arm: Arm
    let against: String
    let a: Processes
    let b: Processes

    /// Empty when there is no ratio.
    let logarithms: [PairKey: Double]

    init(key: LineKey, arm: Arm, against: String, a: Processes, b: Processes) {
      (self.key, self.arm, self.against, self.a, self.b) = (key, arm, against, a, b)
      logarithms = Pairing.logarithms(of: a, over: b)
    }

    var places: [PairKey] { a.keys.filter { b[$0] != nil } }
  }

  private init(
    _ pairs: [Pair], _ sides: Sides, primary: [BenchmarkName: Metric], common: CommonMeans?, pairing: String,
    missing: [String], conditions: [String], machines: Machines?, seed: UInt64
  ) {
    (self.missing, self.conditions) = (missing, conditions)
    self.machines = machines
    disagreements = machines.map { KindDisagreement.all(pairs.map(Self.byKind($0))) } ?? []
    self.sides = sides
    self.common = common
    self.pairing = pairing
    let widening = Widening(comparisons: pairs.count { SignedRank.coverage($0.logarithms.count) != nil })
    self.widening = widening
    let numbers = Self.numbers(pairs.flatMap(\.logarithms.keys))
    let lines = pairs.compactMap { pair -> Line? in
      let count = pair.logarithms.count
      let confidence = widening.confidence(of: count) ?? Widening.familyConfidence
      guard let ratio = Pairing.ratio(pair.logarithms.values, confidence: confidence) else { return nil }
      return Line(
        scenario: pair.key.scenario, metric: pair.key.metric, arm: pair.arm, against: pair.against,
        a: Statistics.median(pair.logarithms.keys.map { pair.a[$0]! }),
        b: Statistics.median(pair.logarithms.keys.map { pair.b[$0]! }), ratio: ratio,
        logarithms: Dictionary(uniqueKeysWithValues: pair.logarithms.map { (numbers[$0.key]!, $0.value) }))
    }
    self.lines = lines
    var arms: [Arm] = []
    for line in lines where !arms.contains(line.arm) { arms.append(line.arm) }
    means = arms.compactMap { arm in
      let used = lines.filter { $0.arm == arm && primary[$0.scenario.name] == $0.metric }
      return GeometricMean(
        used.map { RatioSeries(benchmark: "\($0.scenario.name)", logarithms: $0.logarithms) }, seed: seed
      ).map { (arm, used[0].against, $0, used.count) }
    }
  }

  /// The logarithms of a ratio's pairs, by the kind of machine.
  private static func byKind(_ machines: Machines) -> (Pair) -> KindDisagreement.Series {
    { pair in
      var logarithms: [String: [Double]] = [:]
      for (place, logarithm) in pair.logarithms {
        guard let kind = machines.kind(of: place.host) else { continue }
        logarithms[kind, default: []].append(logarithm)
      }
      return KindDisagreement.Series(
        what: "\(pair.key.scenario) \(pair.key.metric.name), \(pair.arm) to \(pair.against)", logarithms: logarithms)
    }
  }

  /// Numbers the places of all lines together, so that the bootstrap draws the same blocks for every line.
  private static func numbers(_ places: [PairKey]) -> [PairKey: Int] {
    Dictionary(uniqueKeysWithValues: zip(Set(places).sorted(), 1...))
  }

  /// Values with keys, in order of first appearance.
  private struct Ordered<Key: Hashable, Value> {
    private(set) var order: [(Key, Value)] = []
    private(set) var index: [Key: Int] = [:]

    mutating func update(_ key: Key, _ initial: Value, _ change: (inout Value) -> Void) {
      let place = index[key] ?? order.count
      if place == order.count {
        index[key] = place
        order.append((key, initial))
      }
      change(&order[place].1)
    }

    /// Sorts by key. Equal keys keep their order.
    mutating func sort(by isBefore: (Key, Key) -> Bool) {
      order = order.enumerated().sorted {
        isBefore($0.element.0, $1.element.0)
          || (!isBefore($1.element.0, $0.element.0) && $0.offset < $1.offset)
      }.map(\.element)
      index = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1.0, $0) })
    }
  }

  /// The arms of one line, in order of first appearance.
  private struct Arms {
    private(set) var order: [Arm] = []
    private var values: [Arm: [PairKey: [Double]]] = [:]

    mutating func add(_ row: Row, _ key: PairKey) {
      if values[row.cell.arm] == nil { order.append(row.cell.arm) }
      values[row.cell.arm, default: [:]][key, default: []].append(row.reading.value)
    }

    func inOrder(_ arms: [Arm]) -> [Arm] { arms.filter(contains) }
    func contains(_ arm: Arm) -> Bool { values[arm] != nil }
    subscript(arm: Arm) -> Processes { (values[arm] ?? [:]).mapValues(Statistics.median) }
  }

  private static func cells(_ rows: [Row], _ metrics: Metrics, matchRuns: Bool, matchHosts: Bool) -> Ordered<
    LineKey, Arms
  > {
    let primary = rows.primaryTimes
    let asked: Set<String> =
      if case .matching(let passes) = metrics { Set(rows.map(\.reading.metric.name)).filter(passes) } else { [] }
    var cells = Ordered<LineKey, Arms>()
    for row in rows {
      switch metrics {
      case .primary: guard primary[row.cell.scenario.name] == row.reading.metric else { continue }
      case .matching: guard asked.contains(row.reading.metric.name) else { continue }
      }
      cells.update(LineKey(scenario: row.cell.scenario, metric: row.reading.metric), Arms()) {
        $0.add(row, PairKey(run: matchRuns ? row.runID : "", host: matchHosts ? row.host : "", block: row.block))
      }
    }
    // Blocks shuffle the order of benchmarks, so the cells are sorted.
    cells.sort { "\($0.scenario)" < "\($1.scenario)" }
    return cells
  }
}
