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
    let used = series.filter { !$0.logarithms.isEmpty }
    guard !used.isEmpty else { return nil }
    let groups = Dictionary(grouping: used.indices) { used[$0].benchmark }
    let weights = used.map { 1 / Double(groups[$0.benchmark]!.count * groups.count) }
    let numbers = Set(used.flatMap(\.logarithms.keys)).sorted()
    // The logarithms by place in `numbers`; NaN when a series lacks the block.
    let table = used.map { one in numbers.map { one.logarithms[$0] ?? .nan } }
    let medians = used.map { Statistics.median(Array($0.logarithms.values)) }

    benchmarks = groups.count
    blocks = numbers.count
    if used.count == 1 {
      // The mean of a single line is that line.
      let own = Statistics.pairedEstimate(Array(used[0].logarithms.values))
      ratio = exp(own.median)
      interval = own.interval.map { exp($0.lowerBound)...exp($0.upperBound) }
      return
    }
    ratio = exp(zip(weights, medians).reduce(0) { $0 + $1.0 * $1.1 })
    guard blocks >= 6 else {
      interval = nil
      return
    }
    var random = SeededGenerator(seed: seed, purpose: "bootstrap")
    var means: [Double] = []
    means.reserveCapacity(Self.resamples)
    var drawn = [Int](repeating: 0, count: blocks)
    var values: [Double] = []
    values.reserveCapacity(blocks)
    for _ in 0..<Self.resamples {
      for place in drawn.indices { drawn[place] = Int.random(in: 0..<numbers.count, using: &random) }
      var mean = 0.0
      for index in table.indices {
        values.removeAll(keepingCapacity: true)
        for place in drawn where !table[index][place].isNaN { Self.insert(table[index][place], into: &values) }
        mean += weights[index] * (values.isEmpty ? medians[index] : Self.middle(values))
      }
      means.append(mean)
    }
    means.sort()
    let tail = Self.tail(blocks: blocks)
    interval = exp(Self.quantile(tail, of: means))...exp(Self.quantile(1 - tail, of: means))
  }

  /// The interval at another confidence; nil below six blocks. The bootstrap has no tails as thin as many comparisons need, so
  /// each side of the 95 % interval is as much wider as Student's t has it.
  /// - Parameter freedom: the degrees of freedom: one less than the fewest blocks of a series.
  package func interval(confidence: Double, freedom: Int) -> ClosedRange<Double>? {
    guard let interval else { return nil }
    let wider =
      StudentT.quantile(central: confidence, freedom: freedom) / StudentT.quantile(central: 0.95, freedom: freedom)
    func end(_ bound: Double) -> Double { ratio * exp(log(bound / ratio) * wider) }
    return end(interval.lowerBound)...end(interval.upperBound)
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

  private static func insert(_ value: Double, into sorted: inout [Double]) {
    var place = sorted.count
    sorted.append(value)
    while place > 0, sorted[place - 1] > value {
      sorted[place] = sorted[place - 1]
      place -= 1
    }
    sorted[place] = value
  }

  private static func middle(_ sorted: [Double]) -> Double {
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}
