import HarnessWords

/// How long the rest of a run will take. For cells that have run already, the time that they have taken counts; for
/// other cells, the plan's guess counts, corrected by how wrong the guesses have been.
package struct TimeLeft: Sendable {
  private let plan: Plan
  private var taken: [Kind: (total: Double, count: Int)] = [:]
  private var guessed = 0.0
  private var spent = 0.0

  /// Calibrating, timing, counting and tracing the same cell take different times.
  private struct Kind: Hashable {
    let cell: CellKey
    let step: Int
  }

  package init(_ plan: Plan) { self.plan = plan }

  package mutating func finished(_ step: Plan.Step, seconds: Double) {
    let known = taken[kind(step)] ?? (0, 0)
    taken[kind(step)] = (known.total + seconds, known.count + 1)
    guessed += plan.estimate(step)
    spent += seconds
  }

  package func seconds(_ steps: some Sequence<Plan.Step>) -> Double {
    let correction = guessed > 0 ? spent / guessed : 1
    return steps.reduce(0) { sum, step in
      if let known = taken[kind(step)] { return sum + known.total / Double(known.count) }
      return sum + plan.estimate(step) * correction
    }
  }

  private func kind(_ step: Plan.Step) -> Kind {
    switch step {
    case .calibrate(let cell): Kind(cell: cell, step: 0)
    case .time(let cell, _): Kind(cell: cell, step: 1)
    case .count(let cell): Kind(cell: cell, step: 2)
    case .trace(let cell): Kind(cell: cell, step: 3)
    }
  }
}
