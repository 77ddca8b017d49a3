import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessRunning
import HarnessWords

/// The text of `--dry-run` about a plan.
struct DryRun {
  private let plan: Plan

  init(_ plan: Plan) { self.plan = plan }

  var text: String {
    var lines = plan.isAblation ? changes : scenarios
    lines.append("")
    lines.append(
      "\(Count.of(plan.scenarios.count, "scenario")), \(plan.effortWords), seed \(plan.seed), "
        + "\(plan.allocator) allocator")
    if let shard = plan.shard {
      lines.append(
        "shard \(shard) of these: \(plan.blockNumbers.count == 1 ? "block" : "blocks") "
          + plan.blockNumbers.map(String.init).joined(separator: ", "))
    }
    if let leftOut = plan.leftOut {
      lines += WrappedText.lines(leftOut.text, width: TextWidth.columns(of: STDOUT_FILENO), hanging: 4)
    }
    let first = plan.effort.goal == nil ? "" : " first"
    lines.append(
      "\(Count.of(plan.steps.count, "process"))\(first) (\(plan.calibrations.count) calibrate, "
        + "\(plan.countings.count) count allocations\(traced)), about \(Progress.duration(plan.plannedSeconds))")
    if let goal = plan.effort.goal {
      let rule = plan.isAblation ? "where the verdict is open" : "where intervals narrow most per second"
      lines.append("then the time goes \(rule), \(goal)")
    }
    if let expected = GoalWords.before(plan) { lines.append(expected) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The default, and every change; then the scenarios, which all have them.
  private var changes: [String] {
    let arms = plan.arms
    return ["the default, \(arms[0]), against \(Count.of(arms.count - 1, "change")):"]
      + arms.dropFirst().map { "  \($0.subject)" } + ["on"] + plan.scenarios.map { "  \($0.scenario)" }
  }

  private var scenarios: [String] {
    plan.scenarios.map { planned in
      let arms = planned.arms.map(\.description).joined(separator: " ")
      let missing =
        planned.incapable.isEmpty ? "" : "  (empty: \(planned.incapable.map(\.subject).joined(separator: " ")))"
      return "\(planned.scenario)  on \(arms)\(missing)"
    }
  }

  private var traced: String { plan.tracings.isEmpty ? "" : ", \(plan.tracings.count) trace" }
}
