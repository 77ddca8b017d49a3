import Glibc
import HarnessStatistics
import HarnessWords

/// A number of a cell, with its text.
struct NumberFacts: Encodable {
  let value: Double
  let low: Double?
  let high: Double?
  let n: Int
  /// Such as `1.23 µs`, and `1.23 [1.20, 1.31] µs`.
  let text: String
  let intervalText: String

  init(_ estimate: Estimate, unit: String) {
    value = estimate.median
    (low, high, n) = (estimate.interval?.lowerBound, estimate.interval?.upperBound, estimate.count)
    let format = NumberFormat(unit, value)
    (text, intervalText) = (format.text(value), format.text(value, estimate.interval))
  }
}

/// A ratio with what can be said of it.
struct RatioFacts: Encodable {
  let value: Double
  let low: Double?
  let high: Double?
  let n: Int?
  /// Such as `0.0258`, `x0.0258 [0.0249, 0.0271]`, that with `~` behind it where the interval is wide, and `x0.026`
  /// beside a mark.
  let number: String
  let text: String
  let marked: String
  let short: String
  let verdict: Verdict
  let isRough: Bool
  let halfWidth: Double?
  let halfWidthText: String?

  init(_ estimate: Estimate) { self.init(estimate, n: estimate.count) }

  init(_ estimate: Estimate, n: Int?) {
    let interval = estimate.interval
    value = estimate.median
    (low, high, self.n) = (interval?.lowerBound, interval?.upperBound, n)
    number = NumberFormat.significant(value)
    text = NumberFormat.ratio(value, interval)
    short = "x\(NumberFormat.short(value))"
    verdict = Verdict(interval)
    isRough = estimate.isRough
    marked = text + (isRough ? "~" : "")
    halfWidth = estimate.ratioHalfWidth
    halfWidthText = halfWidth.map(NumberFormat.percent)
  }

  var words: RatioWords { RatioWords(value, low.flatMap { low in high.map { low...$0 } }) }
}

/// A geometric mean of ratios.
struct MeanFacts: Encodable {
  let ratio: RatioFacts
  let basis: Basis

  struct Basis: Encodable {
    let benchmarks: Int
    let blocks: Int
    let lines: Int
    /// Such as "3 benchmarks, 16 blocks".
    let basis: String
  }

  init(_ mean: GeometricMean, lines: Int) {
    self.init(
      Estimate(median: mean.ratio, interval: mean.interval, count: mean.blocks), benchmarks: mean.benchmarks,
      lines: lines)
  }

  init(_ mean: CommonMeans.Mean) {
    self.init(
      Estimate(median: mean.ratio, interval: mean.interval, count: mean.blocks), benchmarks: mean.benchmarks,
      lines: mean.lines)
  }

  private init(_ estimate: Estimate, benchmarks: Int, lines: Int) {
    ratio = RatioFacts(estimate, n: nil)
    basis = Basis(
      benchmarks: benchmarks, blocks: estimate.count, lines: lines,
      basis: "\(Count.of(benchmarks, "benchmark")), \(Count.of(estimate.count, "block"))")
  }

  /// In round words; nil without an interval.
  var round: RoundRatio? { ratio.low.flatMap { low in ratio.high.map { RoundRatio(ratio.value, low...$0) } } }

  func encode(to encoder: any Encoder) throws {
    try ratio.encode(to: encoder)
    try basis.encode(to: encoder)
  }
}

/// A ratio of times in round words, for readers who see no interval: "20 times as fast", "level", "4 to 5 times as
/// slow".
///
/// * A round number has one significant digit. It has two, or three, where it would otherwise differ from the exact
///   number by more than a tenth, or lie outside of the interval.
/// * An interval between 1/1.15 and 1.15 is level. Any other interval that holds 1 shows no difference.
struct RoundRatio {
  /// What differs by no more is level.
  static let level = 1.15
  private static let tolerance = 0.1

  /// `same` is level, and `open` shows no difference.
  let verdict: Verdict
  /// The round number, from 1 on.
  let times: String
  /// The ends of the interval as numbers from 1 on, with their round texts.
  private let ends: [(end: Double, text: String)]

  init(_ ratio: Double, _ interval: ClosedRange<Double>) {
    verdict = Verdict(interval, margin: 1 / Self.level...Self.level)
    let own = interval.upperBound < 1 ? (1 / interval.upperBound)...(1 / interval.lowerBound) : interval
    ends = [own.lowerBound, own.upperBound].map { ($0, Self.rounded($0, within: nil)) }
    times = Self.rounded(ratio < 1 ? 1 / ratio : ratio, within: own)
  }

  /// The words of a ratio, or of the ratios to several others: these go from the least end of the intervals to the
  /// greatest.
  static func words(_ all: [RoundRatio]) -> String {
    guard Set(all.map(\.verdict)).count == 1 else {
      return all.map { words([$0]) }.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        .joined(separator: "; ")
    }
    let long: String
    switch all[0].verdict {
    case .same: return "level"
    case .open: return "no difference shown"
    case .less: long = "times as fast"
    case .more: long = "times as slow"
    }
    guard all.count > 1 else { return "\(all[0].times) \(long)" }
    let ends = all.flatMap(\.ends).sorted { $0 < $1 }
    let (least, greatest) = (ends[0].text, ends[ends.count - 1].text)
    return least == greatest ? "\(least) \(long)" : "\(least) to \(greatest) \(long)"
  }

  /// A number from 1 on with as few digits as the rules allow.
  static func rounded(_ value: Double, within interval: ClosedRange<Double>?) -> String {
    let texts = (1...3).map { NumberFormat.general(value, digits: $0) }
    let text =
      texts.first { text in
        let number = Double(text)!
        return abs(number - value) <= tolerance * value && interval?.contains(number) ?? true
      } ?? texts[2]
    return NumberFormat.general(Double(text)!, digits: 6)
  }
}

/// Two values whose fields stand in one object.
struct Joined<First: Encodable, Second: Encodable>: Encodable {
  let first: First
  let second: Second

  init(_ first: First, _ second: Second) { (self.first, self.second) = (first, second) }

  func encode(to encoder: any Encoder) throws {
    try first.encode(to: encoder)
    try second.encode(to: encoder)
  }
}

/// The place of an arm in the list of arms, or of a line in the list of lines.
struct ArmPlace: Encodable { let arm: Int }
struct LinePlace: Encodable { let line: Int }
