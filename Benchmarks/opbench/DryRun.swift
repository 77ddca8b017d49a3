import Harness

/// What `--dry-run` says of a plan.
struct DryRun {
  private let plan: Plan

  init(_ plan: Plan) { self.plan = plan }

  var text: String {
    var lines = plan.scenarios.map { planned in
      let arms = planned.arms.map(\.description).joined(separator: " ")
      let missing =
        planned.incapable.isEmpty ? "" : "  (empty: \(planned.incapable.map(\.subject).joined(separator: " ")))"
      return "\(planned.scenario)  on \(arms)\(missing)"
    }
    let effort = plan.effort
    lines.append("")
    lines.append(
      "\(plan.scenarios.count) scenarios, \(effort.blocks) blocks, \(effort.warmups) + \(effort.values) values "
        + "of about \(effort.target / 1_000_000) ms on the slowest subject, seed \(plan.seed)")
    lines.append(
      "\(plan.steps.count) processes (\(plan.calibrations.count) calibrate, "
        + "\(plan.countings.count) count allocations), about \(Progress.duration(plan.estimatedSeconds))")
    return lines.joined(separator: "\n") + "\n"
  }
}
