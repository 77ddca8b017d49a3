import Glibc
import HarnessComparing
import HarnessResults
import HarnessStatistics
import HarnessWords

/// What `opbench validate` concludes from its rows, apart from how the rows were measured.
///
/// Every scenario is measured in many blocks with five arms: a control, the same control once more, and the control
/// with three delays. The blocks of a scenario are cut into comparisons: each ends as a run of two arms with this goal
/// ends.
package struct Validation: Sendable {
  /// An arm of the experiment: the name under which it is measured, and its delay as a share of an operation.
  package struct Level: Hashable, Sendable {
    package let name: String
    package let delay: Double
  }

  package static let control = Level(name: "control", delay: 0)
  package static let again = Level(name: "control-again", delay: 0)
  package static let delayed = [2, 5, 10].map { Level(name: "control-plus-\($0)", delay: Double($0) / 100) }
  package static let levels = [control, again] + delayed

  /// The half-width at which a comparison ends. A difference of 2 % is then found in nine of ten: at this width the
  /// estimate has a standard deviation of about 0.6 %.
  package static let goal = 0.012
  /// The number of blocks in a round: about as many as a comparison takes in a quiet hour.
  package static let blocksPerRound = 14
  /// The fewest blocks of a comparison: fewer would have no interval that is widened for all comparisons.
  package static let fewestBlocks = blocksPerRound
  /// The blocks after which a comparison ends, however wide its interval is.
  package static let mostBlocks = 8 * blocksPerRound
  /// The share of comparisons of equals that 95 % intervals flag as different.
  package static let statedLevel = 0.05

  /// The number of rounds from which the stated share is a comparison, when each takes a round. Fewer rounds cannot
  /// show the share.
  package static func fewestRounds(benchmarks: Int) -> Int {
    Int((1 / (statedLevel * Double(max(1, benchmarks)))).rounded(.up))
  }

  /// How often a level was told apart from the control.
  package struct Finding: Hashable, Sendable {
    package let level: Level
    package let comparisons: Int
    /// The median number of blocks of a comparison.
    package let blocks: Double
    /// The number of comparisons whose own interval leaves out 1.
    package let flagged: Int
    /// The number of comparisons whose interval leaves out 1 also when widened for all comparisons of this level.
    package let flaggedWidened: Int
    /// The median over comparisons of the ratio to the control.
    package let ratio: Double
    /// The median over comparisons of half the interval's width, as a share.
    package let halfWidth: Double

    package var share: Double { comparisons > 0 ? Double(flagged) / Double(comparisons) : 0 }

    /// The most comparisons of equals that intervals of the stated level flag by chance: the rate of more would be
    /// above the level, as far as that number of comparisons can tell.
    package var mostByChance: Int {
      (0...comparisons).last { BinomialBounds(hits: $0, of: comparisons).lower <= Validation.statedLevel } ?? 0
    }

    package var isWithinStatedLevel: Bool { comparisons > 0 && flagged <= mostByChance }
  }

  package let findings: [Finding]

  package init(_ results: ResultTable) {
    let lines = results.lines.filter { $0.metric == .nsPerOp }
    findings = Self.levels.dropFirst().map { level in
      Self.finding(level, lines.flatMap { Self.comparisons($0, level) })
    }
  }

  /// The logarithms of the ratios to the control, a list for each comparison of a line.
  private static func comparisons(_ line: ResultTable.Line, _ level: Level) -> [[Double]] {
    func arm(_ name: String) -> Arm? { line.cells.keys.first { $0.subject == name } }
    guard let own = arm(level.name), let control = arm(control.name) else { return [] }
    return cut(line.logarithms(own, control).sorted { $0.key < $1.key }.map(\.value))
  }

  /// Cuts blocks that follow one another into comparisons. Blocks at the end that are too few for one are left out.
  static func cut(_ logarithms: [Double]) -> [[Double]] {
    var comparisons: [[Double]] = []
    var begin = 0
    var before: Double?
    for end in 1...max(1, logarithms.count) where end <= logarithms.count {
      let own = Array(logarithms[begin..<end])
      guard own.count >= fewestBlocks else { continue }
      let halfWidth = halfWidth(own)
      if Allocation.isNarrow(halfWidth, before: before, goal: goal) || own.count == mostBlocks {
        comparisons.append(own)
        (begin, before) = (end, nil)
      } else {
        before = halfWidth
      }
    }
    return comparisons
  }

  private static func halfWidth(_ logarithms: [Double]) -> Double? {
    Statistics.pairedEstimate(logarithms).interval.map { ($0.upperBound - $0.lowerBound) / 2 }
  }

  private static func finding(_ level: Level, _ comparisons: [[Double]]) -> Finding {
    let widening = Widening(comparisons: comparisons.count)
    func isFlagged(_ logs: [Double], _ confidence: Double) -> Bool {
      guard let interval = Statistics.pairedEstimate(logs, confidence: confidence).interval else { return false }
      return !interval.contains(0)
    }
    let estimates = comparisons.map { Statistics.pairedEstimate($0) }
    return Finding(
      level: level, comparisons: comparisons.count,
      blocks: comparisons.isEmpty ? .nan : Statistics.median(comparisons.map { Double($0.count) }),
      flagged: comparisons.count { isFlagged($0, Widening.familyConfidence) },
      flaggedWidened: comparisons.count {
        isFlagged($0, widening.confidence(of: $0.count) ?? widening.confidence)
      },
      ratio: estimates.isEmpty ? .nan : exp(Statistics.median(estimates.map(\.median))),
      halfWidth: comparisons.isEmpty
        ? .nan : Statistics.median(comparisons.compactMap(halfWidth)))
  }

  /// Whether the control is told apart from itself no more often than stated and chance allows, and never by an
  /// interval that is widened for all comparisons.
  package var equalsPass: Bool {
    findings.allSatisfy { $0.level != Self.again || ($0.isWithinStatedLevel && $0.flaggedWidened == 0) }
  }
}
