import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// Rows as lines, arms and processes: what every ratio, table and page is made from.
///
/// A line is a metric of a scenario. An arm has a cell on the line. A process has one number in the cell, the median of
/// its values. A ratio pairs the numbers of one place.
package struct ResultTable: Sendable {
  /// The number of each process, by its place. A place is a run, a machine and a block, as one number: that of the run
  /// on the machine in the upper half, and the block in the lower.
  package typealias Processes = [Int: Double]

  /// A run on a machine. Either is empty where numbers of different ones are pairs.
  package struct Origin: Hashable, Comparable, Sendable {
    package let run: String
    package let host: String

    package static func < (left: Origin, right: Origin) -> Bool { (left.run, left.host) < (right.run, right.host) }
  }

  /// A metric of a scenario over all arms.
  package struct Line: Sendable {
    /// With all parameters: those of the readings, too, such as a level.
    package let scenario: Scenario
    /// The scenario that the rows name: in a run that of the plan, and in a file the one with all parameters.
    package let owner: Scenario
    package let metric: Metric
    package let benchmark: String
    package fileprivate(set) var cells: [Arm: Processes] = [:]

    package var family: String { scenario.name.family }

    /// The arm of the reference that an arm is compared with here; nil for that arm itself, and where there is none.
    package func base(of arm: Arm, _ reference: String) -> Arm? {
      Arm.reference(reference, for: arm, among: cells.keys).flatMap { $0 == arm ? nil : $0 }
    }

    /// The logarithms of the ratios of an arm to another; empty where there is no ratio.
    package func logarithms(_ arm: Arm, _ base: Arm) -> Processes {
      guard let numbers = cells[arm], let others = cells[base] else { return [:] }
      return Pairing.logarithms(of: numbers, over: others)
    }

    /// The ratios of an arm to another as a vote of the benchmark; nil where there is no ratio.
    package func series(_ arm: Arm, _ base: Arm) -> RatioSeries? {
      let logarithms = logarithms(arm, base)
      return logarithms.isEmpty ? nil : RatioSeries(benchmark: benchmark, logarithms: logarithms)
    }
  }

  private struct Key: Hashable {
    let scenario: Scenario
    let metric: Metric
  }

  /// Sorted by benchmark and parameters. Those of rows that were added later stand behind.
  package private(set) var lines: [Line] = []
  package private(set) var origins: [Origin]
  /// The time that stands for each benchmark, by its name.
  package private(set) var primary: [String: String]
  private let isPrimaryGiven: Bool
  private let byRun: Bool
  private let byHost: Bool
  private var numberOfOrigin: [Origin: Int]
  private var metrics: [String: Set<Metric>] = [:]
  private var places: [Key: Int] = [:]
  /// The lines of each owner, in the order in which they came.
  private var owned: [Scenario: [Key]] = [:]

  /// - Parameters:
  ///   - primary: the time that stands for each benchmark, where that is known; nil: what the metrics of the rows say.
  ///   - byRun: whether only numbers of one run are pairs.
  ///   - byHost: whether only numbers of one machine are pairs.
  ///   - others: rows of another table, whose places have the same numbers.
  package init(
    _ rows: [Row] = [], primary: [String: String]? = nil, byRun: Bool = true, byHost: Bool = true,
    numberedWith others: [Row] = []
  ) {
    (self.primary, isPrimaryGiven, self.byRun, self.byHost) = (primary ?? [:], primary != nil, byRun, byHost)
    func origin(_ row: Row) -> Origin { Origin(run: byRun ? row.runID : "", host: byHost ? row.host : "") }
    origins = Set(rows.map(origin)).union(others.map(origin)).sorted()
    numberOfOrigin = Dictionary(uniqueKeysWithValues: zip(origins, 0...))
    add(rows)
    sort()
  }

  /// The rows of a run that count: without excluded blocks, tails of crowded blocks, and failed cells. A cell that
  /// failed in one block has no number from the other blocks either.
  package init(_ result: RunResult) {
    let (excluded, crowded) = (result.excluded, result.crowded)
    let used = result.rows.filter {
      let place = ScenarioBlock($0.cell.scenario, block: $0.block)
      return !excluded.contains(place) && result.failures[$0.cell] == nil
        && !($0.reading.metric.isTail && crowded.contains(place))
    }
    self.init(used, primary: result.rows.primaryTimes)
  }

  // MARK: Rows

  /// Adds the rows of whole processes.
  package mutating func add(_ rows: [Row]) {
    var fresh: [Int: [Arm: [Int: [Double]]]] = [:]
    for row in rows {
      let line = line(of: row)
      fresh[line, default: [:]][row.cell.arm, default: [:]][place(of: row), default: []].append(row.reading.value)
    }
    for (line, cells) in fresh {
      for (arm, processes) in cells {
        lines[line].cells[arm, default: [:]].merge(processes.mapValues(Statistics.median)) { $1 }
      }
    }
  }

  private mutating func line(of row: Row) -> Int {
    let metric = row.reading.metric
    let own = row.cell.scenario
    let whole = row.reading.detail.isEmpty ? own : Scenario(own.name, row.parameters)
    let key = Key(scenario: whole.canonical, metric: metric)
    if let place = places[key] { return place }
    let benchmark = "\(own.name)"
    places[key] = lines.count
    owned[own, default: []].append(key)
    lines.append(Line(scenario: key.scenario, owner: own, metric: metric, benchmark: benchmark))
    if !isPrimaryGiven, metrics[benchmark, default: []].insert(metric).inserted {
      primary[benchmark] = Metric.primaryTime(of: metrics[benchmark]!)?.name
    }
    return lines.count - 1
  }

  private mutating func place(of row: Row) -> Int {
    let origin = Origin(run: byRun ? row.runID : "", host: byHost ? row.host : "")
    let number = numberOfOrigin[origin] ?? origins.count
    if number == origins.count {
      origins.append(origin)
      numberOfOrigin[origin] = number
    }
    return number << 32 | row.block
  }

  package static func block(of place: Int) -> Int { place & 0xFFFF_FFFF }
  package func host(of place: Int) -> String { origins[place >> 32].host }

  private mutating func sort() {
    let keyed = lines.enumerated().map { (key: SortKey($1), place: $0, line: $1) }
    lines = keyed.sorted { $0.key == $1.key ? $0.place < $1.place : $0.key < $1.key }.map(\.line)
    for (place, line) in lines.enumerated() { places[Key(scenario: line.scenario, metric: line.metric)] = place }
  }

  /// The benchmark, then the parameters: numbers by size, everything else by its letters.
  private struct SortKey: Comparable {
    let benchmark: String
    let parameters: [(name: String, kind: Int, number: Double, text: String)]

    init(_ line: Line) {
      benchmark = line.benchmark
      parameters = line.scenario.parameters.pairs.map { key, value in
        Double(value).map { (key, 0, $0, "") } ?? (key, 1, 0, value)
      }
    }

    static func < (left: SortKey, right: SortKey) -> Bool {
      guard left.benchmark == right.benchmark else { return left.benchmark < right.benchmark }
      for (one, other) in zip(left.parameters, right.parameters) where one != other { return one < other }
      return left.parameters.count < right.parameters.count
    }

    static func == (left: SortKey, right: SortKey) -> Bool {
      left.benchmark == right.benchmark && left.parameters.elementsEqual(right.parameters, by: ==)
    }
  }

  // MARK: Lines

  /// Whether a line has the time that stands for its benchmark.
  package func isPrimary(_ line: Line) -> Bool { primary[line.benchmark] == line.metric.name }

  package var primaryLines: [Line] { lines.filter(isPrimary) }

  /// The line of a metric; nil where no row has it.
  package func line(_ scenario: Scenario, _ metric: Metric) -> Line? {
    places[Key(scenario: scenario, metric: metric)].map { lines[$0] }
  }

  /// The lines of a planned scenario, in the order in which their rows came.
  package func lines(of owner: Scenario) -> [Line] { (owned[owner] ?? []).map { lines[places[$0]!] } }

  /// The geometric means of the arms' times. Each benchmark counts with its primary time.
  /// - Parameters:
  ///   - ours: the subjects that say over which lines means stand together; nil: all but the reference.
  ///   - isWanted: whether a line of a time counts.
  package func means(
    _ arms: [Arm], ours: Set<String>? = nil, reference: String, seed: UInt64,
    where isWanted: (Line) -> Bool = { _ in true }
  ) -> CommonMeans {
    let lines = primaryLines.filter(isWanted).map { CommonMeans.Line(benchmark: $0.benchmark, numbers: $0.cells) }
    return CommonMeans(lines, arms: arms, ours: ours, reference: reference, seed: seed)
  }

  /// The logarithms of a ratio's pairs, by the kind of machine.
  func byKind(_ logarithms: Processes, _ machines: Machines) -> [String: [Double]] {
    logarithms.reduce(into: [:]) { kinds, pair in
      guard let kind = machines.kind(of: host(of: pair.key)) else { return }
      kinds[kind, default: []].append(pair.value)
    }
  }
}

extension Scenario {
  /// The granularities of a sweep without the rounding in their last digits, which differs between processes.
  var canonical: Scenario {
    guard name == Self.sweep, let work = parameters.number("work_ns") else { return self }
    var rounded = parameters
    rounded["work_ns"] = NumberFormat.general(work, digits: 6)
    return Scenario(name, rounded)
  }

  static let sweep = BenchmarkName("dependencies", "metg")
}
