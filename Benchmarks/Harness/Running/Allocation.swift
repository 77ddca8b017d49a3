import HarnessPlanning

/// Which scenarios have the next turns while a run has a goal. The rule sees how wide intervals are, how many blocks
/// they are from and what a block costs. It never sees a ratio: a rule that did would stop where chance favours an
/// answer.
package enum Allocation {
  /// A scenario that could have another turn.
  package struct Candidate: Hashable, Sendable {
    /// The largest half-width of the scenario's ratios, as a share; nil when there are too few blocks for an interval.
    package let halfWidth: Double?
    /// The largest half-width without the last block; nil when there was no interval yet.
    package let before: Double?
    /// What the half-width is expected to be like.
    package let expected: Double?
    /// The blocks that count.
    package let blocks: Int
    /// What a turn takes, in seconds.
    package let seconds: Double

    package init(halfWidth: Double?, before: Double?, expected: Double?, blocks: Int, seconds: Double) {
      (self.halfWidth, self.before, self.expected) = (halfWidth, before, expected)
      (self.blocks, self.seconds) = (blocks, seconds)
    }

    func isNarrow(_ goal: Double) -> Bool { Allocation.isNarrow(halfWidth, before: before, goal: goal) }

    /// How much one more block narrows the interval for each second: half-widths fall with the root of the blocks.
    var gain: Double {
      guard let expected, halfWidth != nil else { return .infinity }
      return expected * (1 - (Double(blocks) / Double(blocks + 1)).squareRoot()) / max(seconds, 1e-6)
    }

    /// The seconds until the interval is as narrow as the goal, by the same rule. Without an interval: until there is
    /// one.
    func secondsLeft(_ goal: Double) -> Double {
      guard let expected, halfWidth != nil else { return Double(max(1, Effort.fewestBlocks - blocks)) * seconds }
      let factor = expected / goal
      return max(1, Double(blocks) * (factor * factor - 1)) * seconds
    }
  }

  /// Whether an interval is narrow enough. An interval that is narrow for the first time may be narrow by chance, and
  /// would then hold the truth less often than it says. So it has to be narrow twice running. The first interval of all
  /// has no choice of when to stop.
  package static func isNarrow(_ halfWidth: Double?, before: Double?, goal: Double) -> Bool {
    max(halfWidth ?? .infinity, before ?? 0) <= goal
  }

  /// The share of the scenarios that have a turn in a round, of those that are not narrow enough. A scenario has one
  /// turn in each round, so that its blocks are spread over the run.
  private static let share = 0.125

  /// One round of this number goes to the scenarios that gain most, the others to those that are narrow soonest.
  private static let roundsOfGain = 4

  /// The indices of the candidates that have a turn in a round. None when all are narrow enough.
  ///
  /// Three of four rounds go to the scenarios that are narrow soonest: so most ratios are sharp when the time is over.
  /// The fourth goes to those whose intervals narrow most per second: so the others are not left at six blocks.
  package static func round(_ number: Int, _ candidates: [Candidate], goal: Double) -> [Int] {
    let open = candidates.indices.filter { !candidates[$0].isNarrow(goal) }
    let count = Int((Double(open.count) * share).rounded(.up))
    let rank: (Int) -> Double =
      number.isMultiple(of: roundsOfGain) ? { -candidates[$0].gain } : { candidates[$0].secondsLeft(goal) }
    return Array(open.sorted { (rank($0), $0) < (rank($1), $1) }.prefix(count))
  }
}
