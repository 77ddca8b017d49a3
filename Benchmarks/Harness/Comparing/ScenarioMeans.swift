import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// The geometric mean of an arm over the scenarios of one benchmark: one number for, say, all graph patterns.
struct ScenarioMeans {
  let metric: Metric
  /// The number of averaged scenarios: the scenarios in which every arm that has a number at all has one.
  let scenarios: Int
  let means: [Arm: Double]

  /// The metrics that have a mean over scenarios.
  static let metrics = METG.levels.map { Metric.metg($0) }

  /// One mean per metric that is in the lines and has a mean; none for a single scenario.
  static func all(_ lines: [TableLine]) -> [ScenarioMeans] {
    metrics.compactMap { metric in
      let own = lines.filter { $0.metric == metric }
      let arms = Set(own.flatMap(\.cells.keys))
      let complete = own.filter { line in
        arms.allSatisfy { arm in line.cells[arm].map { $0.estimate.median > 0 } ?? false }
      }
      guard complete.count > 1 else { return nil }
      let means = arms.map { arm in
        (arm, Statistics.geometricMean(complete.map { $0.cells[arm]!.estimate.median })!)
      }
      return ScenarioMeans(
        metric: metric, scenarios: complete.count, means: Dictionary(uniqueKeysWithValues: means))
    }
  }
}
