import Glibc

/// The mean of ratios across benchmarks, with an error that follows Student's t: for intervals of any confidence.
///
/// Each series has its trimmed mean, without the lowest and the highest quarter of the logarithms. The error is that
/// of Tukey and McLaughlin (1963), as in Yuen (1974): from the variance of the winsorized logarithms, with as many
/// degrees of freedom as logarithms remain, less one. The mean is taken within a benchmark first and then across
/// benchmarks. The errors of the series are independent: pairs of different scenarios in one block do not vary
/// together. So the squares of the errors add up, and the degrees of freedom are those of Welch (1947), rounded down.
package struct TrimmedMean: Sendable {
  /// Pairs with the same place of the same line share the number of the default, and so its noise.
  struct Pair: Hashable {
    let line: Int
    let place: Int
  }

  /// The natural logarithm of the mean ratio.
  package let logarithm: Double
  package let benchmarks: Int
  /// The fewest of a series.
  package let blocks: Int
  /// Nil when a series has fewer than six blocks.
  private let spread: (error: Double, freedom: Int)?
  /// What each pair adds to the error; the squares have the sum 1. Empty without an error.
  let shares: [(pair: Pair, share: Double)]

  package var ratio: Double { exp(logarithm) }
  package var hasInterval: Bool { spread != nil }

  /// Nil without a series, and when one of them has no block.
  /// - Parameter lines: what each series is of; nil: each of another line. O(n log n) for n blocks.
  package init?(_ series: [RatioSeries], lines: [Int]? = nil) {
    guard let fewest = series.map(\.logarithms.count).min(), fewest > 0 else { return nil }
    let (weights, lines) = (series.votes, lines ?? Array(series.indices))
    let trimmed = series.map { Trimmed($0.logarithms) }
    (benchmarks, blocks) = (Set(series.map(\.benchmark)).count, fewest)
    logarithm = zip(weights, trimmed).reduce(0) { $0 + $1.0 * $1.1.mean }
    guard fewest >= 6 else {
      (spread, shares) = (nil, [])
      return
    }
    let squares = zip(weights, trimmed).map { $0 * $0 * $1.square }
    let square = squares.reduce(0, +)
    guard square > 0 else {
      (spread, shares) = ((0, trimmed.map(\.freedom).min()!), [])
      return
    }
    let freedom = square * square / zip(squares, trimmed).reduce(0) { $0 + $1.0 * $1.0 / Double($1.1.freedom) }
    let error = square.squareRoot()
    // A sum of equal parts may round to less than a whole number.
    spread = (error, Int(freedom * (1 + 1e-9)))
    shares = zip(zip(weights, lines), trimmed).flatMap { part, own in
      own.influences.map { (Pair(line: part.1, place: $0.place), part.0 * $0.influence / error) }
    }
  }

  /// The interval of the ratio; nil when a series has fewer than six blocks.
  package func interval(confidence: Double) -> ClosedRange<Double>? {
    half(confidence: confidence).map { exp(logarithm - $0)...exp(logarithm + $0) }
  }

  /// Half the width of the interval, in logarithms.
  package func half(confidence: Double) -> Double? {
    spread.map { $0.error * StudentT.quantile(central: confidence, freedom: $0.freedom) }
  }

  private struct Trimmed {
    let mean: Double
    /// The square of the error, and what each place adds to the error.
    let square: Double
    let influences: [(place: Int, influence: Double)]
    let freedom: Int

    init(_ logarithms: [Int: Double]) {
      // In order, so that sums are the same each time.
      let places = logarithms.keys.sorted()
      let sorted = logarithms.values.sorted()
      let cut = sorted.count / 4
      let kept = sorted[cut..<sorted.count - cut]
      let winsorized = places.map { min(max(logarithms[$0]!, kept.first!), kept.last!) }
      let centre = winsorized.reduce(0, +) / Double(winsorized.count)
      mean = kept.reduce(0, +) / Double(kept.count)
      freedom = max(1, kept.count - 1)
      let scale = 1 / (Double(kept.count) * Double(freedom)).squareRoot()
      influences = zip(places, winsorized).map { ($0, ($1 - centre) * scale) }
      square = influences.reduce(0) { $0 + $1.influence * $1.influence }
    }
  }
}

extension [RatioSeries] {
  /// What each series counts for: a benchmark has one vote, and its series share that.
  var votes: [Double] {
    let counts = reduce(into: [String: Int]()) { $0[$1.benchmark, default: 0] += 1 }
    return map { 1 / Double(counts[$0.benchmark]! * counts.count) }
  }
}
