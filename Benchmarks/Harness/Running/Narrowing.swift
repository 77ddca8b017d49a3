import HarnessPlanning
import HarnessResults
import HarnessWords

/// What a run with a goal does after its first blocks: which scenarios have another turn, and with which arms.
struct Narrowing {
  private let plan: Plan
  private let result: RunResult
  /// The blocks of each scenario so far, in order.
  private let blocks: [Scenario: [Int]]

  init(_ plan: Plan, _ result: RunResult) {
    self.plan = plan
    self.result = result
    blocks = Dictionary(grouping: result.blocksRun, by: \.scenario).mapValues { $0.map(\.block).sorted() }
  }

  /// A cell that is measured seldom has one block for this number of the scenario's blocks.
  private static let seldomShare = 3

  /// The arms that run in every block. A failed cell never runs again.
  private func quickArms(_ planned: PlannedScenario) -> [Arm] {
    planned.arms.filter { arm in
      let cell = CellKey(planned.scenario, arm)
      return result.failures[cell] == nil && !(result.seldom?.contains(cell) ?? false)
    }
  }

  /// The seldom arms run in all of the first blocks, because an interval needs six. They run again once the scenario
  /// has three times as many blocks as they have.
  private func turn(_ planned: PlannedScenario, block: Int, number: Int) -> Turn {
    let hasAll = number > Self.seldomShare * plan.effort.blocks && number % Self.seldomShare == 1
    let all = planned.arms.filter { result.failures[CellKey(planned.scenario, $0)] == nil }
    return plan.turn(planned, block: block, number: number, arms: hasAll ? all : quickArms(planned))
  }

  /// The turns behind the first blocks in which an arm is missing, because the run was stopped there. A turn of which
  /// nothing is missing does nothing when it runs.
  var unfinished: [Turn] {
    plan.scenarios.flatMap { planned in
      zip(1..., blocks[planned.scenario] ?? []).filter { $1 > plan.effort.blocks }.map { number, block in
        turn(planned, block: block, number: number)
      }
    }
  }

  /// The turns of a round. Empty when everything is narrow enough.
  func round(block: Int, widths: inout RunWidths, goal: Goal, timeLeft: TimeLeft) -> [Turn] {
    var turns: [Turn] = []
    var candidates: [Allocation.Candidate] = []
    for planned in plan.scenarios {
      guard let own = blocks[planned.scenario], let now = widest(planned, &widths) else { continue }
      turns.append(turn(planned, block: block, number: own.count + 1))
      candidates.append(
        .init(
          halfWidth: now.halfWidth, before: widest(planned, &widths, withoutLast: true)?.halfWidth,
          expected: now.expected, blocks: now.blocks, seconds: timeLeft.seconds(turns.last!.steps)))
    }
    let chosen = Allocation.round(block, candidates, goal: goal.halfWidth).map { turns[$0] }
    let byScenario = Dictionary(uniqueKeysWithValues: chosen.map { ($0.planned.scenario, $0) })
    return plan.shuffled(chosen.map(\.planned), block: block).map { byScenario[$0.scenario]! }
  }

  /// The half-width of each scenario that has one.
  func halfWidths(_ widths: inout RunWidths) -> [Scenario: Double] {
    var found: [Scenario: Double] = [:]
    for planned in plan.scenarios { found[planned.scenario] = widest(planned, &widths)?.halfWidth }
    return found
  }

  /// The widest interval of a scenario: of the ratios of the arms that run in every block, or of the time of a single
  /// arm. A ratio without an interval, because blocks were lost, is the widest. Nil when there is no ratio.
  /// - Parameter withoutLast: whether the last block that counts is left out.
  private func widest(_ planned: PlannedScenario, _ widths: inout RunWidths, withoutLast: Bool = false)
    -> RunWidths.Width?
  {
    let excluded = result.excluded
    let counted = (blocks[planned.scenario] ?? []).filter { block in
      !excluded.contains(ScenarioBlock(planned.scenario, block: block))
    }
    return widths.all(planned, arms: quickArms(planned), blocks: withoutLast ? counted.dropLast() : counted)
      .max { ($0.halfWidth ?? .infinity) < ($1.halfWidth ?? .infinity) }
  }
}
