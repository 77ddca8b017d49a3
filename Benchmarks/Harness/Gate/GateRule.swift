import Glibc

/// When a measure has moved: pure arithmetic on blocks, in two stages.
///
/// The first stage looks at everything in five blocks and finds suspects; the second looks at those alone, in ten fresh
/// blocks, so that what made them suspects by accident does not condemn them too. What ten blocks leave open, and more
/// may tell, gets ten more, and once more.
package struct GateRule: Sendable {
  package static let firstBlocks = 5
  package static let secondBlocks = 10
  /// So many of the first ten blocks of the second stage must agree on the direction.
  package static let agreeing = 9
  /// The most blocks that the second stage counts.
  package static let mostSecondBlocks = 30
  package static let largestExcludedShare = 0.25

  /// The smallest effect that counts.
  package let tolerance: Double

  package init(tolerance: Double) { self.tolerance = tolerance }

  /// How many blocks may be run for `counted` that count: no more than a quarter may be excluded.
  package static func mostBlocks(for counted: Int) -> Int {
    Int(Double(counted) / (1 - largestExcludedShare))
  }

  package enum FirstLook: Hashable, Sendable {
    case clear
    /// Looks changed.
    case suspect
    /// Cannot be cleared by these blocks; the second stage shall tell.
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
    /// Why, where the numbers alone do not say.
    package let reason: String?
    /// It is open because there are few blocks, not because every one of them is noise.
    package let isOpenForMore: Bool

    package init(_ verdict: GateVerdict, _ reason: String? = nil, isOpenForMore: Bool = false) {
      self.verdict = verdict
      self.reason = reason
      self.isOpenForMore = isOpenForMore
    }
  }

  /// All blocks of the second stage so far.
  ///
  /// - Parameter run: how many were run; more than there are pairs where a block lacks the number. They too must end some
  ///   time.
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
    // Of more blocks as large a share as chance alone reaches no more often than nine of ten.
    let chance = Self.chance(agreeing: agreeing, of: counted.count)
    guard chance <= Self.chance(agreeing: Self.agreeing, of: Self.secondBlocks) else {
      return Decision(.inconclusive, "only \(agreeing) of \(counted.count) blocks agree", isOpenForMore: hasMore)
    }
    return Decision(median > 0 ? .regression : .improvement)
  }

  private func notEnough(_ blocks: [PairedBlock], needed: Int) -> String? {
    let excluded = blocks.count(where: \.isExcluded)
    if Double(excluded) > Double(blocks.count) * Self.largestExcludedShare {
      return "\(excluded) of \(blocks.count) blocks lost CPU time to other guests"
    }
    let counted = blocks.count - excluded
    return counted < needed ? "\(counted) blocks instead of \(needed)" : nil
  }

  /// Why the null control is not quiet; nil when it is.
  ///
  /// Its median must stay below half the tolerance. That alone would let symmetric noise through, whose median is near
  /// zero by luck: so its typical size is limited too.
  private func unrest(_ blocks: [PairedBlock]) -> String? { bias(blocks) ?? noise(blocks)?.reason }

  private func bias(_ blocks: [PairedBlock]) -> String? {
    abs(Self.median(blocks, \.null)) < tolerance / 2
      ? nil : "the base differs from itself by as much as half the threshold"
  }

  /// The typical size of the null control, when it is too large.
  private func noise(_ blocks: [PairedBlock]) -> (size: Double, reason: String)? {
    let counted = blocks.filter { !$0.isExcluded }
    let size = Statistics.median(counted.map { abs($0.null) })
    guard size >= allowedNoise(blocks: counted.count) else { return nil }
    let times = (size / tolerance * 10).rounded() / 10
    return (size, "noise: half of the blocks find the base different from itself by \(times) times the threshold")
  }

  /// The median of ten blocks that stray by the tolerance is sure enough; the median of more is as sure when they
  /// stray by more, with the root of their number.
  private func allowedNoise(blocks: Int) -> Double {
    tolerance * max(1, Double(blocks) / Double(Self.secondBlocks)).squareRoot()
  }

  /// Of the blocks that count. There is one: `notEnough` comes first.
  private static func median(_ blocks: [PairedBlock], _ value: KeyPath<PairedBlock, Double>) -> Double {
    Statistics.median(blocks.filter { !$0.isExcluded }.map { $0[keyPath: value] })
  }

  /// How likely chance alone puts at least `agreeing` of `count` blocks on one side, whichever.
  package static func chance(agreeing: Int, of count: Int) -> Double {
    guard count > 0, agreeing * 2 > count else { return 1 }
    let tail = (agreeing...count).reduce(0.0) { sum, k in
      let ways = lgamma(Double(count) + 1) - lgamma(Double(k) + 1) - lgamma(Double(count - k) + 1)
      return sum + exp(ways - Double(count) * M_LN2)
    }
    return min(1, 2 * tail)
  }
}
