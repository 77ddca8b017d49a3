import HarnessComparing
import HarnessPlanning
import HarnessResults
import HarnessStatistics
import HarnessWords

/// How wide the intervals of a run are so far: of the one time that stands for each scenario, every arm against the
/// first.
package struct RunWidths: Sendable {
  private var table = ResultTable()
  /// The last answers about each scenario. An interval of many blocks takes a millisecond, and a run asks about each
  /// scenario after every round.
  private var remembered: [Scenario: [Remembered]] = [:]

  private struct Remembered {
    let arms: [Arm]
    let blocks: [Int]
    let widths: [Width]
  }

  package init() {}

  /// Takes the rows of one process.
  package mutating func add(_ rows: [Row]) { table.add(rows) }

  /// The lines of the time that stands for a scenario. One whose readings have parameters of their own has several.
  private func lines(_ scenario: Scenario) -> [ResultTable.Line] {
    table.lines(of: scenario).filter(table.isPrimary)
  }

  /// The blocks of a pair of arms, as far as an interval is concerned.
  struct Width {
    /// The half-width as it counts; nil when there are too few blocks for an interval.
    let halfWidth: Double?
    /// What the half-width will be like, from the middle of the values alone: the interval of few blocks ends at their
    /// extremes, and a single slow process makes it several times as wide.
    let expected: Double?
    let blocks: Int
  }

  /// What a scenario is about: the ratios of every other of `arms` to the first of them, or the time of a single arm.
  /// Over the given blocks. Where a number is not positive there is no ratio.
  mutating func all(_ planned: PlannedScenario, arms: [Arm], blocks: [Int]) -> [Width] {
    let known = remembered[planned.scenario] ?? []
    if let found = known.first(where: { $0.arms == arms && $0.blocks == blocks }) { return found.widths }
    let widths = compute(planned, arms, Set(blocks))
    // A scenario is asked for all of its blocks, and for all but the last: which were all before that block.
    remembered[planned.scenario] = known.suffix(1) + [Remembered(arms: arms, blocks: blocks, widths: widths)]
    return widths
  }

  private func compute(_ planned: PlannedScenario, _ arms: [Arm], _ blocks: Set<Int>) -> [Width] {
    guard let base = arms.first else { return [] }
    return lines(planned.scenario).flatMap { line -> [Width] in
      let numbers = line.cells.mapValues { $0.filter { blocks.contains(ResultTable.block(of: $0.key)) } }
      guard planned.arms.count > 1 else {
        return [numbers[base].flatMap { width(ofTimes: Array($0.values)) }].compactMap(\.self)
      }
      return arms.dropFirst().compactMap { arm in
        Self.width(Pairing.logarithms(of: numbers[arm] ?? [:], over: numbers[base] ?? [:]))
      }
    }
  }

  /// The logarithms of the ratios of an arm to another, in the order of the blocks, for each time of a scenario. A time
  /// has no list when a number of it is not positive: more blocks would give no ratio either.
  func logarithms(_ scenario: Scenario, _ arm: Arm, _ base: Arm, where counts: (Int) -> Bool) -> [[Double]] {
    lines(scenario).compactMap { line in
      let own = (line.cells[arm] ?? [:]).filter { counts(ResultTable.block(of: $0.key)) }
      let others = line.cells[base] ?? [:]
      let logarithms = Pairing.logarithms(of: own, over: others)
      guard !logarithms.isEmpty || !own.keys.contains(where: { others[$0] != nil }) else { return nil }
      return logarithms.sorted { ResultTable.block(of: $0.key) < ResultTable.block(of: $1.key) }.map(\.value)
    }
  }

  /// How wide the interval of these logarithms is, at a confidence that `count` blocks may not reach.
  static func width(_ logarithms: [Double], confidence: Double) -> Width {
    func halfWidth(_ confidence: Double) -> Double? {
      Pairing.ratio(logarithms, confidence: confidence)?.countedHalfWidth
    }
    guard !logarithms.isEmpty else { return Width(halfWidth: nil, expected: nil, blocks: 0) }
    let whole = halfWidth(confidence)
    // A standard error reaches as far as `inner`; an interval reaches as many of them as the normal distribution has
    // it.
    let reach = StudentT.quantile(central: confidence, freedom: 1_000)
    return Width(
      halfWidth: whole, expected: halfWidth(inner).map { min(reach * $0, whole ?? .infinity) },
      blocks: logarithms.count)
  }

  /// The share of intervals that reach as far as one standard error.
  private static let inner = 0.68

  private static func width(_ logarithms: [Int: Double]) -> Width? {
    guard let ratio = Pairing.ratio(logarithms.values) else { return nil }
    let inner = Pairing.ratio(logarithms.values, confidence: inner)?.countedHalfWidth
    // The interval of 95 % reaches twice as far.
    let expected = inner.map { min(2 * $0, ratio.countedHalfWidth ?? .infinity) }
    return Width(halfWidth: ratio.countedHalfWidth, expected: expected, blocks: logarithms.count)
  }

  private func width(ofTimes times: [Double]) -> Width? {
    guard times.allSatisfy({ $0 > 0 }) else { return nil }
    let halfWidth = Statistics.estimate(times).ratioHalfWidth
    return Width(halfWidth: halfWidth, expected: halfWidth, blocks: times.count)
  }

  /// The cells that a third of the blocks is enough for: their times are far above those of the scenario's other arms,
  /// by the median, and nobody needs such a ratio to a few per cent. With two arms there is no ratio without both.
  func seldom(_ plan: Plan) -> Set<CellKey> {
    Set(
      plan.scenarios.filter { $0.arms.count > 2 }.flatMap { planned -> [CellKey] in
        let times = times(planned)
        return planned.cells.filter { cell in
          let others = times.filter { $0.key != cell.arm }.map(\.value)
          guard let own = times[cell.arm], others.count > 1 else { return false }
          return own > Estimate.farRatio * Statistics.median(others)
        }
      })
  }

  /// The median of each arm in the scenario's first line.
  private func times(_ planned: PlannedScenario) -> [Arm: Double] {
    (lines(planned.scenario).first?.cells ?? [:]).mapValues { Statistics.median(Array($0.values)) }
  }
}
