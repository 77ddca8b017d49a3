import HarnessMeasuring

/// A metric that is compared with its threshold, and how steady the metric is by nature.
package struct GatedMetric: Hashable, Sendable {
  package enum Tier: Int, Codable, Sendable, CaseIterable {
    /// The number is the same every time. A metric of this tier must be zero.
    case deterministic = 0
    /// The number is nearly the same every time.
    case steady = 1
    case wallClock = 2
  }

  package let metric: Metric
  package let tier: Tier

  package init(_ metric: Metric, _ tier: Tier) {
    self.metric = metric
    self.tier = tier
  }

  /// The smallest threshold that is ever used: 5 % of time, and 3 % of CPU time or of one switch per operation.
  package var leastThreshold: Double {
    switch (GateScale(metric), tier) {
    case (.difference, _): 0.03
    case (_, .wallClock): 1.05
    case (_, _): 1.03
    }
  }

  /// The threshold without a calibration: half of the smallest slowdown that must be caught, 20 %.
  package var defaultThreshold: Double { GateScale(metric) == .difference ? 0.1 : 1.1 }
}
