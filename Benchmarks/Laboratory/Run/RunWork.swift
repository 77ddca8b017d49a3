import Glibc
import Harness

/// What a run carries out: a plan, and the suite whose cells are in it.
package struct RunWork {
  let suite: any Suite
  let plan: Plan
  /// The context that the suite gets with every request.
  let context: String
  /// The facts of the subjects in the plan, and the one that the others are compared with: the suite's own, unless the
  /// plan has others.
  package var subjects: [SubjectFacts]
  package var reference: String

  package init(_ suite: any Suite, _ plan: Plan, context: String = "") {
    self.suite = suite
    self.plan = plan
    self.context = context
    subjects = suite.subjects
    reference = suite.reference
  }

  /// Carries out the plan as the options say; with `--dry-run`, prints the plan.
  /// - Parameter trace: where a trace goes; nil for none.
  /// - Returns: what was measured; nil with `--dry-run`.
  @discardableResult
  package func run(_ options: RunOptions, trace: String? = nil) throws -> RunResult? {
    if options.dryRun {
      try describe()
      return nil
    }
    return try RunJob(self, options.outputs(trace: trace)).run()
  }

  private func describe() throws {
    let progress = Progress()
    for warning in MachineWarnings.workers(plan.arms, reference: reference) { progress.say(warning) }
    try ResultFiles.write(DryRun(plan).text, to: STDOUT_FILENO, name: "standard output")
  }
}
