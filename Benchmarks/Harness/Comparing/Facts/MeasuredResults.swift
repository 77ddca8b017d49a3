import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// Results as a report shows them together: a process is the median of its values, a cell the median of its processes, a ratio
/// the centre of paired ratios.
struct MeasuredResults {
  /// The process of a cell: a run, a machine and a block. The processes of all results are numbered in this order.
  struct Place: Hashable, Comparable {
    let run: String
    let host: String
    let block: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.run, left.host, left.block) < (right.run, right.host, right.block)
    }
  }

  /// The median of each process, by the number of its place.
  typealias Processes = [Int: Double]

  /// A metric of a scenario over all arms.
  struct Line {
    let scenario: Scenario
    let metric: Metric
    /// By the number of the arm.
    var cells: [Int: Processes]

    var benchmark: String { "\(scenario.name)" }
    var family: String { scenario.name.family }
  }

  let sets: [ResultSet]
  let subjects: MeasuredSubjects
  /// Sorted by the place of the subject, then by workers.
  let arms: [Arm]
  /// Sorted by benchmark and parameters.
  let lines: [Line]
  let places: [Place]
  /// The time that stands for each benchmark.
  let primary: [String: String]
  /// The CPUs that the programs were allowed, of several machines the fewest.
  let cpus: Int?

  /// - Parameter reference: the subject to compare with; nil: the one that the results name.
  init(_ sets: [ResultSet], reference: String?) throws {
    self.sets = sets
    try Self.check(sets)
    let rows = sets.flatMap(\.rows)
    guard !rows.isEmpty else {
      throw Complaint(
        .badInput,
        "\(sets.map(\.name).joined(separator: ", ")): no row counts: all blocks are excluded or all cells failed")
    }
    let measured = Set(rows.map(\.cell.arm.subject))
    if let reference, !rows.contains(where: { Arm.reference(reference, for: $0.cell.arm, among: [$0.cell.arm]) != nil })
    {
      throw Complaint(
        .usage,
        "--reference: \(reference) was not measured; there are \(measured.sorted().joined(separator: ", "))")
    }
    let records = sets.compactMap(\.record)
    subjects = MeasuredSubjects(records, measured: measured, reference: reference)
    let order = subjects.places
    arms = Set(rows.map(\.cell.arm)).sorted { (order[$0.subject]!, $0.workers) < (order[$1.subject]!, $1.workers) }
    primary = Self.primaryTimes(sets)
    cpus = records.compactMap(\.cpusAllowed).min()
    var table = LineTable(arms: arms)
    for row in rows { table.add(row) }
    (lines, places) = (table.lines, table.places)
  }

  /// Times on different allocators are not the same measure, and no run counts twice.
  private static func check(_ sets: [ResultSet]) throws {
    var seen: [String: String] = [:]
    for set in sets {
      for run in Set(set.rows.map(\.runID)) {
        guard let other = seen.updateValue(set.name, forKey: run) else { continue }
        throw Complaint(.badInput, "\(set.name) holds the run \(run) that \(other) holds as well; give one of them")
      }
    }
    let known = sets.compactMap { set in set.record?.allocatorName.map { (name: set.name, allocator: $0) } }
    guard let first = known.first, let other = known.first(where: { $0.allocator != first.allocator }) else { return }
    throw Complaint(
      .badInput,
      "\(first.name) was timed on \(first.allocator), \(other.name) on \(other.allocator): times are not comparable across "
        + "allocators; make a report of each")
  }

  /// What the records say, and the rule of `Metric.primaryTime` for a result whose record says nothing.
  private static func primaryTimes(_ sets: [ResultSet]) -> [String: String] {
    var primary: [String: String] = [:]
    for set in sets where set.record?.primaryTimes.isEmpty ?? true {
      for (name, metric) in set.rows.primaryTimes { primary["\(name)"] = metric.name }
    }
    for set in sets { primary.merge(set.record?.primaryTimes ?? [:]) { $1 } }
    return primary
  }

  // MARK: Lines and arms

  /// The place of a line among the lines.
  typealias LineIndex = Int

  func isPrimary(_ line: LineIndex) -> Bool { primary[lines[line].benchmark] == lines[line].metric.name }

  /// The arm that another is compared with on a line: that of the reference with as many workers, or else the widest.
  func base(of arm: Int, among cells: some Sequence<Int>) -> Int? {
    guard let reference = subjects.reference else { return nil }
    return Arm.reference(reference, for: arms[arm], among: cells.map { arms[$0] }).map { number(of: $0) }
  }

  func number(of arm: Arm) -> Int { arms.firstIndex(of: arm)! }

  func isOurs(_ arm: Int) -> Bool { subjects[arms[arm].subject].isOurs }
  func isChoice(_ arm: Int) -> Bool { subjects[arms[arm].subject].isChoice }
  func isReference(_ arm: Int) -> Bool { arms[arm].subject == subjects.reference }

  /// Of each subject the arm with the most workers, in the order of the arms.
  func widest(_ numbers: some Sequence<Int>) -> [Int] {
    var most: [String: Int] = [:]
    for number in numbers {
      let subject = arms[number].subject
      most[subject] = max(most[subject] ?? number, number)
    }
    return most.values.sorted()
  }

  /// The logarithms of the ratios of an arm to another on a line; empty where there is no ratio.
  func logarithms(_ line: LineIndex, _ arm: Int, _ base: Int) -> Processes {
    guard let numbers = lines[line].cells[arm], let others = lines[line].cells[base] else { return [:] }
    return Pairing.logarithms(of: numbers, over: others)
  }

  /// The geometric mean of one arm's numbers to another's over the lines that have both; nil without any.
  func mean(_ lines: [LineIndex], _ arm: Int, _ base: Int) -> MeanFacts? {
    let series = series(lines, arm, base)
    return GeometricMean(series, seed: Self.seed).map { MeanFacts($0, lines: series.count) }
  }

  func series(_ lines: [LineIndex], _ arm: Int, _ base: Int) -> [RatioSeries] {
    lines.compactMap { line in
      let logarithms = logarithms(line, arm, base)
      return logarithms.isEmpty ? nil : RatioSeries(benchmark: self.lines[line].benchmark, logarithms: logarithms)
    }
  }

  /// The seed of the bootstrap: that of `compare` without `--seed`.
  static let seed: UInt64 = 1
}

