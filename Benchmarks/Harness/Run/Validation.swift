import Glibc

/// What `opbench validate` concludes from its rows, apart from how they were measured.
///
/// Every scenario is measured in many blocks with six arms: a control, the same once more, and with four delays.
/// Groups of blocks are comparisons of their own, as a run of this length makes them.
package struct Validation: Sendable {
  /// An arm of the experiment: the name under which it is measured, and its delay as a share of an operation.
  package struct Level: Hashable, Sendable {
    package let name: String
    package let delay: Double
  }

  package static let control = Level(name: "control", delay: 0)
  package static let again = Level(name: "control-again", delay: 0)
  package static let delayed = [2, 5, 10, 20].map { Level(name: "control-plus-\($0)", delay: Double($0) / 100) }
  package static let levels = [control, again] + delayed

  /// Order statistics of 22 blocks leave out the truth in 1.7 % of comparisons, those of 20 in 4.1 %: with these, chance
  /// alone would flag more than the stated share in one validation of five.
  package static let blocksPerComparison = 22
  /// At most this share of comparisons of equals may be flagged different.
  package static let statedLevel = 0.05

  /// So many rounds of a number of benchmarks make comparisons enough for one of them to be within that share: with fewer,
  /// a single one that chance flags would fail a laboratory that is right.
  package static func fewestRounds(benchmarks: Int) -> Int {
    Int((1 / (statedLevel * Double(max(1, benchmarks)))).rounded(.up))
  }

  /// How often a level was told from the control.
  package struct Finding: Hashable, Sendable {
    package let level: Level
    package let comparisons: Int
    /// The interval of the comparison alone leaves out 1.
    package let flagged: Int
    /// So does the one widened for all comparisons of this level.
    package let flaggedWidened: Int
    /// The median over comparisons of the ratio to the control.
    package let ratio: Double
    /// The median over comparisons of half the interval's width, as a share.
    package let halfWidth: Double

    package var share: Double { comparisons > 0 ? Double(flagged) / Double(comparisons) : 0 }
  }

  package let findings: [Finding]

  package init(_ rows: [Row], excluding excluded: Set<ScenarioBlock> = []) {
    let primary = rows.filter {
      $0.reading.metric == .nsPerOp && !excluded.contains(ScenarioBlock($0.cell.scenario, block: $0.block))
    }
    let byScenario = Dictionary(grouping: primary) { $0.cell.scenario }
    findings = Self.levels.dropFirst().map { level in
      let comparisons = byScenario.sorted { "\($0.key)" < "\($1.key)" }.flatMap {
        Self.comparisons($0.value, level)
      }
      return Self.finding(level, comparisons)
    }
  }

  /// The log ratios to the control, a list per group of blocks. A group that lost blocks has fewer; one with fewer
  /// than six is none.
  private static func comparisons(_ rows: [Row], _ level: Level) -> [[Double]] {
    func numbers(_ name: String) -> [Int: Double] {
      Summary.processNumbers(rows.filter { $0.cell.arm.subject == name })
    }
    let ours = numbers(level.name)
    let control = numbers(Self.control.name)
    let logs = ours.sorted { $0.key < $1.key }.compactMap { block, value in
      control[block].flatMap { Statistics.logRatio(value, $0) }.map { (block, $0) }
    }
    return Dictionary(grouping: logs) { ($0.0 - 1) / blocksPerComparison }.sorted { $0.key < $1.key }
      .map { $0.value.map(\.1) }.filter { Statistics.medianRanks($0.count) != nil }
  }

  private static func finding(_ level: Level, _ comparisons: [[Double]]) -> Finding {
    let widening = Widening(comparisons: comparisons.count)
    func isFlagged(_ logs: [Double], _ confidence: Double) -> Bool {
      guard let interval = Statistics.estimate(logs, confidence: confidence).interval else { return false }
      return !interval.contains(0)
    }
    let estimates = comparisons.map { Statistics.estimate($0) }
    return Finding(
      level: level, comparisons: comparisons.count,
      flagged: comparisons.count { isFlagged($0, Widening.familyConfidence) },
      flaggedWidened: comparisons.count {
        isFlagged($0, widening.confidence(of: $0.count) ?? widening.confidence)
      },
      ratio: estimates.isEmpty ? .nan : exp(Statistics.median(estimates.map(\.median))),
      halfWidth: estimates.isEmpty
        ? .nan : Statistics.median(estimates.map { ($0.interval!.upperBound - $0.interval!.lowerBound) / 2 }))
  }

  /// Nothing is told from itself more often than stated, and never by an interval that is widened for all comparisons.
  package var equalsPass: Bool {
    findings.allSatisfy {
      $0.level != Self.again
        || ($0.comparisons > 0 && $0.flaggedWidened == 0 && $0.share <= Self.statedLevel)
    }
  }
}
