import Glibc
import HarnessStatistics
import HarnessWords

/// Geometric means of the times of several arms. Means that stand beside one another are over the same lines.
///
/// These are the lines that all of ours have beside the reference. An arm that has them all stands together with ours,
/// with its mean over these lines. An arm that lacks some of them stands apart: it is compared with the first of ours
/// alone, over the lines that both have.
package struct CommonMeans: Sendable {
  /// One time of a benchmark: the number of each arm, by block.
  package struct Line: Sendable {
    package let benchmark: String
    package let numbers: [Arm: [Int: Double]]
    /// The arms that stand for their subject on this line, where a subject has several; nil: all.
    let main: Set<Arm>?

    package init(benchmark: String, numbers: [Arm: [Int: Double]], main: Set<Arm>? = nil) {
      (self.benchmark, self.numbers, self.main) = (benchmark, numbers, main)
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

    /// The mean the other way round: the time of the other over that of this arm.
    package var inverse: Mean {
      Mean(
        arm: arm, ratio: 1 / ratio, interval: interval.map { (1 / $0.upperBound)...(1 / $0.lowerBound) },
        benchmarks: benchmarks, lines: lines, blocks: blocks)
    }

    package var words: RatioWords { RatioWords(ratio, interval) }

    /// Words such as "3 benchmarks, 10 blocks".
    package var basis: String { "\(Count.of(benchmarks, "benchmark")), \(Count.of(blocks, "block"))" }
  }

  /// The first of ours: what stands apart is compared with this arm.
  package let leader: Arm?
  /// The arms that have all lines of ours: their times over the reference's.
  package let together: [Mean]
  /// The arms that lack some of these lines, each with its time over the leader's, over the lines that both have. The
  /// mean is nil when there are none.
  package let apart: [(arm: Arm, mean: Mean?)]

  /// - Parameters:
  ///   - arms: the arms to compare, in order. An arm of the reference has no ratio, and no mean.
  ///   - ours: the subjects that say over which lines; nil: all but the reference. Where none of them has a ratio, the
  ///     arm with the most lines says so.
  package init(_ lines: [Line], arms: [Arm], ours: Set<String>? = nil, reference: String, seed: UInt64) {
    typealias Compared = (arm: Arm, series: [Int: RatioSeries])
    func series(_ arm: Arm, _ base: (Line) -> Arm?) -> [Int: RatioSeries] {
      lines.enumerated().reduce(into: [:]) { series, line in
        guard let base = base(line.element), base != arm, let numbers = line.element.numbers[arm],
          let others = line.element.numbers[base]
        else { return }
        let logarithms = Pairing.logarithms(of: numbers, over: others)
        guard !logarithms.isEmpty else { return }
        series[line.offset] = RatioSeries(benchmark: line.element.benchmark, logarithms: logarithms)
      }
    }
    func mean(_ arm: Arm, _ series: [Int: RatioSeries]) -> Mean? {
      Self.mean(arm, series.sorted { $0.key < $1.key }.map(\.value), seed)
    }
    let compared: [Compared] = arms.map { arm in
      let own = series(arm) { line in
        line.main?.contains(arm) == false ? nil : Arm.reference(reference, for: arm, among: line.numbers.keys)
      }
      return (arm, own)
    }.filter { !$0.series.isEmpty }
    var leading = compared.filter { ours?.contains($0.arm.subject) ?? true }
    if leading.isEmpty, let most = compared.map(\.series.count).max() {
      leading = [compared.first { $0.series.count == most }!]
    }
    guard let first = leading.first else {
      (leader, together, apart) = (nil, [], [])
      return
    }
    leader = first.arm
    var common = leading.dropFirst().reduce(Set(first.series.keys)) { $0.intersection($1.series.keys) }
    // Runs of different workers may have no line in common.
    if common.isEmpty { common = Set(first.series.keys) }
    let hasAll = compared.map { common.isSubset(of: $0.series.keys) }
    together = zip(compared, hasAll).filter(\.1).compactMap { own, _ in
      mean(own.arm, own.series.filter { common.contains($0.key) })
    }
    apart = zip(compared, hasAll).filter { !$0.1 }.map { other, _ in
      (other.arm, mean(other.arm, series(other.arm) { _ in first.arm }))
    }
  }

  private static func mean(_ arm: Arm, _ series: [RatioSeries], _ seed: UInt64) -> Mean? {
    guard let mean = GeometricMean(series, seed: seed) else { return nil }
    return Mean(
      arm: arm, ratio: mean.ratio, interval: mean.interval, benchmarks: mean.benchmarks, lines: series.count,
      blocks: mean.blocks)
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
    if together.contains(where: { $0.lines > 1 }) {
      add(
        "geometric mean of the times, over the same benchmarks",
        together.map { mean in
          ["\(mean.arm)", mean.words.compared(with: reference), mean.basis]
        })
    }
    guard let leader else { return lines }
    add(
      "geometric mean of the times, over the benchmarks that \(leader) and the other both have",
      apart.map { arm, mean in
        guard let mean else { return ["\(arm) and \(leader) have no benchmark in common", ""] }
        return [mean.inverse.words.sentence("\(leader)", against: "\(arm)"), mean.basis]
      })
    return lines
  }
}
