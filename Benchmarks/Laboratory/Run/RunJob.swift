import ArgumentParser
import Glibc
import Harness

/// A run, from the checks before its start to its last line.
package struct RunJob {
  private let execution: Execution
  private let progress: Progress

  private var suite: any Suite { execution.suite }
  private var plan: Plan { execution.plan }
  private var trace: TraceOutput? { execution.trace }

  /// Opens the output first, so that a run whose result cannot be written does not start. With `resume`, the run goes
  /// on with the earlier result.
  package init(
    _ suite: any Suite, _ plan: Plan, context: String = "", output: String?, trace: String? = nil,
    resume: Bool = false, overwrite: Bool = false
  ) throws {
    if getenv("OPERATIONS_TRACE") != nil {
      throw Complaint(
        .usage,
        "nothing is measured while operations are traced: unset OPERATIONS_TRACE"
          + (suite.tracer == nil ? "" : "; run --trace FILE.json makes a trace beside the numbers"))
    }
    Execution.ignoreWriteSignals()
    // The trace comes first: when the trace cannot be written, the files of an earlier run stay as they are.
    let trace = try trace.map(TraceOutput.init)
    let jemalloc = Jemalloc.library()
    if plan.allocator == .jemalloc, jemalloc == nil {
      throw Complaint(
        .unavailable, "--allocator jemalloc needs it installed: apt-get install libjemalloc-dev pkg-config")
    }
    let earlier = resume ? try EarlierRun(csv: output ?? "", plan: plan, context: context) : EarlierRun()
    if resume, earlier.runID == nil { Progress().say("the killed run had measured nothing: this one begins anew") }
    let runID = earlier.runID ?? Environment.newRunID()
    let destination: Destination
    if output == Destination.standardOutputName {
      guard StandardOutput() != .closed else { throw Destination.closed }
      destination = .standardOutput
    } else if let output {
      let files = try ResultFiles(
        csv: output, mayReplace: resume || overwrite, goesOn: resume,
        advice: "--overwrite replaces it, --resume goes on with it")
      destination = .files(files, name: output)
    } else {
      destination = try .unnamed(StandardOutput(), runID: runID)
    }
    progress = Progress()
    execution = Execution(
      suite, plan, context: context, destination: destination, progress: progress, jemalloc: jemalloc,
      runID: runID, earlier: earlier, trace: trace)
  }

  package func run() throws {
    announce()
    let (result, environment) = try execution.run()
    try publishTrace()
    try finish(result, environment)
  }

  /// Publishes the trace. An interrupted run publishes the part that it has.
  private func publishTrace() throws {
    guard let trace else { return }
    guard trace.pieces > 0 else {
      trace.discard()
      return progress.say("no trace: no cell came to be traced; \(trace.path) is as it was")
    }
    try trace.publish([
      "producer": suite.name, "run": execution.runID,
      "command": CommandLine.arguments.dropFirst().joined(separator: " "),
      "clock": "CLOCK_MONOTONIC, from the beginning of each process's recording",
      "operations shown": "\(trace.operations)", "events not shown for want of room": "\(trace.notShown)",
    ])
    let cut = trace.notShown > 0 ? ", \(trace.notShown) events beyond the limit left out" : ""
    progress.say(
      "wrote \(trace.path): \(Count.of(trace.operations, "operation")) of \(Count.of(trace.pieces, "cell"))\(cut); "
        + "open it at https://ui.perfetto.dev or in chrome://tracing")
  }

  /// Publishes the result, prints the table, and reports with the exit code whether every cell has a number.
  private func finish(_ result: RunResult, _ environment: Environment) throws {
    let destination = execution.destination
    if result.rows.isEmpty {
      destination.discard()
      if result.wasInterrupted { throw ExitCode(128 + SIGINT) }
      throw Complaint(.software, "no cell gave a number; nothing was written")
    }
    try destination.publish { try environment.json() }
    let summary = Summary(
      result.rows, plan: plan, reference: suite.reference, excluding: result.excluded, failures: result.failures)
    let table = Table(summary, plan: plan, failures: result.failures).text(
      reference: suite.reference, subjects: columns, width: TextWidth.columns(of: destination.tableDescriptor))
    try ResultFiles.write("\n" + table, to: destination.tableDescriptor, name: "the table")
    if let name = destination.file { progress.say("wrote \(name) and its .env.json") }
    warn(result, environment.outcome)
    try writeEnding(summary)
    if result.wasInterrupted { throw ExitCode(128 + SIGINT) }
    // A run is about the subjects that are no references. A failed reference has its line already, and does not fail
    // the run.
    let references = Set(suite.subjects.filter(\.isReference).map(\.name))
    let failed = result.failures.keys.filter { !references.contains($0.arm.subject) }.count
    if failed > 0 {
      throw Complaint(
        .software, "\(Count.of(failed, "cell")) \(failed == 1 ? "has" : "have") no number; the lines above say why")
    }
  }

  private func writeEnding(_ summary: Summary) throws {
    let destination = execution.destination
    let verdicts = FamilyVerdict.all(
      summary, plan: plan, reference: suite.reference,
      besides: suite.subjects.filter(\.isReference).map(\.name))
    let text = RunEnding(verdicts, program: ProgramName.own, file: destination.file)
      .text(width: TextWidth.columns(of: destination.tableDescriptor))
    try ResultFiles.write("\n" + text, to: destination.tableDescriptor, name: "the table")
  }

  /// The subject of each column, with its summary.
  private var columns: [(name: String, summary: String)] {
    let shown = Set(plan.scenarios.flatMap(\.arms).map(\.subject))
    return suite.subjects.filter { shown.contains($0.name) }.map { ($0.name, $0.line) }
  }

  private func announce() {
    for warning in MachineWarnings.before() { progress.say(warning) }
    for warning in MachineWarnings.workers(plan.arms, reference: suite.reference) { progress.say(warning) }
    if let advice = PerfAvailability().advice { progress.say(advice) }
    if execution.jemalloc == nil, !plan.countings.isEmpty { progress.say(Jemalloc.advice) }
    if !execution.earlier.rows.isEmpty {
      progress.say("going on with \(Count.of(execution.earlier.rows.count, "row")) of run \(execution.runID)")
    }
    let processes = plan.steps.count - (execution.jemalloc == nil ? plan.countings.count : 0)
    if let leftOut = plan.leftOut { progress.say(leftOut.text) }
    if let trace { announce(trace) }
    if case .nowhere = execution.destination {
      progress.say("no rows, since a log takes the output: --output FILE.csv keeps the rows, --output - prints them")
    }
    let rest = execution.earlier.rows.isEmpty ? "" : " in all, less what is finished"
    progress.say(
      "\(plan.effort) a process: \(Count.of(processes, "process")), about \(Progress.duration(plan.estimatedSeconds))\(rest)"
    )
  }

  private func announce(_ trace: TraceOutput) {
    let limit = TraceRequest.operationLimit(cells: plan.tracings.count)
    let others = Set(plan.scenarios.flatMap(\.arms).map(\.subject)).subtracting(plan.traced).sorted()
    let without = others.isEmpty ? "" : "; of \(others.joined(separator: ", ")), which are not ours, there is none"
    progress.say(
      "a trace of \(Count.of(plan.tracings.count, "cell")), each at most \(limit) operations, goes to \(trace.path)\(without)"
    )
  }

  /// Says in plain words what disturbed the run, and what would help.
  private func warn(_ result: RunResult, _ outcome: RunOutcome) {
    if result.wasInterrupted {
      progress.say("interrupted: \(execution.destination.remains)")
    }
    for warning in MachineWarnings.after(result, outcome, more: "--blocks") { progress.say(warning) }
  }
}
