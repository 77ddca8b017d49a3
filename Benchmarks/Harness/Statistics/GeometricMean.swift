import Glibc
import HarnessWords

/// The geometric mean of ratios across benchmarks, with a bootstrap interval over blocks.
///
/// The mean is taken of the medians of the series, within a benchmark first and then across benchmarks. A resample
/// draws blocks with replacement, the same blocks for all series, because benchmarks of one block share its
/// disturbances. From few blocks the percentile interval is too narrow. So its quantiles are moved outwards as
/// Hesterberg (2015, "What teachers should know about the bootstrap", section 5) proposes: to Phi(-sqrt(n / (n - 1))
/// t), with Student's t of n - 1 degrees of freedom in place of the normal quantile.
package struct GeometricMean: Hashable, Sendable {
  package let ratio: Double
  /// The 95 % interval; nil below six blocks.
  package let interval: ClosedRange<Double>?
  package let benchmarks: Int
  package let blocks: Int

  package static let resamples = 2_000

  /// Words such as "3 benchmarks, 10 blocks".
  package var basis: String { "\(Count.of(benchmarks, "benchmark")), \(Count.of(blocks, "block"))" }

  /// Nil when no series has a block.
  package init?(_ series: [RatioSeries], seed: UInt64) {
    guard let votes = Votes(series) else { return nil }
    (ratio, benchmarks, blocks) = (votes.ratio, votes.benchmarks, votes.places.count)
    if let single = votes.single {
      interval = single.interval
      return
    }
    guard blocks >= 6 else {
      interval = nil
      return
    }
    let resamples = Resamples.of(blocks: blocks, count: Self.resamples, seed: seed)
    var means = [Double](repeating: 0, count: Self.resamples)
    for (index, series) in votes.series.enumerated() {
      let logarithms = votes.places.map { series.logarithms[$0] ?? .nan }
      resamples.addMedians(of: logarithms, otherwise: votes.medians[index], weight: votes.weights[index], to: &means)
    }
    means.sort()
    let tail = Self.tail(blocks: blocks)
    interval = exp(Self.quantile(tail, of: means))...exp(Self.quantile(1 - tail, of: means))
  }

  /// The mean alone, without its interval; nil when no series has a block.
  package static func middle(_ series: [RatioSeries]) -> Double? { Votes(series)?.ratio }

  /// The series with a block, and what each of them counts for.
  private struct Votes {
    let series: [RatioSeries]
    let weights: [Double]
    let medians: [Double]
    let benchmarks: Int
    let places: [Int]
    /// The mean of a single line is that line.
    let single: Estimate?
    let ratio: Double

    init?(_ all: [RatioSeries]) {
      let used = all.filter { !$0.logarithms.isEmpty }
      guard !used.isEmpty else { return nil }
      series = used
      weights = used.votes
      medians = used.map { Statistics.median(Array($0.logarithms.values)) }
      benchmarks = Set(used.map(\.benchmark)).count
      places = Set(used.flatMap(\.logarithms.keys)).sorted()
      single = used.count == 1 ? Pairing.ratio(used[0].logarithms.values) : nil
      ratio = single?.median ?? exp(zip(weights, medians).reduce(0) { $0 + $1.0 * $1.1 })
    }
  }

  /// The share of resamples to leave out at each end.
  static func tail(blocks: Int, confidence: Double = 0.95) -> Double {
    let t = StudentT.quantile(central: confidence, freedom: blocks - 1)
    return erfc((Double(blocks) / Double(blocks - 1)).squareRoot() * t / 2.0.squareRoot()) / 2
  }

  /// The quantile, linear between the order statistics, as NumPy does by default.
  static func quantile(_ fraction: Double, of sorted: [Double]) -> Double {
    let place = fraction * Double(sorted.count - 1)
    let below = Int(place)
    guard below + 1 < sorted.count else { return sorted[sorted.count - 1] }
    return sorted[below] + (place - Double(below)) * (sorted[below + 1] - sorted[below])
  }
}
