import Glibc

/// What the gate says of one measure, with everything that a reader needs to believe it.
public struct GateFinding: Codable, Hashable, Sendable {
  public var tier: Int
  public var benchmark: String
  public var params: String
  public var backend: String
  public var workers: Int
  public var metric: String
  public var unit: String
  public var verdict: GateVerdict
  /// Why, where the numbers alone do not say.
  public var reason: String?

  /// Medians over processes; for recorded counts, the record and what was counted.
  public var base: Double?
  public var head: Double?
  public var scale: GateScale?
  /// The ratio of head to base, or their difference: the median over blocks.
  public var effect: Double?
  /// Its interval from the ranks of a sign test, from six blocks on.
  public var lower: Double?
  public var upper: Double?
  /// How often such an interval holds the truth.
  public var confidence: Double?
  /// What the base gives against itself.
  public var null: Double?
  public var threshold: Double?
  /// The stage that decided.
  public var stage: Int?
  /// Blocks that count, those of them in which the head was worse and better, and those that were left out.
  public var blocks: Int?
  public var worse: Int?
  public var better: Int?
  public var excluded: Int?

  public init(tier: GatedMetric.Tier, _ cell: CellKey, _ metric: Metric, _ verdict: GateVerdict, reason: String? = nil)
  {
    self.tier = tier.rawValue
    benchmark = "\(cell.scenario.name)"
    params = "\(cell.scenario.parameters)"
    backend = cell.arm.subject
    workers = cell.arm.workers
    self.metric = metric.name
    unit = metric.unit
    self.verdict = verdict
    self.reason = reason
  }

  /// A decision on blocks.
  public init(
    _ cell: CellKey, _ metric: GatedMetric, _ triples: [GateSession.Triple], _ decision: GateRule.Decision,
    threshold: Double, stage: Int
  ) {
    self.init(tier: metric.tier, cell, metric.metric, decision.verdict, reason: decision.reason)
    let scale = GateScale(metric.metric)
    self.scale = scale
    self.threshold = threshold
    self.stage = stage
    excluded = triples.count(where: \.isExcluded)
    let counted = triples.filter { !$0.isExcluded }
    let pairs = counted.compactMap { $0.paired(metric.metric) }
    blocks = pairs.count
    worse = pairs.count { $0.effect > 0 }
    better = pairs.count { $0.effect < 0 }
    guard !pairs.isEmpty else { return }
    base = Statistics.median(counted.compactMap { $0.base[metric.metric] })
    head = Statistics.median(counted.compactMap { $0.head[metric.metric] })
    let estimate = Statistics.estimate(pairs.map(\.effect))
    effect = scale.shown(estimate.median)
    null = scale.shown(Statistics.median(pairs.map(\.null)))
    if let interval = estimate.interval {
      lower = scale.shown(interval.lowerBound)
      upper = scale.shown(interval.upperBound)
      confidence = Statistics.medianRanks(pairs.count)?.coverage
    }
  }

  /// One count against the record.
  public static func count(
    _ cell: CellKey, _ metric: Metric, now: Double, then: Double, slack: Double, _ verdict: GateVerdict
  ) -> GateFinding {
    var finding = GateFinding(tier: .deterministic, cell, metric, verdict)
    finding.base = then
    finding.head = now
    finding.scale = .difference
    finding.effect = now - then
    finding.threshold = slack
    return finding
  }

  public var name: String { params.isEmpty ? benchmark : "\(benchmark) \(params)" }
}

/// A whole gate: what was compared, what was found, and what that means.
public struct GateReport: Codable, Sendable {
  public var schema = 1
  public var verdict: GateVerdict
  public var base: String?
  public var head: String
  public var provenance: Provenance
  public var seconds: Double
  public var stealShare: Double
  public var findings: [GateFinding]
  /// What was not looked at, and why; what a reader should know of the machine.
  public var notes: [String]

  public init(
    base: String?, head: String, provenance: Provenance, seconds: Double, stealShare: Double, findings: [GateFinding],
    notes: [String]
  ) {
    verdict = GateVerdict.combined(findings.map(\.verdict))
    self.base = base
    self.head = head
    self.provenance = provenance
    self.seconds = seconds
    self.stealShare = stealShare
    self.findings = findings
    self.notes = notes
  }

  public func json() throws -> String { try GateFile.text(self) }
}
