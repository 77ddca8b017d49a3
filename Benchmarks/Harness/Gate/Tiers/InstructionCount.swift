import HarnessMeasuring
import HarnessWords

/// Instructions per operation of a benchmark in which one thread does all the work. A count of several depends on which
/// of them is ahead. Two processes differ in how often they repeat the benchmark, so the cost of starting and ending
/// cancels out.
struct InstructionCount {
  private let cell: CellKey
  private let request: (Int) -> MeasureRequest
  private let launch: (GateArm, MeasureRequest) -> ProcessOutcome?

  static let fewRepeats = 2
  static let manyRepeats = 10
  /// The wanted difference in instructions. The instructions of starting vary by some thousand, which must be small
  /// beside the instructions of the repeats. So a short body is repeated more often.
  static let instructionsWanted = 4e6
  static let mostRepeats = 1_000_000

  init(
    _ cell: CellKey, seed: UInt64, spin: Spin, _ launch: @escaping (GateArm, MeasureRequest) -> ProcessOutcome?
  ) {
    self.cell = cell
    self.launch = launch
    request = {
      MeasureRequest(
        cell: cell, mode: .time(repeats: $0, values: 1), seed: seed, spin: spin)
    }
  }

  /// A thread that waits by spinning adds to a count. So when the two counts of the base disagree, or the head seems to
  /// have moved, all counts are repeated, and the lowest count of each is kept.
  static let mostRounds = 3

  /// Counts base, head and base again; nil when one of them cannot be counted.
  func compare(
    base: GateArm, head: GateArm, tolerance: Double
  ) -> Result<GateRunner.Triple, GateRunner.Failure>? {
    do throws(GateRunner.Failure) {
      var lowest = [Totals(), Totals(), Totals()]
      var many = Self.manyRepeats
      for round in 0..<Self.mostRounds {
        for (index, arm) in [base, head, base].enumerated() {
          guard
            let few = try total(arm, Self.fewRepeats, isBase: index != 1),
            var more = try total(arm, many, isBase: index != 1)
          else { return nil }
          // The first guess at a short body is mostly the cost of starting, so more than one guess may be needed.
          while round == 0, index == 0, many < Self.mostRepeats,
            more.instructions - few.instructions < Self.instructionsWanted / 2
          {
            let each = (more.instructions - few.instructions) / Double(many - Self.fewRepeats)
            many = Self.repeats(each: each, beyond: many)
            guard let again = try total(arm, many, isBase: true) else { return nil }
            more = again
          }
          lowest[index].add(few, isMany: false)
          lowest[index].add(more, isMany: true)
        }
        let base = lowest[0].perOperation
        if let null = GateScale.ratio.effect(lowest[2].perOperation, base), abs(null) < tolerance / 2,
          let effect = GateScale.ratio.effect(lowest[1].perOperation, base), abs(effect) < tolerance
        {
          break
        }
      }
      for (total, arm) in zip(lowest, [base, head]) where !(total.perOperation > 0) {
        throw GateRunner.Failure(
          isBase: arm == base, reason: "\(arm.name): more repeats took no more instructions")
      }
      func numbers(_ totals: Totals) -> [Metric: Double] { [.instructionsPerOp: totals.perOperation] }
      return .success(
        GateRunner.Triple(
          base: numbers(lowest[0]), head: numbers(lowest[1]), again: numbers(lowest[2]), isExcluded: false))
    } catch {
      return .failure(error)
    }
  }

  /// Whether a program cannot be counted.
  func fails(_ arm: GateArm) -> Bool {
    do throws(GateRunner.Failure) {
      _ = try total(arm, Self.fewRepeats, isBase: false)
      return false
    } catch { return true }
  }

  /// The number of repeats that take the wanted instructions, when one repeat takes `each` instructions: at least twice
  /// the number before.
  private static func repeats(each: Double, beyond before: Int) -> Int {
    guard each > instructionsWanted / Double(mostRepeats) else { return mostRepeats }
    return min(mostRepeats, max(2 * before, fewRepeats + Int(instructionsWanted / each)))
  }

  /// The fewest instructions of few repeats, and of many repeats.
  private struct Totals {
    private var few = (instructions: Double.infinity, operations: 0)
    private var many = (instructions: Double.infinity, operations: 0)

    mutating func add(_ total: (instructions: Double, operations: Int), isMany: Bool) {
      if isMany {
        if total.instructions < many.instructions { many = total }
      } else if total.instructions < few.instructions {
        few = total
      }
    }

    var perOperation: Double {
      many.operations > few.operations
        ? (many.instructions - few.instructions) / Double(many.operations - few.operations) : 0
    }
  }

  private func total(
    _ arm: GateArm, _ repeats: Int, isBase: Bool
  ) throws(GateRunner.Failure) -> (instructions: Double, operations: Int)? {
    let request = request(repeats)
    guard let all = launch(arm, request) else { return nil }
    let outcome = all.with(lines: all.lines.filter { !Callgrind.isOwn($0) })
    let lines = outcome.results
    if let failure = outcome.failure(request.mode) {
      throw GateRunner.Failure(
        isBase: isBase, isAbsent: lines.contains(.absent), reason: "\(arm.name) under valgrind: \(failure)")
    }
    var operations = 0
    for case .reading(1, let reading) in lines { operations = max(operations, reading.count) }
    guard let instructions = Callgrind.collected(all.lines), operations > 0 else {
      throw GateRunner.Failure(
        isBase: isBase, reason: "\(arm.name): valgrind does not say how many instructions it took")
    }
    return (instructions, operations)
  }

  /// The finding from one count each. A count that hardly varies needs no blocks, but the base must agree with itself.
  static func finding(
    _ cell: CellKey, _ metric: GatedMetric, _ triple: GateRunner.Triple, threshold: Double
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
    var finding = GateFinding(cell, metric, [triple], decision, threshold: threshold)
    finding.blocks = nil
    finding.excluded = nil
    return finding
  }
}
