import Glibc

/// Decides whether a measure has moved: pure arithmetic on blocks, in two stages.
///
/// The first stage measures everything in five blocks and finds suspects. The second stage measures the suspects alone,
/// in ten fresh blocks, so that a block that made a measure suspect by accident does not decide. When ten blocks do not
/// decide and more blocks may, the measure gets ten more blocks, and then ten more.
package struct GateRule: Sendable {
  package static let firstBlocks = 5
  package static let secondBlocks = 10
  /// The number of the first ten blocks of the second stage that must agree on the direction.
  package static let agreeing = 9
  /// The most blocks that the second stage counts.
  package static let mostSecondBlocks = 30
  package static let largestExcludedShare = 0.25

  /// The smallest effect that counts.
  package let tolerance: Double

  package init(tolerance: Double) { self.tolerance = tolerance }

  /// The most blocks that may be run for `counted` blocks that count: no more than a quarter may be excluded.
  package static func mostBlocks(for counted: Int) -> Int {
    Int(Double(counted) / (1 - largestExcludedShare))
  }

  package enum FirstLook: Hashable, Sendable {
    case clear
    /// The measure seems to have moved.
    case suspect
    /// These blocks cannot clear the measure, so the second stage decides.
    case unclear(String)
  }

  package func firstLook(_ blocks: [PairedBlock]) -> FirstLook {
    if let reason = notEnough(blocks, needed: Self.firstBlocks) { return .unclear(reason) }
    if abs(Self.median(blocks, \.effect)) >= tolerance { return .suspect }
    if let reason = unrest(blocks) { return .unclear(reason) }
    return .clear
  }

  package struct Decision: Hashable, Sendable {
    package let verdict: GateVerdict
    /// The reason, when the numbers alone do not say enough.
    package let reason: String?
    /// The decision is open because there are few blocks, not because of noise that more blocks cannot overcome.
    package let isOpenForMore: Bool

    package init(_ verdict: GateVerdict, _ reason: String? = nil, isOpenForMore: Bool = false) {
      self.verdict = verdict
      self.reason = reason
      self.isOpenForMore = isOpenForMore
    }
  }

  /// Decides on all blocks of the second stage so far.
  ///
  /// - Parameter run: the number of blocks that were run. There are more of them than pairs when a block lacks the
  /// number. Blocks that lack the number count towards the limit too, so that the second stage ends.
  package func decide(_ blocks: [PairedBlock], of run: Int? = nil) -> Decision {
    let counted = blocks.filter { !$0.isExcluded }
    let hasMore =
      counted.count < Self.mostSecondBlocks
      && (run ?? blocks.count) + Self.secondBlocks <= Self.mostBlocks(for: Self.mostSecondBlocks)
    if let reason = notEnough(blocks, needed: Self.secondBlocks) {
      return Decision(.inconclusive, reason, isOpenForMore: hasMore)
    }
    if let loudness = noise(blocks) {
      let isHopeless = loudness.size >= allowedNoise(blocks: Self.mostSecondBlocks)
      return Decision(.inconclusive, loudness.reason, isOpenForMore: hasMore && !isHopeless)
    }
    if let reason = bias(blocks) { return Decision(.inconclusive, reason, isOpenForMore: hasMore) }
    let median = Self.median(blocks, \.effect)
    guard abs(median) >= tolerance else { return Decision(.pass, "not confirmed by fresh blocks") }
    let agreeing = counted.count { ($0.effect > 0) == (median > 0) && $0.effect != 0 }
    // When more than ten blocks count, the share that agrees must be as unlikely by chance as nine of ten.
    let chance = Self.chance(agreeing: agreeing, of: counted.count)
    guard chance <= Self.chance(agreeing: Self.agreeing, of: Self.secondBlocks) else {
      return Decision(
        .inconclusive, "only \(agreeing) of \(Count.of(counted.count, "block")) agree", isOpenForMore: hasMore)
    }
    return Decision(median > 0 ? .regression : .improvement)
  }

  private func notEnough(_ blocks: [PairedBlock], needed: Int) -> String? {
    let excluded = blocks.count(where: \.isExcluded)
    if Double(excluded) > Double(blocks.count) * Self.largestExcludedShare {
      return "\(excluded) of \(Count.of(blocks.count, "block")) lost CPU time to other guests"
    }
    let counted = blocks.count - excluded
    return counted < needed ? "\(Count.of(counted, "block")) instead of \(needed)" : nil
  }

  /// The reason why the null control is not quiet; nil when the null control is quiet.
  ///
  /// The median of the null control must stay below half the tolerance. Symmetric noise has a median near zero by luck
  /// and would pass this test alone, so the typical size of the null control is limited too.
  private func unrest(_ blocks: [PairedBlock]) -> String? { bias(blocks) ?? noise(blocks)?.reason }

  private func bias(_ blocks: [PairedBlock]) -> String? {
    abs(Self.median(blocks, \.null)) < tolerance / 2
      ? nil : "the base differs from itself by as much as half the threshold"
  }

  /// The typical size of the null control, when the size is too large.
  private func noise(_ blocks: [PairedBlock]) -> (size: Double, reason: String)? {
    let counted = blocks.filter { !$0.isExcluded }
    let size = Statistics.median(counted.map { abs($0.null) })
    guard size >= allowedNoise(blocks: counted.count) else { return nil }
    let times = (size / tolerance * 10).rounded() / 10
    return (size, "noise: half of the blocks find the base different from itself by \(times) times the threshold")
  }

  /// The largest allowed noise. The median of ten blocks is sure enough when the blocks stray by the tolerance. The
  /// median of more blocks is as sure when they stray by more, with the square root of their number.
  private func allowedNoise(blocks: Int) -> Double {
    tolerance * max(1, Double(blocks) / Double(Self.secondBlocks)).squareRoot()
  }

  /// The median over the blocks that count. There is at least one such block, because `notEnough` is checked first.
  private static func median(_ blocks: [PairedBlock], _ value: KeyPath<PairedBlock, Double>) -> Double {
    Statistics.median(blocks.filter { !$0.isExcluded }.map { $0[keyPath: value] })
  }

  /// The probability that chance alone puts at least `agreeing` of `count` blocks on one of the two sides.
  package static func chance(agreeing: Int, of count: Int) -> Double {
    guard count > 0, agreeing * 2 > count else { return 1 }
    let tail = (agreeing...count).reduce(0.0) { sum, k in
      let ways = lgamma(Double(count) + 1) - lgamma(Double(k) + 1) - lgamma(Double(count - k) + 1)
      return sum + exp(ways - Double(count) * M_LN2)
    }
    return min(1, 2 * tail)
  }
}
