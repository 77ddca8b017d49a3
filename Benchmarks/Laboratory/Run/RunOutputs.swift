import HarnessMeasuring
import HarnessResults
import HarnessRunning
import HarnessWords

/// Where the results of a run go, and what an earlier run has left there.
struct RunOutputs {
  /// What the user asked for.
  struct Choice {
    /// The value of `--output`; nil when the user gave none.
    let csv: String?
    let trace: String?
    let resume: Bool
    let overwrite: Bool
  }

  let runID: String
  /// What the run goes on with; empty for a run that begins anew.
  let earlier: EarlierRun
  let destination: Destination
  let trace: TraceOutput?

  /// Outputs of a run that begins anew and traces nothing.
  init(_ destination: Destination) {
    runID = RunRecord.newRunID()
    earlier = EarlierRun()
    self.destination = destination
    trace = nil
  }

  /// Opens every output, so that a run whose result cannot be written does not start.
  init(_ choice: Choice, for planned: PlannedRun) throws {
    // The trace comes first: when the trace cannot be written, the files of an earlier run stay as they are.
    trace = try choice.trace.map(TraceOutput.init)
    earlier =
      choice.resume ? try EarlierRun(csv: choice.csv ?? "", plan: planned.plan, context: planned.context) : EarlierRun()
    if choice.resume, earlier.runID == nil {
      Progress().say("the killed run had measured nothing: this one begins anew")
    }
    for line in Self.otherMachines(earlier) { Progress().say(line) }
    // Many shards may begin in the same second, with the same number of their process.
    runID = earlier.runID ?? RunRecord.newRunID(host: planned.plan.shard.map { _ in Host.name })
    if choice.csv == Destination.standardOutputName {
      guard StandardOutput() != .closed else { throw Destination.closed }
      destination = .standardOutput
    } else if let csv = choice.csv {
      let files = try ResultFiles(
        csv: csv, mayReplace: choice.resume || choice.overwrite, goesOn: choice.resume,
        advice: "--overwrite replaces it, --resume goes on with it")
      destination = .files(files, name: csv)
    } else {
      destination = try .unnamed(StandardOutput(), runID: runID)
    }
  }

  /// What a run that goes on at another machine says: what runs again, and whether the clocks agree.
  private static func otherMachines(_ earlier: EarlierRun) -> [String] {
    guard let last = earlier.machines.last else { return [] }
    var lines: [String] = []
    if last.host != Host.name {
      let again = earlier.begunElsewhere.count
      lines.append(
        "going on at \(Host.name) with what \(last.host) has begun: calibrating again"
          + (again == 0
            ? "" : ", and \(Count.of(again, "block")) of single benchmarks again, of which \(last.host) has run a part")
      )
    }
    if let seconds = MachineSitting.seconds(from: last.endedAt, to: MachineSitting.now), seconds < 0 {
      lines.append(
        "the clock of \(Host.name) is behind that of \(last.host) by \(Progress.duration(-seconds)) or more; no number depends "
          + "on that")
    }
    return lines
  }
}
