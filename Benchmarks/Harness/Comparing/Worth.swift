import Glibc
import HarnessStatistics

/// What a change is worth: its time over that of the default, with an interval widened for the comparisons of its
/// table.
package struct Worth: Sendable {
  /// Within this share of the default's time a change makes no difference that matters.
  package static let margin = 0.03

  package let ratio: Double
  /// Nil when there are too few blocks for any interval.
  package let interval: ClosedRange<Double>?
  package let benchmarks: Int
  /// The fewest that a scenario has.
  package let blocks: Int
  /// Whether there are blocks enough for the widened interval. Where not, the interval is narrower than it had to be.
  package let isWideEnough: Bool
  /// Half the width of the 95 % interval of this cell alone, in logarithms; nil without one.
  package let half: Double?

  package var verdict: Verdict {
    Verdict(isWideEnough ? interval : nil, margin: 1 / (1 + Self.margin)...1 + Self.margin)
  }

  /// A benchmark has one vote. Nil without a block.
  package init?(_ series: [RatioSeries], _ widening: Widening, seed: UInt64) {
    guard let fewest = series.map(\.logarithms.count).min(), fewest > 0 else { return nil }
    (benchmarks, blocks) = (Set(series.map(\.benchmark)).count, fewest)
    if series.count == 1 {
      let reached = widening.confidence(of: fewest)
      let logarithms = series[0].logarithms.values
      guard let own = Pairing.ratio(logarithms, confidence: reached ?? Widening.familyConfidence) else { return nil }
      (ratio, interval, isWideEnough) = (own.median, own.interval, reached == widening.confidence)
      half = Pairing.ratio(logarithms)?.ratioHalfWidth
      return
    }
    guard let mean = GeometricMean(series, seed: seed) else { return nil }
    ratio = mean.ratio
    guard series.allSatisfy(\.hasInterval) else {
      (interval, isWideEnough, half) = (nil, false, nil)
      return
    }
    // Simulated noise is held by the freedom of the fewest blocks, and not always by that of all.
    interval = mean.interval(confidence: widening.confidence, freedom: fewest - 1)
    (isWideEnough, half) = (true, mean.interval.map { log($0.upperBound / $0.lowerBound) / 2 })
  }

  /// How large the effects of some cells are, as a share: the root of the mean of their squared logarithms, less what
  /// their own uncertainty adds to it. Nil without an interval.
  package static func size(_ worths: [Worth]) -> Double? {
    let squares = worths.compactMap { worth in
      worth.half.map { half in log(worth.ratio) * log(worth.ratio) - (half / 2) * (half / 2) }
    }
    guard !squares.isEmpty else { return nil }
    return exp(max(0, squares.reduce(0, +) / Double(squares.count)).squareRoot()) - 1
  }
}

extension RatioSeries {
  /// Whether there are the six blocks that an interval needs.
  var hasInterval: Bool { SignedRank.coverage(logarithms.count) != nil }
}

extension [RatioSeries] {
  /// Without the series that have no interval, where others have one: fewer blocks decide nothing.
  var deciding: [RatioSeries] {
    let enough = filter(\.hasInterval)
    return enough.isEmpty ? self : enough
  }
}
