import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// What the gate found for one measure, with everything that a reader needs to check the finding.
package struct GateFinding: Codable, Hashable, Sendable {
  package var tier: Int
  package var benchmark: String
  package var params: String
  package var backend: String
  /// Nil for a command, which has no subject and no number of workers that the gate knows.
  package var workers: Int?
  package var metric: String
  package var unit: String
  package var verdict: GateVerdict
  /// The reason, when the numbers alone do not say enough.
  package var reason: String?

  /// Of a measure that passed: the side to which it has surely moved, within its threshold; nil when it is not sure to
  /// have moved.
  package var moved: Side?

  package enum Side: String, Codable, Sendable {
    case worse, better
  }

  /// The medians over processes. For recorded counts, the record and the count. A count without a record has no base.
  package var base: Double?
  package var head: Double?
  package var scale: GateScale?
  /// The ratio of head to base, or the difference: the centre over blocks.
  package var effect: Double?
  /// The interval of the effect from capped signed ranks; there is one from six blocks on.
  package var lower: Double?
  package var upper: Double?
  /// The probability that such an interval holds the truth.
  package var confidence: Double?
  /// The effect of the base against itself.
  package var null: Double?
  package var threshold: Double?
  /// The number of blocks that count, and the number of blocks that were left out.
  package var blocks: Int?
  package var excluded: Int?
  /// For a count, the number of processes that were asked when one was not enough.
  package var processes: Int?

  /// The metric of the finding that says whether a program passed its own checks.
  package static let selfCheck = Metric("self_check", unit: "")

  package init(tier: GatedMetric.Tier, _ cell: CellKey, _ metric: Metric, _ verdict: GateVerdict, reason: String? = nil)
  {
    self.init(tier: tier, "\(cell.scenario.name)", metric, verdict, reason: reason)
    params = "\(cell.scenario.parameters)"
    backend = cell.arm.subject
    workers = cell.arm.workers
  }

  /// The finding of something that has no subject.
  package init(tier: GatedMetric.Tier, _ name: String, _ metric: Metric, _ verdict: GateVerdict, reason: String? = nil)
  {
    self.tier = tier.rawValue
    (benchmark, params, backend) = (name, "", "")
    self.metric = metric.name
    unit = metric.unit
    self.verdict = verdict
    self.reason = reason
  }

  /// The finding of a decision on blocks.
  package init(
    _ cell: CellKey, _ metric: GatedMetric, _ triples: [GateRunner.Triple], _ decision: GateRule.Decision,
    threshold: Double
  ) {
    self.init(tier: metric.tier, cell, metric.metric, decision.verdict, reason: decision.reason)
    add(triples, metric.metric, threshold: threshold)
  }

  /// Adds what the blocks say.
  package mutating func add(_ triples: [GateRunner.Triple], _ metric: Metric, threshold: Double) {
    let scale = GateScale(metric)
    self.scale = scale
    self.threshold = threshold
    excluded = triples.count(where: \.isExcluded)
    let counted = triples.filter { !$0.isExcluded }
    let pairs = counted.compactMap { $0.paired(metric) }
    blocks = pairs.count
    guard !pairs.isEmpty else { return }
    base = Statistics.median(counted.compactMap { $0.base[metric] })
    head = Statistics.median(counted.compactMap { $0.head[metric] })
    let estimate = Statistics.pairedEstimate(pairs.map(\.effect))
    effect = scale.shown(estimate.median)
    let control = Statistics.pairedEstimate(pairs.map(\.null))
    null = scale.shown(control.median)
    if let interval = estimate.interval {
      let shown = scale.shown(interval)
      (lower, upper) = (shown.lowerBound, shown.upperBound)
      confidence = SignedRank.coverage(pairs.count)
      // Of many measures one interval misses the truth by chance. So it counts as sure only what lies beyond the
      // interval of the base against itself, too.
      if verdict == .pass, let control = control.interval {
        if interval.lowerBound > max(0, control.upperBound) { moved = .worse }
        if interval.upperBound < min(0, control.lowerBound) { moved = .better }
        reason = reason ?? movement
      }
    }
  }

  /// The finding of one count against the record.
  static func count(_ cell: CellKey, _ judged: AllocationRecord.Entry.Judgement) -> GateFinding {
    var finding = GateFinding(tier: .deterministic, cell, judged.metric, judged.verdict)
    finding.base = judged.then
    finding.head = judged.now
    finding.scale = .difference
    finding.effect = judged.now - judged.then
    finding.threshold = judged.slack
    return finding
  }

  /// The finding of one count that has an upper bound and no record.
  package static func limited(
    _ cell: CellKey, _ metric: Metric, now: Double, most: Double, _ verdict: GateVerdict, reason: String? = nil
  ) -> GateFinding {
    var finding = GateFinding(tier: .deterministic, cell, metric, verdict, reason: reason)
    finding.head = now
    finding.scale = .difference
    finding.effect = now
    finding.threshold = most
    return finding
  }

  /// Whether the finding is a count against a record of counts.
  var isAgainstRecord: Bool { tier == GatedMetric.Tier.deterministic.rawValue && base != nil }

  package var name: String { params.isEmpty ? benchmark : "\(benchmark) \(params)" }

  /// The name with the number of workers, where there is one.
  var label: String { workers.map { "\(name)@\($0)" } ?? name }
}
