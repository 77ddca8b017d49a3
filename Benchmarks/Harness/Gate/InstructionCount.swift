/// Instructions per operation of a benchmark that keeps one thread busy at a time, from two processes that differ in how
/// often they repeat it: what starting and ending cost drops out.
struct InstructionCount {
  private let cell: CellKey
  private let request: (Int) -> MeasureRequest
  private let launch: (GateArm, MeasureRequest) -> ProcessOutcome?

  static let fewRepeats = 2
  static let manyRepeats = 10

  init(
    _ cell: CellKey, seed: UInt64, spin: Spin, _ launch: @escaping (GateArm, MeasureRequest) -> ProcessOutcome?
  ) {
    self.cell = cell
    self.launch = launch
    request = {
      MeasureRequest(
        cell: cell, mode: .time(repeats: $0, values: 1, warmups: 0), seed: seed, spin: spin, graphs: [])
    }
  }

  /// Base, head and base again; nil where one of them cannot be counted.
  func compare(base: GateArm, head: GateArm) -> Result<GateSession.Triple, GateSession.Failure>? {
    do throws(GateSession.Failure) {
      guard let first = try perOperation(base, isBase: true), let second = try perOperation(head, isBase: false),
        let third = try perOperation(base, isBase: true)
      else { return nil }
      func numbers(_ count: Double) -> [Metric: Double] { [.instructionsPerOp: count] }
      return .success(
        GateSession.Triple(base: numbers(first), head: numbers(second), again: numbers(third), isExcluded: false))
    } catch {
      return .failure(error)
    }
  }

  func perOperation(_ arm: GateArm, isBase: Bool) throws(GateSession.Failure) -> Double? {
    guard let few = try total(arm, Self.fewRepeats, isBase: isBase),
      let many = try total(arm, Self.manyRepeats, isBase: isBase)
    else { return nil }
    guard many.operations > few.operations, many.instructions > few.instructions else {
      throw GateSession.Failure(isBase: isBase, reason: "\(arm.name): more repeats took no more instructions")
    }
    return (many.instructions - few.instructions) / Double(many.operations - few.operations)
  }

  private func total(
    _ arm: GateArm, _ repeats: Int, isBase: Bool
  ) throws(GateSession.Failure) -> (instructions: Double, operations: Int)? {
    guard let outcome = launch(arm, request(repeats)) else { return nil }
    let lines = outcome.lines.compactMap(ResultLine.init)
    if let failure = outcome.failure(lines) {
      throw GateSession.Failure(isBase: isBase, reason: "\(arm.name) under valgrind: \(failure)")
    }
    var operations = 0
    for case .reading(1, let reading) in lines { operations = max(operations, reading.count) }
    guard let instructions = Callgrind.collected(outcome.lines), operations > 0 else {
      throw GateSession.Failure(
        isBase: isBase, reason: "\(arm.name): valgrind does not say how many instructions it took")
    }
    return (instructions, operations)
  }

  /// One count each: no blocks are needed for what hardly varies, only that the base agrees with itself.
  static func finding(
    _ cell: CellKey, _ metric: GatedMetric, _ triple: GateSession.Triple, threshold: Double
  ) -> GateFinding {
    let tolerance = GateScale(metric.metric).tolerance(threshold)
    var decision = GateRule.Decision(.pass)
    if let pair = triple.paired(metric.metric) {
      if abs(pair.null) >= tolerance / 2 {
        decision = .init(.inconclusive, "two counts of the base differ by as much as half the threshold")
      } else if abs(pair.effect) >= tolerance {
        decision = .init(pair.effect > 0 ? .regression : .improvement)
      }
    }
    var finding = GateFinding(cell, metric, [triple], decision, threshold: threshold, stage: 1)
    finding.blocks = nil
    finding.worse = nil
    finding.better = nil
    finding.excluded = nil
    return finding
  }
}
