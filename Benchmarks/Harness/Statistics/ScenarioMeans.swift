import Glibc

/// The geometric mean of an arm over the scenarios of one benchmark: one number for, say, all graph patterns.
package struct ScenarioMeans: Sendable {
  package let metric: Metric
  /// How many scenarios are averaged: those in which every arm that has a number at all has one.
  package let scenarios: Int
  package let means: [Arm: Double]

  /// Metrics that have a mean over scenarios.
  static let metrics = METG.levels.map { Metric.metg($0) }

  /// One per metric that the lines have and that has a mean; none for a single scenario.
  package static func all(_ lines: [SummaryLine]) -> [ScenarioMeans] {
    metrics.compactMap { metric in
      let own = lines.filter { $0.metric == metric }
      let arms = Set(own.flatMap(\.cells.keys))
      let complete = own.filter { line in
        arms.allSatisfy { arm in line.cells[arm].map { $0.estimate.median > 0 } ?? false }
      }
      guard complete.count > 1 else { return nil }
      let means = arms.map { arm in
        let logarithms = complete.map { log($0.cells[arm]!.estimate.median) }
        return (arm, exp(logarithms.reduce(0, +) / Double(logarithms.count)))
      }
      return ScenarioMeans(
        metric: metric, scenarios: complete.count, means: Dictionary(uniqueKeysWithValues: means))
    }
  }
}

extension SummaryLine {
  /// A curve that crosses its level once is as it should be; the table says so only where it does not.
  var isUnremarkable: Bool { metric == .crossings && cells.values.allSatisfy { $0.estimate.median <= 1 } }
}
