import Glibc
import HarnessStatistics
import HarnessWords

/// Geometric means of the times of several arms. Means that stand beside one another are over the same benchmarks.
///
/// The first arm leads. The arms that have numbers for the same lines as the leader are compared with the reference. An
/// arm that has others is compared with the leader directly, over the lines that both have.
package struct CommonMeans: Sendable {
  /// One time of a benchmark: the number of each arm, by block.
  package struct Line: Sendable {
    package let benchmark: String
    package let numbers: [Arm: [Int: Double]]

    package init(benchmark: String, numbers: [Arm: [Int: Double]]) {
      self.benchmark = benchmark
      self.numbers = numbers
    }
  }

  package struct Mean: Sendable {
    package let arm: Arm
    package let ratio: Double
    /// The bootstrap interval over blocks. The mean of a single line is that line, and has the line's own interval.
    package let interval: ClosedRange<Double>?
    package let benchmarks: Int
    package let lines: Int
    package let blocks: Int

    /// Words such as "3 benchmarks, 10 blocks".
    package var basis: String { "\(Count.of(benchmarks, "benchmark")), \(Count.of(blocks, "block"))" }
  }

  package let leader: Arm?
  /// The leader and the arms with the same lines: their times over the reference's.
  package let against: [Mean]
  /// The leader's time over the time of an arm that has other lines, over the lines that both have. The mean is nil when
  /// there are none.
  package let duels: [(arm: Arm, mean: Mean?)]

  /// - Parameter arms: the arms to compare, the leader first. An arm of the reference has no ratio, and no mean.
  package init(_ lines: [Line], arms: [Arm], reference: String, seed: UInt64) {
    typealias Base = (Line) -> Arm?
    func series(_ arm: Arm, _ base: Base) -> [(place: Int, series: RatioSeries)] {
      lines.enumerated().compactMap { place, line in
        guard let base = base(line), base != arm, let logarithms = Self.logarithms(line, arm, base) else { return nil }
        return (place, RatioSeries(benchmark: line.benchmark, logarithms: logarithms))
      }
    }
    let compared = arms.map { arm in
      (arm: arm, series: series(arm) { Arm.reference(reference, for: arm, among: $0.numbers.keys) })
    }.filter { !$0.series.isEmpty }
    guard let first = compared.first else {
      (leader, against, duels) = (nil, [], [])
      return
    }
    leader = first.arm
    let isLikeFirst = compared.map { $0.series.map(\.place) == first.series.map(\.place) }
    against = zip(compared, isLikeFirst).filter(\.1).compactMap { Self.mean($0.0.arm, $0.0.series.map(\.series), seed) }
    duels = zip(compared, isLikeFirst).filter { !$0.1 }.map { other, _ in
      (other.arm, Self.mean(first.arm, series(first.arm) { _ in other.arm }.map(\.series), seed))
    }
  }

  private static func mean(_ arm: Arm, _ series: [RatioSeries], _ seed: UInt64) -> Mean? {
    guard let mean = GeometricMean(series, seed: seed) else { return nil }
    return Mean(
      arm: arm, ratio: mean.ratio, interval: mean.interval, benchmarks: mean.benchmarks, lines: series.count,
      blocks: mean.blocks)
  }

  /// The logarithms of the ratios by block; nil without a common block. A number that is not positive has no ratio, and
  /// then the line has none.
  private static func logarithms(_ line: Line, _ arm: Arm, _ base: Arm) -> [Int: Double]? {
    guard let numbers = line.numbers[arm], let others = line.numbers[base] else { return nil }
    var logarithms: [Int: Double] = [:]
    for (block, number) in numbers {
      guard let other = others[block] else { continue }
      guard let logarithm = Statistics.logRatio(number, other) else { return nil }
      logarithms[block] = logarithm
    }
    return logarithms.isEmpty ? nil : logarithms
  }
}

extension CommonMeans {
  /// The lines of a table; none when the table's own lines say the same.
  package func text(reference: String, width: Int) -> [String] {
    var lines: [String] = []
    func add(_ heading: String, _ rows: [[String]]) {
      guard !rows.isEmpty else { return }
      lines += WrappedText.lines(heading, width: width, hanging: 2)
      lines += Table.aligned(rows).flatMap { WrappedText.lines($0, width: width, indent: 2, hanging: 4) }
    }
    if against.contains(where: { $0.lines > 1 }) {
      add(
        "geometric mean of the times, over the same benchmarks",
        against.map { mean in
          ["\(mean.arm)", RatioWords(mean.ratio, mean.interval).compared(with: reference), mean.basis]
        })
    }
    guard let leader else { return lines }
    add(
      "geometric mean of the times, over the benchmarks that \(leader) and the other both have",
      duels.map { arm, mean in
        guard let mean else { return ["\(arm) and \(leader) have no benchmark in common", ""] }
        return [RatioWords(mean.ratio, mean.interval).sentence("\(leader)", against: "\(arm)"), mean.basis]
      })
    return lines
  }
}
