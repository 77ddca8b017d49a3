import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessStatistics
import HarnessWords

/// What a run says of its goal: before it starts, how far it expects to come; at its end, how far it came.
package enum GoalWords {
  /// The scatter of the ratio of two processes of one block, by experience, as a share. Processes that take turns see
  /// nearly the same machine.
  private static func usualScatter(_ plan: Plan) -> Double {
    2 * plan.scenarios.count(where: plan.takesTurns) > plan.scenarios.count ? 0.08 : 0.16
  }

  /// A line when the time is probably too short; nil when it is probably enough. Of an ablation, always a line: how
  /// many blocks each change will have, and how many a sure difference needs.
  package static func before(_ plan: Plan) -> String? {
    guard let goal = plan.effort.goal else { return nil }
    if plan.isAblation { return beforeAblation(plan, goal) }
    let least = Double(plan.effort.blocks)
    let first = plan.plannedSeconds - plan.otherSeconds
    let blocks = max(least, least * (goal.seconds - plan.otherSeconds) / max(first, 1e-3))
    // Half the width of the interval of n values is about twice their scatter over the root of n.
    let expected = 2 * usualScatter(plan) / blocks.squareRoot()
    guard expected > goal.halfWidth else { return nil }
    let time =
      plan.plannedSeconds > goal.seconds
      ? "\(plan.effort.blocks) blocks of everything take about \(Progress.duration(plan.plannedSeconds)), longer than "
        + "\(Progress.duration(goal.seconds))"
      : "\(Progress.duration(goal.seconds)) hold about \(Count.of(Int(blocks), "block")) of everything"
    return "\(time): half of the intervals will come to about \(Goal.percent(expected)), not to "
      + "\(Goal.percent(goal.halfWidth)); --budget gives more time"
  }

  private static func beforeAblation(_ plan: Plan, _ goal: Goal) -> String {
    let first = max(plan.plannedSeconds - plan.otherSeconds, 1e-3)
    let least = Double(Effort.fewestBlocks)
    if plan.plannedSeconds > goal.seconds {
      return
        "\(Effort.fewestBlocks) blocks of every change take about \(Progress.duration(plan.plannedSeconds)), longer than "
        + "\(Progress.duration(goal.seconds)); --budget gives more time, --decision and --benchmark ask for less"
    }
    let blocks = Int(max(least, least * (goal.seconds - plan.otherSeconds) / first))
    let comparisons = plan.scenarios.reduce(0) { $0 + $1.arms.count - 1 }
    let needed = Widening(comparisons: comparisons).processesNeeded
    let enough =
      blocks < needed
      ? "; a single benchmark needs \(needed) for a sure difference, a family fewer; --budget gives more time" : ""
    return "\(Progress.duration(goal.seconds)) hold about \(Count.of(blocks, "block")) of every change, more where the "
      + "verdict is open\(enough)"
  }

  /// How many scenarios are narrow enough, and how wide the others are; nil when the run had no goal, or no ratio.
  package static func after(_ result: RunResult, _ plan: Plan) -> String? {
    guard let goal = plan.effort.goal, let widest = result.halfWidths.max(by: { $0.value < $1.value }) else {
      return nil
    }
    let count = result.halfWidths.count
    let within = result.halfWidths.values.count { $0 <= goal.halfWidth }
    let asked = Goal.percent(goal.halfWidth)
    let base = plan.arms.first?.description ?? ""
    let far = " (ratios beyond \(Int(Estimate.farRatio)) within three times that)"
    guard within < count else {
      return
        "all ratios to \(base) have intervals within \(asked)\(far): the widest is that of \(widest.key), \(Goal.percent(widest.value))"
    }
    guard count > 1 else {
      return "the interval of \(widest.key) came to \(Goal.percent(widest.value)), not to \(asked)"
    }
    let median = Statistics.median(Array(result.halfWidths.values))
    return
      "\(within) of \(Count.of(count, "scenario")) have all ratios to \(base) within \(asked)\(far), half of them within "
      + "\(Goal.percent(median)); the widest interval is that of \(widest.key), \(Goal.percent(widest.value))"
  }
}
