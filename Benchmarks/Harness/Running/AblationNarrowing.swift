import HarnessPlanning
import HarnessResults
import HarnessStatistics
import HarnessWords

/// What an ablation does after its first blocks: which changes have another turn, in which scenario.
///
/// Time goes where the verdict is open: to comparisons that are neither decided (`Ablation.Looks`) nor as narrow as the
/// goal. The width is that at which the intervals of all comparisons hold together whatever their errors (`Widening`).
struct AblationNarrowing {
  private let plan: Plan
  private let looks: Ablation.Looks
  private let widening: Widening
  /// The last answer about each comparison, by the number of its blocks: most have no new block since the last round.
  private var known: [CellKey: Known] = [:]

  private struct Known {
    let blocks: Int
    let answer: RunWidths.Width
    /// The half-width at the answer before this one.
    let before: Double?
    let isDecided: Bool
  }

  init(_ plan: Plan) {
    self.plan = plan
    let ofScenarios = plan.scenarios.reduce(0) { $0 + $1.arms.count - 1 }
    let families = Set(plan.scenarios.map(\.scenario.name.family)).count
    let ofFamilies = (families > 1 ? families + 1 : families) * max(0, plan.arms.count - 1)
    looks = Ablation.Looks(comparisons: ofScenarios)
    widening = Widening(comparisons: max(ofScenarios, ofFamilies))
  }

  /// The comparisons that are open, with what a block of each costs.
  private mutating func open(
    _ widths: RunWidths, _ result: RunResult, _ goal: Goal, _ timeLeft: TimeLeft
  ) -> [(cell: CellKey, planned: PlannedScenario, candidate: Allocation.Candidate)] {
    let excluded = result.excluded
    var found: [(CellKey, PlannedScenario, Allocation.Candidate)] = []
    for planned in plan.scenarios {
      guard let base = planned.arms.first, result.failures[CellKey(planned.scenario, base)] == nil else { continue }
      for arm in planned.arms.dropFirst() {
        let cell = CellKey(planned.scenario, arm)
        guard result.failures[cell] == nil else { continue }
        let lines = widths.logarithms(planned.scenario, arm, base) {
          !excluded.contains(ScenarioBlock(planned.scenario, block: $0))
        }
        let blocks = lines.map(\.count).min() ?? 0
        if known[cell]?.blocks != blocks {
          let widest = lines.map { RunWidths.width($0, confidence: widening.confidence) }.max {
            ($0.halfWidth ?? .infinity) < ($1.halfWidth ?? .infinity)
          }
          let before = known[cell]?.answer.halfWidth
          known[cell] = widest.map {
            Known(blocks: blocks, answer: $0, before: before, isDecided: lines.allSatisfy(looks.isDecided))
          }
        }
        guard let now = known[cell], !now.isDecided else { continue }
        found.append(
          (
            cell, planned,
            .init(
              halfWidth: now.answer.halfWidth, before: now.before, expected: now.answer.expected, blocks: now.blocks,
              seconds: timeLeft.seconds([.time(cell, block: 1)]))
          ))
      }
    }
    return found.filter { !$0.2.isNarrow(goal.halfWidth) }
  }

  /// The turns of a round: of each scenario that has open comparisons, those that the rule of allocation takes. Empty
  /// when every verdict is in.
  mutating func round(
    block: Int, _ widths: RunWidths, _ result: RunResult, goal: Goal, timeLeft: TimeLeft
  ) -> [Turn] {
    let open = open(widths, result, goal, timeLeft)
    let turnsSoFar = Dictionary(grouping: result.blocksRun, by: \.scenario).mapValues(\.count)
    let chosen = Set(Allocation.round(block, open.map(\.candidate), goal: goal.halfWidth))
    var turns: [Turn] = []
    for planned in plan.shuffled(plan.scenarios, block: block) {
      let own = open.indices.filter { open[$0].planned.scenario == planned.scenario }
      guard own.contains(where: chosen.contains) else { continue }
      // A turn that runs anyway takes open comparisons along until it is full.
      let arms = (own.filter(chosen.contains) + own.filter { !chosen.contains($0) }).map { open[$0].cell.arm }
      let taken = Array(arms.prefix(Ablation.changesInTurn))
      let number = turnsSoFar[planned.scenario, default: 0] + 1
      turns.append(plan.turn(planned, block: block, number: number, arms: [planned.arms[0]] + taken))
    }
    return turns
  }
}
