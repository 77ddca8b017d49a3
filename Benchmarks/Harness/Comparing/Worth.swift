import Glibc
import HarnessStatistics

/// What a change is worth: its time over that of the default, with an interval for the comparisons of its table.
package struct Worth: Sendable {
  /// Within this share of the default's time a change makes no difference that matters.
  package static let margin = 0.03
  private static let same = 1 / (1 + margin)...1 + margin

  package let ratio: Double
  /// Nil when there are too few blocks for any interval.
  package let interval: ClosedRange<Double>?
  package let benchmarks: Int
  /// The fewest that a scenario has.
  package let blocks: Int
  /// Whether there are blocks enough for the interval that was asked for. Where not, the interval is narrower than it
  /// had to be.
  package let isWideEnough: Bool
  /// Half the width of the 95 % interval of this cell alone, in logarithms; nil without one.
  package let half: Double?

  package var verdict: Verdict { Verdict(isWideEnough ? interval : nil, margin: Self.same) }

  /// Whether the change is surely not better by more than the margin. It may be worse.
  package var isNoBetter: Bool { isWideEnough && interval.map { $0.lowerBound >= Self.same.lowerBound } ?? false }

  package init(_ mean: TrimmedMean, confidence: Double) {
    (ratio, benchmarks, blocks) = (mean.ratio, mean.benchmarks, mean.blocks)
    (interval, half) = (mean.interval(confidence: confidence), mean.half(confidence: Widening.familyConfidence))
    isWideEnough = mean.hasInterval
  }

  /// Of one scenario. Nil without a block.
  init?(_ series: RatioSeries, confidence: Double) {
    let logarithms = series.logarithms.values
    let reached = Widening.confidence(of: logarithms.count, asked: confidence)
    guard let own = Pairing.ratio(logarithms, confidence: reached ?? confidence) else { return nil }
    (ratio, interval, isWideEnough) = (own.median, own.interval, reached == confidence)
    (benchmarks, blocks, half) = (1, logarithms.count, Pairing.ratio(logarithms)?.ratioHalfWidth)
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
