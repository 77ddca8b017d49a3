import Glibc
import HarnessComparing
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessWords

/// A plan, and the suite whose cells are in the plan. `ReportedRun` carries both out.
package struct PlannedRun {
  let suite: any Suite
  private(set) var plan: Plan
  /// The context that the suite gets with every request.
  let context: String
  /// The facts of the subjects in the plan, and the one that the others are compared with: the suite's own, unless the
  /// plan has others.
  package var subjects: [SubjectFacts]
  package var reference: String
  /// The decisions of the subjects whose strategy was chosen, by subject.
  package var strategies: [String: [StrategyFacts]] = [:]
  /// Makes the text at the end out of the results and the width; nil: the table of a run.
  package var ending: ((ResultTable, Int) -> String)?
  /// The name that `--output` had in the command, when the rows go to another file.
  package var commandOutput: String?

  package init(_ suite: any Suite, _ plan: Plan, context: String = "") {
    (self.suite, self.plan, self.context) = (suite, plan, context)
    subjects = suite.subjects
    reference = suite.reference
  }

  /// Carries out the plan as the options say; with `--dry-run`, prints the plan.
  /// - Parameters:
  ///   - trace: where a trace goes; nil for none.
  ///   - onFailure: takes the complaint about cells that failed, once all others are written; nil: it is thrown.
  /// - Returns: what was measured; nil with `--dry-run`.
  @discardableResult
  package func run(
    _ options: RunOptions, trace: String? = nil, onFailure: ((Complaint) -> Void)? = nil
  ) throws -> RunResult? {
    var planned = self
    if let shard = options.shard { planned.plan = try plan.cut(shard) }
    if options.dryRun {
      try planned.describe()
      return nil
    }
    if let file = options.plan, let shard = options.shard {
      try CampaignPlan(
        planned.plan, shard: shard, context: context, arguments: CommandLine.arguments, source: suite.source
      ).fix(file, goingOnWith: options.resume ? options.output : nil)
    }
    let (result, failure) = try ReportedRun(planned, options.outputs(trace: trace)).run()
    if let failure {
      guard let onFailure else { throw failure }
      onFailure(failure)
    }
    return result
  }

  private func describe() throws {
    let progress = Progress()
    for warning in MachineWarnings.workers(plan.arms, reference: reference) { progress.say(warning) }
    try DescriptorOutput.write(DryRun(plan).text, to: STDOUT_FILENO, name: "standard output")
  }
}
