import HarnessMeasuring
import HarnessWords

/// Tiers 1 and 2: base and head by turns, in blocks, compared measure by measure.
struct BlockTiers {
  private let cells: [GatedCell]
  private let resources: GateTiers.Resources

  init(_ cells: [GatedCell], _ resources: GateTiers.Resources) {
    self.cells = cells
    self.resources = resources
  }

  /// The blocks of a usual cell, for the progress.
  private static let usualBlocks = 20
  /// The seconds after which no more blocks begin. Where six blocks of everything take long, the cells get four times
  /// as many.
  private static let mostSeconds = 80.0

  /// Throws one line when the base cannot be measured.
  func run(_ runner: inout GateRunner, _ found: inout GateFindings) throws {
    let timed = cells.compactMap { $0.only(resources.tiers.subtracting([.deterministic])) }
    let blocks = runner.blocks(of: timed, usual: Self.usualBlocks, mostSeconds: Self.mostSeconds, while: isOpen)
    let failures = blocks.compactMap { cell, result in
      if case .failure(let failure) = result, failure.isBase, !failure.isNew { failure } else { nil }
    }
    if let failure = failures.first, failures.count == timed.count {
      throw Complaint(.unavailable, "the base cannot be measured: \(failure.reason)")
    }
    var findings: [GateFinding] = []
    for gated in timed {
      guard let triples = triples(gated.cell, blocks, &runner, &found) else { continue }
      for metric in gated.metrics {
        let pairs = triples.compactMap { $0.paired(metric.metric) }
        guard !pairs.isEmpty else {
          found.note("\(gated.cell) gives no \(metric.metric.name)")
          continue
        }
        findings.append(
          GateFinding(
            gated.cell, metric, triples, rule(gated.cell, metric).decide(pairs),
            threshold: threshold(gated.cell, metric)))
      }
    }
    found.add(findings.sorted { $0.tier < $1.tier })
    let missing = uncalibrated(timed)
    if !missing.isEmpty {
      let metric = GatedMetric(.nsPerOp, .wallClock)
      found.note(
        "not calibrated, so the threshold is x\(metric.defaultThreshold) for times: \(missing.joined(separator: ", ")); "
          + "\(ProgramName.own) gate --calibrate \(GateThresholds.fewestMedians) --output FILE finds thresholds, in about "
          + Progress.duration(
            GateCalibration.seconds(
              cells: timed.count, medians: GateThresholds.fewestMedians, eachProcess: runner.secondsOfProcess)))
    }
  }

  /// Whether a cell gets another block: while one of its measures needs it and there may be more.
  private func isOpen(_ gated: GatedCell, _ triples: [GateRunner.Triple]) -> Bool {
    guard GateRunner.mayGoOn(triples, counted: GateRule.mostBlocks) else { return false }
    return gated.metrics.contains { metric in
      let pairs = triples.compactMap { $0.paired(metric.metric) }
      // A metric that the benchmark never gives needs no blocks.
      return !pairs.isEmpty && rule(gated.cell, metric).isOpen(pairs)
    }
  }

  /// The blocks of a cell. When one of its processes failed, the result is nil, and a finding or a note is added.
  private func triples(
    _ cell: CellKey, _ blocks: [CellKey: Result<[GateRunner.Triple], GateRunner.Failure>],
    _ runner: inout GateRunner, _ found: inout GateFindings
  ) -> [GateRunner.Triple]? {
    switch blocks[cell] {
    case .success(let triples): return triples
    case .failure(let failure) where failure.isNew:
      found.note("\(cell.scenario.name) is new: the base has no such benchmark")
      if let own = runner.checkHead(cell) { found.noteSelfCheck(cell, own) }
    case .failure(let failure) where failure.isBase:
      // A head that fails, too, is no question of how steady the machine is.
      found.noteSelfCheck(cell, runner.checkHead(cell).map { $0.inBoth(failure) } ?? failure)
    case .failure(let failure): found.noteSelfCheck(cell, failure)
    // The run was interrupted before the cell's first block.
    case nil: break
    }
    return nil
  }

  private func rule(_ cell: CellKey, _ metric: GatedMetric) -> GateRule {
    GateRule(GateScale(metric.metric), threshold: threshold(cell, metric))
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
