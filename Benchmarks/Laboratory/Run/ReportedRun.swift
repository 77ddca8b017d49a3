import ArgumentParser
import Glibc
import HarnessComparing
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessRunning
import HarnessWords

/// A run with what it says to the user: from the checks before its start to its last line. `RecordedRun` does the
/// measuring.
struct ReportedRun {
  private let planned: PlannedRun
  private let outputs: RunOutputs
  private let recorded: RecordedRun
  private let progress = Progress()

  private var suite: any Suite { planned.suite }
  private var plan: Plan { planned.plan }

  /// Opens the outputs first, so that a run whose result cannot be written does not start.
  init(_ planned: PlannedRun, _ choice: RunOutputs.Choice) throws {
    if getenv("OPERATIONS_TRACE") != nil {
      throw Complaint(
        .usage,
        "nothing is measured while operations are traced: unset OPERATIONS_TRACE"
          + (planned.suite.tracer == nil ? "" : "; run --trace FILE.json makes a trace beside the numbers"))
    }
    FileCall.ignoreSignals()
    let jemalloc = Jemalloc.library()
    if planned.plan.allocator == .jemalloc, jemalloc == nil {
      throw Complaint(
        .unavailable, "--allocator jemalloc needs it installed: apt-get install libjemalloc-dev pkg-config")
    }
    self.planned = planned
    outputs = try RunOutputs(choice, for: planned)
    recorded = RecordedRun(planned, to: outputs, progress: progress, jemalloc: jemalloc)
  }

  /// - Returns: what was measured, and what to complain about when a cell has failed.
  func run() throws -> (result: RunResult, failure: Complaint?) {
    announce()
    let (result, record) = try recorded.run()
    try publishTrace()
    return (result, try finish(result, record))
  }

  /// Publishes the trace. An interrupted run publishes the part that it has.
  private func publishTrace() throws {
    guard let trace = outputs.trace else { return }
    guard trace.pieces > 0 else {
      trace.discard()
      return progress.say("no trace: no cell came to be traced; \(trace.path) is as it was")
    }
    try trace.publish([
      "producer": suite.name, "run": outputs.runID,
      "command": CommandLine.arguments.dropFirst().joined(separator: " "),
      "clock": "CLOCK_MONOTONIC, from the beginning of each process's recording",
      "operations shown": "\(trace.operations)", "events not shown for want of room": "\(trace.notShown)",
    ])
    let cut = trace.notShown > 0 ? ", \(trace.notShown) events beyond the limit left out" : ""
    progress.say(
      "wrote \(trace.path): \(Count.of(trace.operations, "operation")) of \(Count.of(trace.pieces, "cell"))\(cut); "
        + "open it at https://ui.perfetto.dev or in chrome://tracing")
  }

  /// Publishes the result and prints the table.
  /// - Returns: a complaint when a cell has no number.
  private func finish(_ result: RunResult, _ record: RunRecord) throws -> Complaint? {
    let destination = outputs.destination
    if result.rows.isEmpty {
      destination.discard()
      if result.wasInterrupted { throw ExitCode(128 + SIGINT) }
      throw Complaint(.software, "no cell gave a number; nothing was written")
    }
    try destination.publish(record)
    let results = ResultTable(result)
    let width = TextWidth.columns(of: destination.tableDescriptor)
    let table =
      planned.ending?(results, width)
      ?? Table(results, plan: plan, failures: result.failures).text(
        reference: planned.reference, ours: ours, subjects: columns(record.peers), width: width)
    try DescriptorOutput.write("\n" + table, to: destination.tableDescriptor, name: "the table")
    if let name = destination.file { progress.say("wrote \(name) and its .env.json") }
    warn(result, record.outcome)
    try writeEnding(results)
    if result.wasInterrupted { throw ExitCode(128 + SIGINT) }
    // A run is about the subjects that are no references. A failed reference has its line already, and does not fail
    // the run.
    let references = Set(planned.subjects.filter(\.isReference).map(\.name))
    let failed = result.failures.keys.filter { !references.contains($0.arm.subject) }.count
    guard failed > 0 else { return nil }
    return Complaint(
      .software, "\(Count.of(failed, "cell")) \(failed == 1 ? "has" : "have") no number; the lines above say why")
  }

  private func writeEnding(_ results: ResultTable) throws {
    let destination = outputs.destination
    let verdicts =
      planned.ending != nil
      ? []
      : FamilyVerdict.all(
        results, plan: plan, reference: planned.reference, ours: ours,
        besides: planned.subjects.filter(\.isReference).map(\.name))
    let text = RunEnding(verdicts, program: ProgramName.own, file: destination.file)
      .text(width: TextWidth.columns(of: destination.tableDescriptor))
    try DescriptorOutput.write("\n" + text, to: destination.tableDescriptor, name: "the table")
  }

  /// The names of the subjects that the run is about.
  private var ours: Set<String> { Set(planned.subjects.filter { $0.role == .ours }.map(\.name)) }

  /// The subject of each column, with its summary, and with its version if it is of another language.
  private func columns(_ versions: [String: String]) -> [(name: String, summary: String)] {
    let shown = Set(plan.scenarios.flatMap(\.arms).map(\.subject))
    return planned.subjects.filter { shown.contains($0.name) }.map { subject in
      (subject.name, subject.line + (versions[subject.name].map { " (\($0))" } ?? ""))
    }
  }

  private func announce() {
    for warning in MachineWarnings.before() { progress.say(warning) }
    for warning in MachineWarnings.workers(plan.arms, reference: planned.reference) { progress.say(warning) }
    if let advice = PerfAvailability().advice { progress.say(advice) }
    if recorded.jemalloc == nil, !plan.countings.isEmpty { progress.say(Jemalloc.advice) }
    if !outputs.earlier.rows.isEmpty {
      progress.say("going on with \(Count.of(outputs.earlier.rows.count, "row")) of run \(outputs.runID)")
    }
    let processes = plan.steps.count - (recorded.jemalloc == nil ? plan.countings.count : 0)
    if let leftOut = plan.leftOut { progress.say(leftOut.text) }
    if let trace = outputs.trace { announce(trace) }
    if case .nowhere = outputs.destination {
      progress.say("no rows, since a log takes the output: --output FILE.csv keeps the rows, --output - prints them")
    }
    let rest = outputs.earlier.rows.isEmpty ? "" : " in all, less what is finished"
    let first = plan.effort.goal == nil ? "" : " first"
    progress.say(
      "\(plan.effortWords) a process: \(Count.of(processes, "process"))\(first), about "
        + "\(Progress.duration(plan.plannedSeconds))\(rest)")
    if let expected = GoalWords.before(plan) { progress.say(expected) }
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
      progress.say("interrupted: \(outputs.destination.remains(command: planned.commandOutput))")
    }
    let more = plan.effort.goal == nil ? "--blocks" : "--budget"
    for warning in MachineWarnings.after(result, outcome, more: more) { progress.say(warning) }
    if let reached = GoalWords.after(result, plan) { progress.say(reached) }
  }
}
