/// Tiers 1 and 2: base and head by turns, in blocks, compared measure by measure.
struct BlockTiers {
  private let cells: [GatedCell]
  private let resources: GateRun.Resources

  init(_ cells: [GatedCell], _ resources: GateRun.Resources) {
    self.cells = cells
    self.resources = resources
  }

  private struct Measure: Hashable {
    let cell: CellKey
    let metric: GatedMetric
  }

  /// Throws one line when the base cannot be measured.
  func run(_ session: inout GateSession, _ found: inout GateFindings) throws {
    let timed = cells.compactMap { $0.only(resources.tiers.subtracting([.deterministic])) }
    let first = session.blocks(of: timed, counted: GateRule.firstBlocks, reversed: false)
    let failures = first.compactMap { cell, result in
      if case .failure(let failure) = result, failure.isBase, !failure.isNew { failure } else { nil }
    }
    if let failure = failures.first, failures.count == timed.count {
      throw Complaint(.unavailable, "the base cannot be measured: \(failure.reason)")
    }
    var decided: [Measure: GateFinding] = [:]
    var open: Set<Measure> = []
    for gated in timed {
      guard let triples = triples(gated.cell, first, &found) else { continue }
      for metric in gated.metrics {
        let threshold = threshold(gated.cell, metric)
        switch look(metric, triples, threshold) {
        case nil: found.note("\(gated.cell) gives no \(metric.metric.name)")
        case .clear:
          decided[Measure(cell: gated.cell, metric: metric)] = GateFinding(
            gated.cell, metric, triples, GateRule.Decision(.pass), threshold: threshold, stage: 1)
        case .suspect, .unclear: open.insert(Measure(cell: gated.cell, metric: metric))
        }
      }
    }
    decide(open, timed, &decided, &session, &found)
    found.add(
      timed.flatMap { gated in
        gated.metrics.compactMap { decided[Measure(cell: gated.cell, metric: $0)] }
      }.sorted { $0.tier < $1.tier })
    let missing = uncalibrated(timed)
    if !missing.isEmpty {
      let metric = GatedMetric(.nsPerOp, .wallClock)
      found.note(
        "not calibrated, so the threshold is x\(metric.defaultThreshold) for times: \(missing.joined(separator: ", ")); "
          + "\(ProgramName.own) gate --calibrate \(GateThresholds.fewestMedians) --output FILE finds thresholds")
    }
  }

  /// The second stage: measures the suspects, and the measures that the first stage could not clear. A measure that its
  /// blocks do not decide gets the same number of blocks again.
  private func decide(
    _ suspected: Set<Measure>, _ timed: [GatedCell], _ decided: inout [Measure: GateFinding],
    _ session: inout GateSession, _ found: inout GateFindings
  ) {
    var open = suspected
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
        guard let more = triples(gated.cell, fresh, &found) else { continue }
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
  private func triples(
    _ cell: CellKey, _ blocks: [CellKey: Result<[GateSession.Triple], GateSession.Failure>],
    _ found: inout GateFindings
  ) -> [GateSession.Triple]? {
    switch blocks[cell] {
    case .success(let triples): return triples
    case .failure(let failure) where failure.isNew:
      found.note("\(cell.scenario.name) is new: the base has no such benchmark")
    case .failure(let failure): found.noteSelfCheck(cell, failure)
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
    resources.threshold(cell, metric) ?? metric.defaultThreshold
  }

  /// The cells of which at least one measure has no calibrated threshold.
  private func uncalibrated(_ timed: [GatedCell]) -> [String] {
    timed.filter { gated in
      gated.metrics.contains { resources.threshold(gated.cell, $0) == nil }
    }.map { "\($0.cell.scenario)@\($0.cell.arm.workers)" }
  }
}
