import Glibc
import HarnessResults
import HarnessStatistics
import HarnessWords

/// Efficiency against task granularity, with METG(50 %) (Slaughter et al., SC'20).
///
/// The rows have METG and the efficiencies. The granularity of a run is work / efficiency times a factor of the
/// process, its share of work for each task over the peak, and METG says which factor that is.
struct GranularityFacts: Encodable {
  struct Point: Encodable {
    /// The nominal work of a task, in nanoseconds.
    let work: Double
    let workText: String
    let granularity: NumberFacts
    let efficiency: NumberFacts
    let n: Int
  }

  struct Curve: Encodable {
    let arm: Int
    let metg: NumberFacts
    let points: [Point]
  }

  /// The line of METG(50 %).
  let line: Int
  let curves: [Curve]

  static func all(_ view: ResultView) -> [GranularityFacts] {
    let results = view.results
    let own = view.lines.filter { results.lines[$0].scenario.name == Scenario.sweep }
    guard !own.isEmpty else { return [] }
    let rows = results.sets.flatMap(\.rows).filter { $0.cell.scenario.name == Scenario.sweep }
    let byArm = Dictionary(grouping: rows) { $0.cell.arm }
    return own.filter { results.lines[$0].metric.name == "metg50_ns" }.compactMap { line in
      let parameters = results.lines[line].scenario.parameters
      let works = own.compactMap { other -> (Parameters, Double)? in
        let scenario = results.lines[other].scenario
        guard results.lines[other].metric.name == "efficiency", scenario.parameters.contains("\(parameters)"),
          let work = scenario.parameters.number("work_ns"), work.isFinite, work > 0
        else { return nil }
        return (scenario.parameters, work)
      }
      let work = Dictionary(works) { first, _ in first }
      let curves = view.mainArms(line).compactMap { arm -> Curve? in
        let points = points(byArm[results.arms[arm]] ?? [], work, parameters)
        guard !points.isEmpty else { return nil }
        let metg = results.estimate(line, arm)
        return Curve(arm: arm, metg: NumberFacts(metg, unit: "ns"), points: points)
      }
      return curves.isEmpty ? nil : GranularityFacts(line: line, curves: curves)
    }
  }

  private struct Process: Hashable {
    let run: String
    let number: Int
  }

  private static func points(_ rows: [Row], _ work: [Parameters: Double], _ ofMETG: Parameters) -> [Point] {
    var byWork: [Double: [(granularity: Double, efficiency: Double)]] = [:]
    for process in Dictionary(grouping: rows, by: { Process(run: $0.runID, number: $0.process) }).values {
      var points: [Double: [METG.Point]] = [:]
      for value in Dictionary(grouping: process, by: \.valueIndex).values {
        let sweep = value.compactMap { row -> (work: Double, efficiency: Double)? in
          guard row.reading.metric.name == "efficiency", row.reading.value > 0 else { return nil }
          return work[row.cell.scenario.canonical.parameters].map { ($0, row.reading.value) }
        }
        let metg = value.first {
          $0.reading.metric.name == "metg50_ns" && $0.cell.scenario.canonical.parameters == ofMETG
        }
        guard let metg, let factor = factor(sweep, metg.reading.value) else { continue }
        for (nominal, efficiency) in sweep {
          points[nominal, default: []].append(
            METG.Point(granularity: factor * nominal / efficiency, efficiency: efficiency))
        }
      }
      for (nominal, own) in points {
        byWork[nominal, default: []].append(
          (Statistics.median(own.map(\.granularity)), Statistics.median(own.map(\.efficiency))))
      }
    }
    let processes = byWork.values.map(\.count).max() ?? 0
    return byWork.sorted { $0.key < $1.key }.compactMap { nominal, pairs in
      // At the ends of a sweep are only those processes that went so far: not the same as the others.
      guard 2 * pairs.count >= processes else { return nil }
      let granularity = Statistics.estimate(pairs.map(\.granularity))
      return Point(
        work: nominal, workText: NumberFormat("ns", nominal).text(nominal),
        granularity: NumberFacts(granularity, unit: "ns"),
        efficiency: NumberFacts(Statistics.estimate(pairs.map(\.efficiency)), unit: ""), n: pairs.count)
    }
  }

  /// What work / efficiency must be multiplied with so that the curve falls below one half at METG(50 %).
  private static func factor(_ sweep: [(work: Double, efficiency: Double)], _ metg: Double) -> Double? {
    let points = sweep.map { METG.Point(granularity: $0.work / $0.efficiency, efficiency: $0.efficiency) }
    guard case .crosses(let granularity, _)? = try? METG.find(0.5, points) else { return nil }
    return metg / granularity
  }
}
