import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// Results as a report shows them together: a process is the median of its values, a cell the median of its processes,
/// a ratio the centre of paired ratios.
struct MeasuredResults {
  typealias Processes = ResultTable.Processes

  let sets: [ResultSet]
  let subjects: MeasuredSubjects
  /// Sorted by the place of the subject, then by workers.
  let arms: [Arm]
  private let numbers: [Arm: Int]
  let table: ResultTable
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
    cpus = records.compactMap(\.cpusAllowed).min()
    // What a record says counts, and the metrics of the rows where none says it.
    let times = sets.filter { $0.recordedTimes == nil }.map(\.primaryTimes) + sets.compactMap(\.recordedTimes)
    table = ResultTable(rows, primary: times.reduce(into: [:]) { $0.merge($1) { $1 } })
    numbers = Dictionary(uniqueKeysWithValues: zip(arms, arms.indices))
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

  // MARK: Lines and arms

  /// The place of a line among the lines.
  typealias LineIndex = Int

  /// Sorted by benchmark and parameters.
  var lines: [ResultTable.Line] { table.lines }

  /// The numbers of an arm on a line; nil where there are none.
  func cell(_ line: LineIndex, _ arm: Int) -> Processes? { lines[line].cells[arms[arm]] }

  /// The median of an arm's processes on a line that has it, with its interval.
  func estimate(_ line: LineIndex, _ arm: Int) -> Estimate { Statistics.estimate(Array(cell(line, arm)!.values)) }

  func isPrimary(_ line: LineIndex) -> Bool { table.isPrimary(lines[line]) }

  /// The arm that another is compared with on a line: that of the reference with as many workers, or else the widest.
  func base(of arm: Int, among cells: some Sequence<Int>) -> Int? {
    guard let reference = subjects.reference else { return nil }
    return Arm.reference(reference, for: arms[arm], among: cells.map { arms[$0] }).map { number(of: $0) }
  }

  func number(of arm: Arm) -> Int { numbers[arm]! }

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
    lines[line].logarithms(arms[arm], arms[base])
  }

  /// The geometric mean of one arm's numbers to another's over the lines that have both; nil without any.
  func mean(_ lines: [LineIndex], _ arm: Int, _ base: Int) -> MeanFacts? {
    let series = series(lines, arm, base)
    return GeometricMean(series, seed: Self.seed).map { MeanFacts($0, lines: series.count) }
  }

  func series(_ lines: [LineIndex], _ arm: Int, _ base: Int) -> [RatioSeries] {
    lines.compactMap { self.lines[$0].series(arms[arm], arms[base]) }
  }

  /// The seed of the bootstrap: that of `compare` without `--seed`.
  static let seed: UInt64 = 1
}
