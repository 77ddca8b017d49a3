import Glibc
import Harness

/// Carries out a plan: starts its processes, writes every row as soon as its process has ended, and keeps the other
/// facts of the run beside the rows. `run` and `validate` use this type.
package struct Execution {
  /// Starts the process of a request, with additions to its environment, and waits at most the given seconds.
  typealias Launch = (MeasureRequest, [String: String], Double) -> ProcessOutcome

  let suite: any Suite
  let plan: Plan
  /// The context that the suite gets with every request.
  let context: String
  let subjects: [SubjectFacts]
  let reference: String
  let destination: Destination
  let progress: Progress
  let spin: Spin
  let jemalloc: String?
  let runID: String
  let earlier: EarlierRun
  let trace: TraceOutput?
  /// A function that validation puts between a request and its process; nil without validation.
  let launch: Launch?

  init(
    _ suite: any Suite, _ plan: Plan, context: String = "", subjects: [SubjectFacts]? = nil, reference: String? = nil,
    destination: Destination, progress: Progress,
    jemalloc: String?, runID: String? = nil, earlier: EarlierRun = EarlierRun(), spin: Spin? = nil,
    trace: TraceOutput? = nil,
    launch: Launch? = nil
  ) {
    self.suite = suite
    self.plan = plan
    self.context = context
    self.subjects = subjects ?? suite.subjects
    self.reference = reference ?? suite.reference
    self.destination = destination
    self.progress = progress
    self.jemalloc = jemalloc
    self.earlier = earlier
    self.trace = trace
    self.launch = launch
    self.spin = spin ?? earlier.spin ?? Spin.calibrated()
    self.runID = runID ?? earlier.runID ?? Environment.newRunID()
  }

  /// Ignores the signals of failed writes. A full disk, a file size limit or a pipe without a reader is then an error
  /// of the write, reported in one line.
  static func ignoreWriteSignals() {
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
  }

  /// Throws when a result could not be written. The caller draws conclusions and publishes.
  func run() throws -> (result: RunResult, environment: Environment) {
    Interrupt.install()
    let start = SystemLoad.read()
    let began = Clock.now()
    var environment = Environment(
      runID: runID, plan: plan, spin: spin, subjects: subjects, reference: reference, context: context,
      arguments: CommandLine.arguments, jemalloc: jemalloc, source: suite.source)
    environment.peers = suite.versions(of: Set(plan.scenarios.flatMap(\.arms).map(\.subject)))
    // A run that goes on and is killed at once has lost nothing of what the earlier run knew.
    environment.outcome = RunOutcome(RunResult(earlier))
    try destination.begin(keeping: earlier.rows) { try environment.json() }

    var writing: (any Error)?
    func attempt(_ action: () throws -> Void) {
      guard writing == nil else { return }
      do { try action() } catch { writing = error }
    }
    let suite = suite
    let world = RunWorld(
      launch: launch ?? { suite.launch($0, environment: $1, timeout: $2) },
      showProgress: progress.show, say: progress.say,
      record: { rows in attempt { try destination.write(rows.map(CSV.line).joined()) } },
      checkpoint: { result in
        attempt {
          try destination.checkpoint {
            var sofar = environment
            sofar.outcome = outcome(result, since: start, began: began)
            return try sofar.json()
          }
        }
      },
      isInterrupted: { Interrupt.isRequested || writing != nil },
      countingEnvironment: jemalloc.map(Jemalloc.environment),
      timingEnvironment: plan.allocator == .jemalloc ? jemalloc.map(Jemalloc.timingEnvironment) ?? [:] : [:],
      tracePiece: { trace?.piece($0) ?? "" },
      keepTrace: { request, operations, notShown in
        attempt { try trace?.add(request, operations: operations, notShown: notShown) }
      })
    var session = RunSession(plan, runID: runID, spin: spin, context: context, world: world, earlier: earlier)
    let result = session.run()
    progress.clear()
    if let writing { throw writing }
    environment.outcome = outcome(result, since: start, began: began)
    environment.describe(result.rows, own: suite.metricFacts)
    return (result, environment)
  }

  private func outcome(_ result: RunResult, since start: SystemLoad, began: UInt64) -> RunOutcome {
    let now = SystemLoad.read()
    var outcome = RunOutcome(result)
    outcome.seconds = Double(Clock.now() - began) / 1e9
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