/// Puts rows into lines.
private struct LineTable {
  private struct Key: Hashable {
    let scenario: Scenario
    let metric: Metric
  }

  private let numbers: [Arm: Int]
  private var order: [Key] = []
  private var values: [Key: [Int: [MeasuredResults.Place: [Double]]]] = [:]

  init(arms: [Arm]) { numbers = Dictionary(uniqueKeysWithValues: arms.enumerated().map { ($1, $0) }) }

  mutating func add(_ row: Row) {
    let key = Key(scenario: row.cell.scenario.canonical, metric: row.reading.metric)
    if values[key] == nil { order.append(key) }
    let place = MeasuredResults.Place(run: row.runID, host: row.host, block: row.block)
    values[key, default: [:]][numbers[row.cell.arm]!, default: [:]][place, default: []].append(row.reading.value)
  }

  /// The places in order.
  var places: [MeasuredResults.Place] {
    Set(values.values.flatMap { $0.values.flatMap(\.keys) }).sorted()
  }

  var lines: [MeasuredResults.Line] {
    let numbers = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) })
    let lines = order.map { key in
      MeasuredResults.Line(
        scenario: key.scenario, metric: key.metric,
        cells: values[key]!.mapValues { cell in
          Dictionary(uniqueKeysWithValues: cell.map { (numbers[$0.key]!, Statistics.median($0.value)) })
        })
    }
    let keyed = lines.enumerated().map { (key: SortKey($1), place: $0, line: $1) }
    return keyed.sorted { $0.key == $1.key ? $0.place < $1.place : $0.key < $1.key }.map(\.line)
  }

  /// The benchmark, then the parameters: numbers by size, everything else by its letters.
  private struct SortKey: Comparable {
    let benchmark: String
    let parameters: [(name: String, kind: Int, number: Double, text: String)]

    init(_ line: MeasuredResults.Line) {
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
