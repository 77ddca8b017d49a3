import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// The effect from which on each measure counts as moved, found by comparing equals: a committed file.
package struct GateThresholds: Codable, Sendable {
  /// One measure of one cell.
  package struct Entry: Codable, Hashable, Sendable {
    package let benchmark: String
    package let params: String
    package let backend: String
    package let workers: Int
    package let metric: String
    /// How two numbers are compared; nil in an entry of an earlier version.
    package let scale: GateScale?
    /// What comparisons of the base with itself found: logarithms of ratios, or differences.
    package let medians: [Double]
    /// The spread of the medians, as a standard deviation.
    package let spread: Double
    /// A ratio; for counts, a difference.
    package let threshold: Double
  }

  /// The result of one calibration, with place and time.
  package struct Calibration: Codable, Sendable {
    package let provenance: Provenance
    package var entries: [Entry]
  }

  package let schema: Int
  package private(set) var calibrations: [Calibration]

  package init() {
    schema = 1
    calibrations = []
  }

  /// No measure would ever move beyond a larger threshold.
  static let largestThreshold = 1_000.0

  /// The metrics that are compared by their difference, for entries that do not say it.
  private static let earlierDifferences: Set<String> = [
    Metric.voluntarySwitchesPerOp.name, Metric.involuntarySwitchesPerOp.name, Metric.contextSwitchesPerOp.name,
  ]

  /// Fewer medians say too little about how far equals stray.
  package static let fewestMedians = 30

  /// The entry of one measure. Equals stray beyond three standard deviations once in 370 medians.
  ///
  /// The spread is that of medians around zero, because medians of equals should be zero. The spread is robust: one
  /// disturbed median of thirty does not widen the threshold.
  package static func entry(_ cell: CellKey, _ metric: GatedMetric, medians: [Double]) -> Entry {
    let spread = 1.4826 * Statistics.median(medians.map(abs))
    let scale = GateScale(metric.metric)
    let threshold = max(metric.leastThreshold, scale.shown(3 * spread))
    return Entry(
      benchmark: "\(cell.scenario.name)", params: "\(cell.scenario.parameters)", backend: cell.arm.subject,
      workers: cell.arm.workers, metric: metric.metric.name, scale: scale,
      medians: medians.map { round($0, digits: 5) }, spread: round(spread, digits: 5),
      threshold: round(threshold, digits: 4))
  }

  private static func round(_ value: Double, digits: Int) -> Double {
    let power = pow(10, Double(digits))
    return (value * power).rounded() / power
  }

  /// Replaces the entries of the same measures.
  package mutating func add(_ entries: [Entry], from provenance: Provenance) {
    for index in calibrations.indices {
      calibrations[index].entries.removeAll { old in entries.contains { $0.isSameMeasure(as: old) } }
    }
    calibrations.removeAll { $0.entries.isEmpty }
    calibrations.append(Calibration(provenance: provenance, entries: entries))
  }

  package func entry(_ cell: CellKey, _ metric: Metric) -> Entry? {
    calibrations.lazy.flatMap(\.entries).first {
      $0.benchmark == "\(cell.scenario.name)" && $0.params == "\(cell.scenario.parameters)"
        && $0.backend == cell.arm.subject && $0.workers == cell.arm.workers && $0.metric == metric.name
    }
  }

  /// Says, in words, in what the machine of these cells' calibration differs from this machine; nil when both are of
  /// the same kind.
  package func difference(_ cells: [GatedCell]) -> String? {
    let names = Set(cells.map { "\($0.cell.scenario.name)" })
    return calibrations.lazy.filter { $0.entries.contains { names.contains($0.benchmark) } }
      .compactMap(\.provenance.difference).first
  }

  package static func read(_ path: String) throws -> GateThresholds {
    try parse(try ResultSet.bytes(path), path: path)
  }

  package static func parse(_ data: Data, path: String) throws -> GateThresholds {
    let what = "a file of thresholds; \(ProgramName.own) gate --calibrate \(fewestMedians) --output FILE makes one"
    let found = try JSONFile.content(data, path, as: GateThresholds.self, what: what)
    guard found.schema == 1 else {
      throw Complaint(.badInput, "\(path) has schema \(found.schema); this program reads thresholds of schema 1")
    }
    for entry in found.calibrations.flatMap(\.entries) {
      let isRatio = entry.scale.map { $0 == .ratio } ?? !Self.earlierDifferences.contains(entry.metric)
      guard entry.threshold > (isRatio ? 1 : 0), entry.threshold < Self.largestThreshold else {
        throw Complaint(
          .badInput,
          "\(path): the threshold of \(entry.benchmark) \(entry.metric), \(entry.threshold), is not "
            + (isRatio ? "a ratio above 1 and below 1000" : "a difference above 0 and below 1000"))
      }
      guard entry.medians.count >= fewestMedians else {
        throw Complaint(
          .badInput,
          "\(path): \(entry.benchmark) \(entry.metric) rests on \(entry.medians.count) medians; "
            + "at least \(fewestMedians) are needed")
      }
    }
    return found
  }

  package func text() throws -> String { try JSONFile.text(self) }
}

extension GateThresholds.Entry {
  func isSameMeasure(as other: GateThresholds.Entry) -> Bool {
    (benchmark, params, backend, workers) == (other.benchmark, other.params, other.backend, other.workers)
      && metric == other.metric
  }
}
