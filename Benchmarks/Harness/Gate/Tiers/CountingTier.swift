import HarnessMeasuring
import HarnessWords

/// Tier 0: the head checks itself, and its counts are held against the record.
package struct CountingTier {
  private let cells: [GatedCell]
  private let resources: GateTiers.Resources

  init(_ cells: [GatedCell], _ resources: GateTiers.Resources) {
    self.cells = cells
    self.resources = resources
  }

  func run(_ runner: inout GateRunner, _ found: inout GateFindings) {
    let narrow = cells.filter(\.countsAllocations)
    if resources.countingEnvironment == nil, !narrow.isEmpty { found.note(Jemalloc.advice) }
    var unrecorded: [String] = []
    for gated in narrow {
      switch Self.counts(gated, &runner, runner.head, resources.countingEnvironment) {
      case .failure(let failure): found.noteSelfCheck(gated.cell, failure)
      case .success(let counts):
        found.add(GateFinding(tier: .deterministic, gated.cell, GateFinding.selfCheck, .pass))
        guard let counts else { continue }
        let entry = resources.record?.entry(resources.recorded(gated.cell), build: resources.build)
        if entry == nil { unrecorded.append("\(gated.cell.scenario)") }
        found.add(agreed(gated, Self.judged(gated.cell, counts, entry), entry, &runner, &found))
      }
    }
    for gated in cells {
      for metric in gated.metrics where metric.tier == .deterministic {
        countWhatMustBeZero(gated.cell, metric.metric, &runner, &found)
      }
    }
    if let record = resources.record, let base = resources.baseRecord {
      for line in record.raised(since: base, build: resources.build) { found.note(line) }
    }
    if !unrecorded.isEmpty {
      found.note(
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
    let recorded = (entry?.judgements(counts) ?? []).map {
      GateFinding.count(cell, $0)
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
  private func agreed(
    _ gated: GatedCell, _ first: [GateFinding], _ entry: AllocationRecord.Entry?, _ runner: inout GateRunner,
    _ found: inout GateFindings
  ) -> [GateFinding] {
    var agreed = first
    for process in 2...Self.agreeingProcesses where agreed.contains(where: { $0.verdict != .pass }) {
      let more: [GateFinding]
      switch Self.counts(gated, &runner, runner.head, resources.countingEnvironment) {
      case .success(let counts): more = counts.map { Self.judged(gated.cell, $0, entry) } ?? []
      case .failure(let failure):
        found.noteSelfCheck(gated.cell, failure)
        return agreed
      }
      agreed = agreed.map { earlier in
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
    return agreed
  }

  /// The number of repeats of a benchmark whose number must be zero.
  private static let zeroRepeats = 50

  private func countWhatMustBeZero(
    _ cell: CellKey, _ metric: Metric, _ runner: inout GateRunner, _ found: inout GateFindings
  ) {
    do throws(GateRunner.Failure) {
      let mode = MeasureRequest.Mode.time(repeats: Self.zeroRepeats, values: 1)
      let number = GateRunner.medians(try runner.run(runner.head, cell, mode, isBase: false))[metric]
      guard let number else {
        return found.note("\(cell) gives no \(metric.name)")
      }
      found.add(.limited(cell, metric, now: number, most: 0, number > 0 ? .regression : .pass))
    } catch {
      found.noteSelfCheck(cell, error)
    }
  }

  /// What the environment of a process says so that no memory of operations is used again.
  private static let noReuse = ["OPERATIONS_REUSE": "off"]

  /// Runs one process that checks itself and counts its threads, and two processes that count allocations: as it is,
  /// and with no memory used again. The counts are nil when allocations cannot be counted.
  package static func counts(
    _ gated: GatedCell, _ runner: inout GateRunner, _ arm: GateArm, _ environment: [String: String]?
  ) -> Result<AllocationCounts?, GateRunner.Failure> {
    do throws(GateRunner.Failure) {
      let mode = MeasureRequest.Mode.time(repeats: 1, values: 1, leadIn: 1)
      let timed = GateRunner.medians(try runner.run(arm, gated.cell, mode, isBase: false))
      guard let environment else { return .success(nil) }
      let lines = try runner.run(arm, gated.cell, .count(values: 3), environment, isBase: false)
      let counted = GateRunner.medians(lines)
      let everyOne = environment.merging(noReuse) { $1 }
      let fresh = GateRunner.medians(try runner.run(arm, gated.cell, .count(values: 1), everyOne, isBase: false))
      var retained: AllocationCounts.Retained?
      for case .reading(_, let reading) in lines where reading.metric == .retainedBytesPerOp {
        retained = AllocationCounts.Retained(bytesPerOp: reading.value, operations: reading.count)
      }
      guard let allocations = counted[.allocationsPerOp], let bytes = counted[.bytesPerOp],
        let freshAllocations = fresh[.allocationsPerOp], let freshBytes = fresh[.bytesPerOp]
      else {
        throw GateRunner.Failure(isBase: false, reason: "\(arm.name): no allocations were counted")
      }
      return .success(
        AllocationCounts(
          allocations: allocations, bytes: bytes, threads: timed[.threadsCreated] ?? 0,
          fresh: AllocationCounts.Fresh(allocations: freshAllocations, bytes: freshBytes), retained: retained))
    } catch {
      return .failure(error)
    }
  }
}
