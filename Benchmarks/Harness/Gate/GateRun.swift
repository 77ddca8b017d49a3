/// A whole gate: what the tiers find, from the first process to the last. Only the session and the count of
/// instructions start processes, so tests run a gate without any process.
package struct GateRun {
  /// What the gate compares head and base against, and with what tools.
  package struct Resources: Sendable {
    package var tiers: Set<GatedMetric.Tier> = Set(GatedMetric.Tier.allCases)
    package var thresholds = GateThresholds()
    package var record: AllocationRecord?
    /// How the head was built. The record has entries for each kind of build.
    package var build = "release"
    /// The subject whose record and thresholds hold for the subject that is measured; nil: the measured subject's own.
    package var recordedSubject: String?
    /// The additions to the environment of the counting processes; nil when allocations cannot be counted.
    package var countingEnvironment: [String: String]?

    package init() {}
  }

  private let cells: [GatedCell]
  private let resources: Resources
  private let hasBase: Bool
  private var session: GateSession
  /// The instructions of one measuring process; nil when instructions cannot be counted.
  private let instructions: ((GateArm, MeasureRequest) -> ProcessOutcome?)?
  private(set) package var notes: [String] = []
  private var findings: [GateFinding] = []

  package init(
    _ cells: [GatedCell], _ resources: Resources, session: GateSession, hasBase: Bool,
    instructions: ((GateArm, MeasureRequest) -> ProcessOutcome?)? = nil
  ) {
    self.cells = cells
    self.resources = resources
    self.session = session
    self.hasBase = hasBase
    self.instructions = instructions
  }

  package static let selfCheck = Metric("self_check", unit: "")

  /// Throws one line when the base is not a program that the gate can compare with.
  package mutating func run() throws -> [GateFinding] {
    if resources.tiers.contains(.deterministic) { checkAndCount() }
    if hasBase { try compare() }
    return findings
  }

  // MARK: Tier 0

  private mutating func checkAndCount() {
    let narrow = cells.filter(\.countsAllocations)
    if resources.countingEnvironment == nil, !narrow.isEmpty { notes.append(Jemalloc.advice) }
    var unrecorded: [String] = []
    for gated in narrow {
      switch Self.counts(gated, &session, session.head, resources.countingEnvironment) {
      case .failure(let failure): noteSelfCheck(gated.cell, failure)
      case .success(let counts):
        findings.append(GateFinding(tier: .deterministic, gated.cell, Self.selfCheck, .pass))
        guard let counts else { continue }
        let entry = resources.record?.entry(recorded(gated.cell), build: resources.build)
        if entry == nil { unrecorded.append("\(gated.cell.scenario)") }
        findings += agreed(gated, Self.judged(gated.cell, counts, entry), entry)
      }
    }
    for gated in cells {
      for metric in gated.metrics where metric.tier == .deterministic { countWhatMustBeZero(gated.cell, metric.metric) }
    }
    if !unrecorded.isEmpty {
      notes.append(
        "no record of the allocations of a \(resources.build) build for \(unrecorded.joined(separator: ", ")); "
          + "\(ProgramName.own) gate --record FILE makes one")
    }
  }

  private static func judged(
    _ cell: CellKey, _ counts: AllocationCounts, _ entry: AllocationRecord.Entry?
  ) -> [GateFinding] {
    let retained = counts.retained.map { retained in
      GateFinding.limited(
        cell, .retainedBytesPerOp, now: retained.bytesPerOp, most: retained.bound,
        retained.isLeak ? .regression : .pass, reason: retained.basis)
    }
    let recorded = (entry?.verdicts(counts) ?? []).map {
      GateFinding.count(cell, $0.metric, now: $0.now, then: $0.then, slack: $0.slack, $0.4)
    }
    return (retained.map { [$0] } ?? []) + recorded
  }

  /// The number of processes that must agree that a count has moved.
  static let agreeingProcesses = 6

  /// The findings of the first process, when other processes agree.
  ///
  /// The memory of operations is used again, so a count depends on how far a worker falls behind the thread that adds.
  /// When the worker is held up, the process allocates for every operation that waits. A count that has really changed
  /// is beyond its bounds in every process. The finding is then that of the process whose count is nearest to the
  /// bounds.
  private mutating func agreed(
    _ gated: GatedCell, _ first: [GateFinding], _ entry: AllocationRecord.Entry?
  ) -> [GateFinding] {
    var found = first
    for process in 2...Self.agreeingProcesses where found.contains(where: { $0.verdict != .pass }) {
      let more: [GateFinding]
      switch Self.counts(gated, &session, session.head, resources.countingEnvironment) {
      case .success(let counts): more = counts.map { Self.judged(gated.cell, $0, entry) } ?? []
      case .failure(let failure):
        noteSelfCheck(gated.cell, failure)
        return found
      }
      found = found.map { earlier in
        guard earlier.verdict != .pass, var now = more.first(where: { $0.metric == earlier.metric }) else {
          return earlier
        }
        if now.verdict == earlier.verdict, abs(now.effect ?? 0) > abs(earlier.effect ?? 0) { now = earlier }
        // One process counted more and another less, so the count has not changed.
        if now.verdict != earlier.verdict { now.verdict = .pass }
        now.processes = process
        return now
      }
    }
    return found
  }

  /// The number of repeats of a benchmark whose number must be zero.
  private static let zeroRepeats = 50

  private mutating func countWhatMustBeZero(_ cell: CellKey, _ metric: Metric) {
    do throws(GateSession.Failure) {
      let mode = MeasureRequest.Mode.time(repeats: Self.zeroRepeats, values: 1)
      let found = GateSession.medians(try session.run(session.head, cell, mode, isBase: false))[metric]
      guard let found else {
        return notes.append("\(cell) gives no \(metric.name)")
      }
      findings.append(.limited(cell, metric, now: found, most: 0, found > 0 ? .regression : .pass))
    } catch {
      noteSelfCheck(cell, error)
    }
  }

  /// What the environment of a process says so that no memory of operations is used again.
  private static let noReuse = ["OPERATIONS_REUSE": "off"]

  /// Runs one process that checks itself and counts its threads, and two processes that count allocations: as it is,
  /// and with no memory used again. The counts are nil when allocations cannot be counted.
  package static func counts(
    _ gated: GatedCell, _ session: inout GateSession, _ arm: GateArm, _ environment: [String: String]?
  ) -> Result<AllocationCounts?, GateSession.Failure> {
    do throws(GateSession.Failure) {
      let mode = MeasureRequest.Mode.time(repeats: 1, values: 1, leadIn: 1)
      let timed = GateSession.medians(try session.run(arm, gated.cell, mode, isBase: false))
      guard let environment else { return .success(nil) }
      let lines = try session.run(arm, gated.cell, .count(values: 3), environment, isBase: false)
      let counted = GateSession.medians(lines)
      let everyOne = environment.merging(noReuse) { $1 }
      let fresh = GateSession.medians(try session.run(arm, gated.cell, .count(values: 1), everyOne, isBase: false))
      var retained: AllocationCounts.Retained?
      for case .reading(_, let reading) in lines where reading.metric == .retainedBytesPerOp {
        retained = AllocationCounts.Retained(bytesPerOp: reading.value, operations: reading.count)
      }
      guard let allocations = counted[.allocationsPerOp], let bytes = counted[.bytesPerOp],
        let freshAllocations = fresh[.allocationsPerOp], let freshBytes = fresh[.bytesPerOp]
      else {
        throw GateSession.Failure(isBase: false, reason: "\(arm.name): no allocations were counted")
      }
      return .success(
        AllocationCounts(
          allocations: allocations, bytes: bytes, threads: timed[.threadsCreated] ?? 0,
          fresh: AllocationCounts.Fresh(allocations: freshAllocations, bytes: freshBytes), retained: retained))
    } catch {
      return .failure(error)
    }
  }

  /// Records a head that fails its own checks, crashes or hangs: the worst finding.
  private mutating func noteSelfCheck(_ cell: CellKey, _ failure: GateSession.Failure) {
    let verdict = failure.isBase ? GateVerdict.inconclusive : .regression
    findings.append(
      GateFinding(tier: .deterministic, cell, Self.selfCheck, verdict, reason: failure.reason))
  }

  // MARK: Tiers 1 and 2

  private struct Measure: Hashable {
    let cell: CellKey
    let metric: GatedMetric
  }

  private mutating func compare() throws {
    let timed = cells.compactMap { $0.only(resources.tiers.subtracting([.deterministic])) }
    if resources.tiers.contains(.steady) { countInstructions() }
    let first = session.blocks(of: timed, counted: GateRule.firstBlocks, reversed: false)
    let failures = first.compactMap { cell, result in
      if case .failure(let failure) = result, failure.isBase, !failure.isNew { failure } else { nil }
    }
    if let failure = failures.first, failures.count == timed.count {
      throw Complaint(.unavailable, "the base cannot be measured: \(failure.reason)")
    }
    var decided: [Measure: GateFinding] = [:]
    var open: [Measure: String?] = [:]
    for gated in timed {
      guard let triples = triples(gated.cell, first) else { continue }
      for metric in gated.metrics {
        let threshold = threshold(gated.cell, metric)
        switch look(metric, triples, threshold) {
        case nil: notes.append("\(gated.cell) gives no \(metric.metric.name)")
        case .clear:
          decided[Measure(cell: gated.cell, metric: metric)] = GateFinding(
            gated.cell, metric, triples, GateRule.Decision(.pass), threshold: threshold, stage: 1)
        case .suspect: open[Measure(cell: gated.cell, metric: metric)] = .some(nil)
        case .unclear(let reason): open[Measure(cell: gated.cell, metric: metric)] = reason
        }
      }
    }
    decide(open, timed, &decided)
    findings += timed.flatMap { gated in
      gated.metrics.compactMap { decided[Measure(cell: gated.cell, metric: $0)] }
    }.sorted { $0.tier < $1.tier }
    let missing = uncalibrated(timed)
    if !missing.isEmpty {
      let metric = GatedMetric(.nsPerOp, .wallClock)
      notes.append(
        "not calibrated, so the threshold is x\(metric.defaultThreshold) for times: \(missing.joined(separator: ", ")); "
          + "\(ProgramName.own) gate --calibrate \(GateThresholds.fewestMedians) --output FILE finds thresholds")
    }
  }

  /// The second stage: measures the suspects, and the measures that the first stage could not clear. A measure that its
  /// blocks do not decide gets the same number of blocks again.
  private mutating func decide(
    _ open: [Measure: String?], _ timed: [GatedCell], _ decided: inout [Measure: GateFinding]
  ) {
    var open = Set(open.keys)
    var sofar: [CellKey: [GateSession.Triple]] = [:]
    while !open.isEmpty {
      let suspects = timed.compactMap { gated -> GatedCell? in
        let metrics = gated.metrics.filter { open.contains(Measure(cell: gated.cell, metric: $0)) }
        return metrics.isEmpty ? nil : GatedCell(gated.cell, metrics)
      }
      let fresh = session.blocks(
        of: suspects, counted: GateRule.secondBlocks, reversed: true, after: sofar.values.map(\.count).max() ?? 0)
      open = []
      for gated in suspects {
        guard let more = triples(gated.cell, fresh) else { continue }
        let triples = sofar[gated.cell, default: []] + more
        sofar[gated.cell] = triples
        for metric in gated.metrics {
          let threshold = threshold(gated.cell, metric)
          let pairs = triples.compactMap { $0.paired(metric.metric) }
          let decision = GateRule(tolerance: GateScale(metric.metric).tolerance(threshold)).decide(
            pairs, of: triples.count)
          let measure = Measure(cell: gated.cell, metric: metric)
          decided[measure] = GateFinding(gated.cell, metric, triples, decision, threshold: threshold, stage: 2)
          if decision.isOpenForMore { open.insert(measure) }
        }
      }
    }
  }

  /// The blocks of a cell. When one of its processes failed, the result is nil, and a finding or a note is added.
  private mutating func triples(
    _ cell: CellKey, _ found: [CellKey: Result<[GateSession.Triple], GateSession.Failure>]
  ) -> [GateSession.Triple]? {
    switch found[cell] {
    case .success(let triples): return triples
    case .failure(let failure) where failure.isNew:
      notes.append("\(cell.scenario.name) is new: the base has no such benchmark")
    case .failure(let failure): noteSelfCheck(cell, failure)
    // The run was interrupted before the cell's first block.
    case nil: break
    }
    return nil
  }

  /// Nil when the metric is not reported.
  private func look(_ metric: GatedMetric, _ triples: [GateSession.Triple], _ threshold: Double) -> GateRule.FirstLook?
  {
    let pairs = triples.compactMap { $0.paired(metric.metric) }
    guard !pairs.isEmpty else { return nil }
    return GateRule(tolerance: GateScale(metric.metric).tolerance(threshold)).firstLook(pairs)
  }

  private func threshold(_ cell: CellKey, _ metric: GatedMetric) -> Double {
    resources.thresholds.entry(recorded(cell), metric.metric)?.threshold ?? metric.defaultThreshold
  }

  /// The cell's name in the committed files.
  private func recorded(_ cell: CellKey) -> CellKey {
    CellKey(cell.scenario, Arm(subject: resources.recordedSubject ?? cell.arm.subject, workers: cell.arm.workers))
  }

  /// The cells of which at least one measure has no calibrated threshold.
  private func uncalibrated(_ timed: [GatedCell]) -> [String] {
    timed.filter { gated in
      gated.metrics.contains { resources.thresholds.entry(recorded(gated.cell), $0.metric) == nil }
    }.map { "\($0.cell.scenario)@\($0.cell.arm.workers)" }
  }

  // MARK: Instructions

  private mutating func countInstructions() {
    let single = cells.filter(\.countsInstructions)
    guard !single.isEmpty else { return }
    guard let instructions else {
      notes.append("instructions are not counted; to have them: apt-get install valgrind binutils")
      return
    }
    for gated in single {
      let metric = GatedMetric(.instructionsPerOp, .steady)
      let count = InstructionCount(gated.cell, seed: session.seed, spin: session.spin, instructions)
      let threshold =
        resources.thresholds.entry(recorded(gated.cell), metric.metric)?.threshold ?? metric.leastThreshold
      let tolerance = GateScale(metric.metric).tolerance(threshold)
      switch count.compare(base: session.base, head: session.head, tolerance: tolerance) {
      case nil:
        notes.append("the instructions of \(gated.cell.scenario.name) are not counted: strip cannot read the program")
      // The blocks report a new benchmark too, and one report is enough.
      case .failure(let failure) where failure.isNew: continue
      case .failure(let failure): noteSelfCheck(gated.cell, failure)
      case .success(let triple):
        findings.append(InstructionCount.finding(gated.cell, metric, triple, threshold: threshold))
      }
    }
  }
}
