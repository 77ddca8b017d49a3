import HarnessStatistics
import HarnessWords

/// A plan that compares many changes with one default, which is the first arm of each scenario.
///
/// A turn has the default and a few of the changes: the arms of a turn are neighbours in time, and are paired. With all
/// changes in one turn, the first and the last would be seconds apart.
package enum Ablation {
  /// The changes of one turn. Fewer would measure the default more often, and more would stand further apart.
  package static let changesInTurn = 5

  /// How many turns have all changes once.
  package static func turns(changes: Int) -> Int { max(1, (changes + changesInTurn - 1) / changesInTurn) }

  /// The arms of a scenario in one of the first blocks: each change has its turn once in a round of turns, with others
  /// beside it in each round.
  static func arms(_ arms: [Arm], block: Int, seed: UInt64) -> [Arm] {
    guard let base = arms.first, arms.count > 1 else { return arms }
    let turns = turns(changes: arms.count - 1)
    var random = SeededGenerator(seed: seed, purpose: "changes-\((block - 1) / turns)")
    let order = arms.dropFirst().shuffled(using: &random)
    let share = (block - 1) % turns
    return [base] + order[share * order.count / turns..<(share + 1) * order.count / turns]
  }

  /// Whether a comparison needs no more blocks. An interval that is looked at after every block finds a difference that
  /// is not there more often than it says. So it is looked at after few numbers of blocks only, each time with a
  /// confidence that is divided by the number of looks and of comparisons (Bonferroni).
  package struct Looks: Sendable {
    /// After these numbers of blocks.
    package static let blocks = [12, 18, 27, 40, 60, 90]
    package let comparisons: Int

    package init(comparisons: Int) { self.comparisons = max(1, comparisons) }

    var confidence: Double { 1 - (1 - Widening.familyConfidence) / Double(comparisons * Self.blocks.count) }

    /// Whether the logarithms of the ratios differ from 0 beyond doubt. Only the first blocks count, as many as at the
    /// last look, so that a comparison that was decided stays so.
    package func isDecided(_ logarithms: [Double]) -> Bool {
      guard let looked = Self.blocks.last(where: { $0 <= logarithms.count }) else { return false }
      guard
        let interval = Statistics.pairedEstimate(Array(logarithms.prefix(looked)), confidence: confidence).interval
      else { return false }
      return !interval.contains(0)
    }
  }
}
