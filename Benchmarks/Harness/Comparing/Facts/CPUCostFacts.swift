import Glibc
import HarnessStatistics
import HarnessWords

/// Speed beside what it costs in CPU time, over the same benchmarks of a family.
struct CPUCostFacts: Encodable {
  let family: String
  let arm: Int
  let time: MeanFacts
  let cpu: MeanFacts
  /// How many CPUs were busy, on geometric average; nil where a time is zero.
  let busy: Double?
  let busyText: String?

  static let families = ["overhead", "dependencies", "forkjoin", "cancellation", "strategy"]
  private static let metrics = (time: "ns_per_op", cpu: "cpu_ns_per_op")

  static func all(_ view: ResultView) -> [CPUCostFacts] { families.flatMap { family in all(view, family) } }

  private struct Pair {
    let benchmark: String
    let arm: Int
    let time: MeasuredResults.Processes
    let cpu: MeasuredResults.Processes
    /// CPU time over time.
    let busy: Double?
  }

  private static func all(_ view: ResultView, _ family: String) -> [CPUCostFacts] {
    let results = view.results
    let own = view.lines.filter { results.lines[$0].family == family }
    let cpuLines = Dictionary(
      own.filter { results.lines[$0].metric.name == metrics.cpu }.map { (results.lines[$0].scenario, $0) }
    ) { first, _ in first }
    var pairs: [Pair] = []
    for line in own where results.lines[line].metric.name == metrics.time {
      guard let cpuLine = cpuLines[results.lines[line].scenario] else { continue }
      for arm in view.mainArms(line) {
        guard let base = view.base(of: arm, on: line), base != arm, let other = view.base(of: arm, on: cpuLine) else {
          continue
        }
        let (time, cpu) = (results.logarithms(line, arm, base), results.logarithms(cpuLine, arm, other))
        guard !time.isEmpty, !cpu.isEmpty, other != arm else { continue }
        func median(_ line: Int, _ logarithms: MeasuredResults.Processes) -> Double {
          Statistics.median(logarithms.keys.map { results.cell(line, arm)![$0]! })
        }
        let busy = Pairing.logarithm(median(cpuLine, cpu), over: median(line, time)).map(exp)
        pairs.append(Pair(benchmark: results.lines[line].benchmark, arm: arm, time: time, cpu: cpu, busy: busy))
      }
    }
    return view.mainArms.compactMap { arm in
      let own = pairs.filter { $0.arm == arm }
      func mean(_ logarithms: (Pair) -> MeasuredResults.Processes) -> MeanFacts? {
        let series = own.map { RatioSeries(benchmark: $0.benchmark, logarithms: logarithms($0)) }
        return GeometricMean(series, seed: MeasuredResults.seed).map { MeanFacts($0, lines: series.count) }
      }
      guard let time = mean(\.time), let cpu = mean(\.cpu) else { return nil }
      let busy = Statistics.geometricMean(own.compactMap(\.busy))
      return CPUCostFacts(
        family: family, arm: arm, time: time, cpu: cpu, busy: busy, busyText: busy.map(NumberFormat.significant))
    }
  }
}
