import Glibc
import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// What one repeat more in every value does to the time of a cell. The number of repeats is the harness's choice, so
/// the time must not depend on it.
///
/// Processes take values of the cell's own number of repeats and of twice that number, by turns. A repeat that is
/// dearer because it is the first one of a value weighs half as much in the longer values. From that follows what one
/// repeat more does to a value of n: 2/(n+1) of it.
package struct RepeatEffect: Sendable {
  package let cell: CellKey
  package let repeats: Int
  /// The change, as a logarithm, in each process.
  private let changes: [Double]

  /// A change beyond this share is too large.
  package static let most = 0.01
  /// How many processes a cell has: as many as an interval for a hundred cells needs.
  package static let processes = 12
  /// How many values a process takes.
  package static let values = 6

  /// - Parameter answers: what each process has answered. A process without values of both kinds does not count.
  package init(_ cell: CellKey, repeats: Int, _ answers: [[ResultLine]]) {
    self.cell = cell
    self.repeats = repeats
    changes = answers.compactMap(Self.ofDoubling).map { $0 * 2 / Double(repeats + 1) }
  }

  /// By how much twice the repeats change the time, as a logarithm.
  private static func ofDoubling(_ lines: [ResultLine]) -> Double? {
    let all = lines.compactMap { line -> (index: Int, reading: Reading)? in
      if case .reading(let index, let reading) = line, index > 0 { (index, reading) } else { nil }
    }
    guard let metric = Metric.primaryTime(of: all.map(\.reading.metric)) else { return nil }
    let times = all.filter { $0.reading.metric == metric }
    let few = times.filter { !$0.index.isMultiple(of: 2) }.map(\.reading.value)
    let many = times.filter { $0.index.isMultiple(of: 2) }.map(\.reading.value)
    guard !few.isEmpty, !many.isEmpty else { return nil }
    let change = log(Statistics.median(many) / Statistics.median(few))
    return change.isFinite ? change : nil
  }

  /// Whether the cell has a time.
  package var isMeasured: Bool { !changes.isEmpty }

  /// The change of the time, as a share.
  package var change: Double { isMeasured ? exp(Statistics.pairedEstimate(changes).median) - 1 : .nan }

  /// Whether the change is surely beyond `most`, in an interval that holds together with those of all cells.
  package func isSurelyTooLarge(among cells: Int) -> Bool {
    guard let confidence = Widening(comparisons: cells).confidence(of: changes.count),
      let interval = Statistics.pairedEstimate(changes, confidence: confidence).interval
    else { return false }
    return interval.lowerBound > log(1 + Self.most) || interval.upperBound < log(1 - Self.most)
  }
}
