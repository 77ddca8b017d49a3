import Glibc
import HarnessMeasuring
import HarnessResults
import HarnessRunning
import HarnessStatistics
import HarnessWords

/// A run with its files: writes every row as soon as its process has ended, and keeps the other facts of the run beside
/// the rows. `PlanRunner` decides which process is next. `run` and `validate` use this type.
package struct RecordedRun {
  /// What validation puts between a request and its process, with the rate of spinning that this was measured with.
  struct Injection {
    let spin: Spin
    /// The process of a request, with additions to its environment, which may go on for the given seconds.
    let launch: (MeasureRequest, [String: String], Double) -> Launched
  }

  let planned: PlannedRun
  let outputs: RunOutputs
  let progress: Progress
  /// The library that counts allocations; nil where there is none.
  let jemalloc: String?
  let spin: Spin
  private let injection: Injection?

  init(
    _ planned: PlannedRun, to outputs: RunOutputs, progress: Progress, jemalloc: String?, injection: Injection? = nil
  ) {
    (self.planned, self.outputs, self.progress) = (planned, outputs, progress)
    (self.jemalloc, self.injection) = (jemalloc, injection)
    spin = injection?.spin ?? outputs.earlier.spin ?? Spin.calibrated()
  }

  /// Throws when a result could not be written. The caller draws conclusions and publishes.
  func run() throws -> (result: RunResult, record: RunRecord) {
    Interrupt.install()
    let start = SystemLoad.read()
    let began = Clock.now()
    let (suite, plan, destination, trace) = (planned.suite, planned.plan, outputs.destination, outputs.trace)
    var record = RunRecord(
      runID: outputs.runID, plan: plan, spin: spin, subjects: planned.subjects, reference: planned.reference,
      context: planned.context, arguments: CommandLine.arguments, jemalloc: jemalloc, source: suite.source,
      earlier: outputs.earlier.machines)
    record.peers = try suite.versions(of: Set(plan.scenarios.flatMap(\.arms).map(\.subject)))
    if let words = record.otherVersions(than: suite.publishedVersions) { progress.say(words) }
    record.strategies = planned.strategies
    // A run that goes on and is killed at once has lost nothing of what the earlier run knew.
    record.update(RunOutcome(RunResult(outputs.earlier)))
    try destination.begin(keeping: outputs.earlier.rows, record)

    var writing: (any Error)?
    func attempt(_ action: () throws -> Void) {
      guard writing == nil else { return }
      do { try action() } catch { writing = error }
    }
    let effects = RunEffects(
      launch: injection?.launch ?? { suite.launch($0, environment: $1, timeout: $2) },
      showProgress: progress.show, say: progress.say,
      record: { rows in attempt { try destination.write(rows.map(CSV.line).joined()) } },
      checkpoint: { result in
        attempt {
          try destination.checkpoint {
            var sofar = record
            sofar.update(outcome(result, since: start, began: began))
            return sofar
          }
        }
      },
      publish: { rows, result in
        attempt {
          try destination.publish(finished: rows) {
            var sofar = record
            var outcome = outcome(result, since: start, began: began)
            outcome.rowCount = rows.count
            // For a reader, a shard that has further blocks to come is a run that was stopped here.
            outcome.wasInterrupted = true
            sofar.update(outcome)
            sofar.describe(rows, own: suite.metricFacts)
            return sofar
          }
        }
      },
      isInterrupted: { Interrupt.isRequested || writing != nil }, waitForOwnEnd: Self.waitForOwnEnd,
      countingEnvironment: jemalloc.map(Jemalloc.environment),
      timingEnvironment: plan.allocator == .jemalloc ? jemalloc.map(Jemalloc.timingEnvironment) ?? [:] : [:],
      tracePiece: { trace?.piece($0) ?? "" },
      keepTrace: { request, operations, notShown in
        attempt { try trace?.add(request, operations: operations, notShown: notShown) }
      })
    var runner = PlanRunner(
      plan, runID: outputs.runID, spin: spin, context: planned.context, effects: effects, earlier: outputs.earlier)
    let result = runner.run()
    progress.clear()
    if let writing { throw writing }
    record.update(outcome(result, since: start, began: began))
    record.describe(result.rows, own: suite.metricFacts)
    return (result, record)
  }

  /// A second: far longer than a batch system takes from the first process of a job to the last.
  private static func waitForOwnEnd() {
    for _ in 0..<100 where !Interrupt.isRequested { usleep(10_000) }
  }

  private func outcome(_ result: RunResult, since start: SystemLoad, began: UInt64) -> RunOutcome {
    let now = SystemLoad.read()
    var outcome = RunOutcome(result)
    outcome.seconds = outputs.earlier.seconds + Double(Clock.now() - began) / 1e9
    outcome.stealShare = now.stealShare(since: start)
    outcome.cpuPressureSeconds = now.pressureSeconds(since: start)
    outcome.swappedPages = now.swappedPages(since: start)
    return outcome
  }

  /// How long starting a measuring process takes on this machine, in seconds: the median of a few processes that
  /// measure nothing.
  package static func startupSeconds() -> Double {
    Statistics.median(
      (0..<5).map { _ in
        Double(
          ProcessRunner.run(ProcessRunner.thisProgram, ["measure", MeasureRequest.nothing], timeout: 10).nanoseconds)
          / 1e9
      })
  }
}
