import Glibc
import Harness

/// The text of `--dry-run` about a plan.
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
    lines.append("")
    lines.append(
      "\(Count.of(plan.scenarios.count, "scenario")), \(plan.effort), seed \(plan.seed), "
        + "\(plan.allocator) allocator")
    if let leftOut = plan.leftOut {
      lines += WrappedText.lines(leftOut.text, width: TextWidth.columns(of: STDOUT_FILENO), hanging: 4)
    }
    lines.append(
      "\(Count.of(plan.steps.count, "process")) (\(plan.calibrations.count) calibrate, "
        + "\(plan.countings.count) count allocations\(traced)), about \(Progress.duration(plan.estimatedSeconds))")
    return lines.joined(separator: "\n") + "\n"
  }

  private var traced: String { plan.tracings.isEmpty ? "" : ", \(plan.tracings.count) trace" }
}
