import HarnessMeasuring

/// A number of a command: what is measured, under the name that the reader of the report sees.
package struct NamedNumber: Hashable, Sendable {
  /// The benchmark that the number is of; `the command` for the whole process.
  package let name: String
  package let metric: Metric

  package init(_ name: String, _ metric: Metric) { (self.name, self.metric) = (name, metric) }

  /// How far such a number is by nature the same every time.
  var tier: GatedMetric.Tier {
    metric.unit == "ns" && metric != Self.cpu || GateScale(metric) == .rate ? .wallClock : .steady
  }

  package static let whole = "the command"
  static let wall = Metric("wall_ns", unit: "ns")
  static let cpu = Metric("cpu_ns", unit: "ns")
  static let peak = Metric.peakRSS
  static let voluntary = Metric("voluntary_switches", unit: "switches")
  static let involuntary = Metric("involuntary_switches", unit: "switches")
  package static let instructions = Metric("instructions", unit: "instructions")

  /// The numbers that the process itself gives.
  static func numbers(of outcome: ProcessOutcome) -> [NamedNumber: Double] {
    let usage = outcome.usage
    var numbers: [Metric: Double] = [
      wall: Double(outcome.nanoseconds), cpu: usage.cpuSeconds * 1e9, peak: usage.peakBytes,
      voluntary: usage.voluntarySwitches, involuntary: usage.involuntarySwitches,
    ]
    numbers[instructions] = usage.instructions
    return Dictionary(uniqueKeysWithValues: numbers.map { (NamedNumber(whole, $0.key), $0.value) })
  }

  /// Whether the gate judges the number. Switches depend on what else the machine does, so they are shown and not
  /// judged.
  package var isJudged: Bool { metric != Self.voluntary && metric != Self.involuntary }

  /// The smallest change that counts, as a ratio or a difference, when times count from `threshold` on.
  func threshold(_ threshold: Double) -> Double {
    switch GateScale(metric) {
    case .difference: 0.5
    // Pages come and go by a few, and the kernel's part of the CPU time scatters.
    case _ where metric == Self.peak || metric == Self.cpu: max(threshold, 1.05)
    default: threshold
    }
  }
}

extension NamedNumber: Comparable {
  private static let order = [wall, cpu, instructions, peak, voluntary, involuntary]

  package static func < (one: NamedNumber, other: NamedNumber) -> Bool {
    let places = [one, other].map { order.firstIndex(of: $0.metric) ?? order.count }
    return (one.name, places[0], one.metric.name) < (other.name, places[1], other.metric.name)
  }
}
