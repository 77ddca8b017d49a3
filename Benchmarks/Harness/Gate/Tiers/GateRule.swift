import HarnessPlanning
import HarnessRunning
import HarnessStatistics
import HarnessWords

/// Decides when a measure has enough blocks, and then whether it has moved: pure arithmetic on blocks.
///
/// A measure ends as a scenario of a run with a goal ends: once its intervals are narrow enough. When it ends depends
/// on widths and on the null control, and never on the effect. A rule that saw the effect would stop where chance
/// favours an answer.
package struct GateRule: Sendable {
  /// No interval comes of fewer blocks.
  package static let fewestBlocks = Effort.fewestBlocks
  /// The most blocks that count for a cell.
  package static let mostBlocks = 120
  /// A measure so wide that even the most blocks would not tell is given up after this number of blocks.
  static let hopelessBlocks = 24
  package static let largestExcludedShare = 0.25

  private let scale: GateScale
  /// The smallest effect that counts.
  private let tolerance: Double
  /// The number of blocks that there is time for.
  private let mostBlocks: Int
  /// The largest half-width of an interval that is narrow enough. A centre that is as far as the tolerance from the
  /// truth is then two half-widths away, which are four standard errors.
  private var goal: Double { tolerance / 2 }

  package init(_ scale: GateScale, threshold: Double, mostBlocks: Int = Self.mostBlocks) {
    self.scale = scale
    self.mostBlocks = mostBlocks
    tolerance = scale.tolerance(threshold)
  }

  /// The most blocks that may be run for `counted` blocks that count: no more than a quarter may be excluded.
  package static func mostRun(for counted: Int) -> Int {
    Int(Double(counted) / (1 - largestExcludedShare))
  }

  /// The head against the base, and the base against itself, over the blocks that count.
  private struct Pair {
    let effect: Estimate
    let null: Estimate

    /// Nil when there are too few blocks for an interval.
    init?(_ counted: some Collection<PairedBlock>) {
      guard counted.count >= GateRule.fewestBlocks else { return nil }
      effect = Statistics.pairedEstimate(counted.map(\.effect))
      null = Statistics.pairedEstimate(counted.map(\.null))
    }

    /// The larger of the two half-widths.
    var halfWidth: Double { max(effect.halfWidth, null.halfWidth) }
  }

  /// Whether the measure needs more blocks.
  package func isOpen(_ blocks: [PairedBlock]) -> Bool {
    let counted = blocks.filter { !$0.isExcluded }
    guard !isDisturbed(blocks), let now = Pair(counted) else { return true }
    // Half-widths fall with the root of the number of blocks.
    let atTheEnd = now.halfWidth * (Double(counted.count) / Double(mostBlocks)).squareRoot()
    if counted.count >= min(Self.hopelessBlocks, mostBlocks), atTheEnd > tolerance { return false }
    // Where equals seem to differ by chance, more blocks will show that they do not.
    guard abs(now.null.median) < goal, now.halfWidth <= goal else { return true }
    return !Allocation.isNarrow(now.halfWidth, before: Pair(counted.dropLast())?.halfWidth, goal: goal)
  }

  package struct Decision: Hashable, Sendable {
    package let verdict: GateVerdict
    /// The reason, when the numbers alone do not say enough.
    package let reason: String?

    package init(_ verdict: GateVerdict, _ reason: String? = nil) {
      self.verdict = verdict
      self.reason = reason
    }
  }

  /// The verdict on all blocks of a measure that is not open any more, or for which there is no more time.
  package func decide(_ blocks: [PairedBlock]) -> Decision {
    let counted = blocks.filter { !$0.isExcluded }
    if isDisturbed(blocks) {
      let excluded = blocks.count - counted.count
      return Decision(.inconclusive, "\(excluded) of \(Count.of(blocks.count, "block")) lost CPU time to others")
    }
    guard let found = Pair(counted) else {
      return Decision(.inconclusive, "\(Count.of(counted.count, "block")) instead of \(Self.fewestBlocks)")
    }
    let open = Decision(.inconclusive, reason(found))
    guard abs(found.null.median) < goal else { return open }
    let (centre, halfWidth) = (found.effect.median, found.effect.halfWidth)
    if abs(centre) >= max(tolerance, 2 * halfWidth) { return Decision(centre > 0 ? .regression : .improvement) }
    return halfWidth <= goal || found.effect.isWithin(tolerance) ? Decision(.pass) : open
  }

  /// The reason why the blocks do not tell.
  private func reason(_ found: Pair) -> String {
    guard found.halfWidth > goal else { return "the base differs from itself by as much as half the threshold" }
    let what =
      found.effect.halfWidth >= found.null.halfWidth ? "the interval" : "the interval of the base against itself"
    return "noise: \(what) is ±\(scale.size(found.halfWidth)) after \(Count.of(found.effect.count, "block")), "
      + "a verdict needs ±\(scale.size(goal))"
  }

  private func isDisturbed(_ blocks: [PairedBlock]) -> Bool { Self.isDisturbed(blocks.map(\.isExcluded)) }

  /// Whether too many blocks do not count.
  static func isDisturbed(_ excluded: [Bool]) -> Bool {
    Double(excluded.count { $0 }) > Double(excluded.count) * largestExcludedShare
  }
}

extension Estimate {
  /// Half the width of the interval of differences.
  fileprivate var halfWidth: Double { interval.map { ($0.upperBound - $0.lowerBound) / 2 } ?? .infinity }

  /// Whether the whole interval lies nearer to 0 than `tolerance`.
  fileprivate func isWithin(_ tolerance: Double) -> Bool {
    interval.map { max(abs($0.lowerBound), abs($0.upperBound)) < tolerance } ?? false
  }
}
