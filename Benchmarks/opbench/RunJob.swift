import ArgumentParser
import Glibc
import Harness
import Subjects
import Workloads

/// A run from the first look at the machine to the last line: the harness's parts put together.
struct RunJob {
  private let plan: Plan
  private let graphs: [String]
  private let destination: Destination
  private let progress = Progress()
  private let runID: String
  private let earlier: EarlierRun
  private let jemalloc: String?
  private let peers: PeerPrograms
  private let trace: TraceOutput?

  private enum Destination {
    case files(ResultFiles, name: String)
    case standardOutput
  }

  /// Opens the output first: a run whose result has no place to go does not start. With `resume` it goes on with what
  /// lies there.
  init(
    _ plan: Plan, graphs: [String], output: String?, peers: PeerPrograms, trace: String? = nil, resume: Bool = false
  ) throws {
    self.peers = peers
    if getenv("OPERATIONS_TRACE") != nil {
      throw Complaint(
        .usage, "nothing is measured while operations are traced: unset OPERATIONS_TRACE; a run has --trace FILE.json")
    }
    // A full disk or a file size limit is then an error of the write, said in one line.
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    self.plan = plan
    self.graphs = graphs
    // First: where it cannot be written, what an earlier run has left stays as it is.
    self.trace = try trace.map(TraceOutput.init)
    jemalloc = Jemalloc.library()
    if plan.allocator == .jemalloc, jemalloc == nil {
      throw Complaint(
        .unavailable, "--allocator jemalloc needs it installed: apt-get install libjemalloc-dev pkg-config")
    }
    earlier = resume ? try EarlierRun(csv: output ?? "", plan: plan, graphs: graphs) : EarlierRun()
    runID = earlier.runID ?? Environment.newRunID()
    if let output {
      destination = .files(try ResultFiles(csv: output, keeping: earlier.rows), name: output)
    } else if isatty(STDOUT_FILENO) == 1 {
      let folder = "local-results"
      guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
        throw Complaint(.cannotCreate, "cannot create the folder \(folder): \(String(cString: strerror(errno)))")
      }
      let name = "\(folder)/\(runID).csv"
      destination = .files(try ResultFiles(csv: name), name: name)
    } else {
      destination = .standardOutput
    }
  }

  func run() throws {
    Interrupt.install()
    let start = SystemLoad.read()
    let began = Clock.now()
    let spin = earlier.spin ?? Spin.calibrated()
    var environment = Environment(
      runID: runID, plan: plan, spin: spin, graphs: graphs, arguments: CommandLine.arguments, jemalloc: jemalloc,
      source: #filePath)
    for name in Set(plan.scenarios.flatMap(\.arms).map(\.subject)) { environment.peers[name] = peers.version(name) }
    announce()
    var writing: (any Error)?
    func attempt(_ action: () throws -> Void) {
      guard writing == nil else { return }
      do { try action() } catch { writing = error }
    }
    switch destination {
    case .standardOutput: try write(CSV.line(CSV.header))
    case .files(let files, _): try files.checkpoint(environment: try environment.json())
    }

    let launcher = PeerLauncher(peers)
    let world = RunSession.World(
      launch: { request, environment, timeout in
        launcher.launch(request, environment: environment, timeout: timeout)
          ?? ProcessRunner.measure(request, environment: environment, timeout: timeout)
      },
      showProgress: progress.show, say: progress.say,
      record: { rows in attempt { try write(rows.map(CSV.line).joined()) } },
      checkpoint: { result in
        guard case .files(let files, _) = destination else { return }
        var sofar = environment
        sofar.outcome = outcome(result, since: start, began: began)
        attempt { try files.checkpoint(environment: try sofar.json()) }
      },
      isInterrupted: { Interrupt.isRequested || writing != nil },
      countingEnvironment: jemalloc.map(Jemalloc.environment),
      timingEnvironment: plan.allocator == .jemalloc
        ? jemalloc.map(Jemalloc.timingEnvironment) ?? [:] : [:],
      tracePiece: { trace?.piece($0) ?? "" },
      keepTrace: { request, operations, notShown in
        attempt { try trace?.add(request, operations: operations, notShown: notShown) }
      })
    var session = RunSession(plan, runID: runID, spin: spin, graphs: graphs, world: world, earlier: earlier)
    let result = session.run()
    progress.clear()
    if let writing { throw writing }
    try publishTrace()

    environment.outcome = outcome(result, since: start, began: began)
    try finish(result, environment)
  }

  /// What starting a measuring process takes on this machine, in seconds: the median of a few that measure nothing.
  static func startupSeconds() -> Double {
    Statistics.median(
      (0..<5).map { _ in
        Double(ProcessRunner.run(ProcessRunner.thisProgram, ["measure", Measure.nothing], timeout: 10).nanoseconds)
          / 1e9
      })
  }

  /// Also of an interrupted run, as far as it came.
  private func publishTrace() throws {
    guard let trace else { return }
    guard trace.pieces > 0 else {
      trace.discard()
      return progress.say("no trace: no cell came to be traced; \(trace.path) is as it was")
    }
    try trace.publish([
      "producer": "opbench", "run": runID, "command": CommandLine.arguments.dropFirst().joined(separator: " "),
      "clock": "CLOCK_MONOTONIC, from the beginning of each process's recording",
      "operations shown": "\(trace.operations)", "events not shown for want of room": "\(trace.notShown)",
    ])
    let cut = trace.notShown > 0 ? ", \(trace.notShown) events beyond the limit left out" : ""
    progress.say(
      "wrote \(trace.path): \(trace.operations) operations of \(trace.pieces) cells\(cut); "
        + "open it at https://ui.perfetto.dev or in chrome://tracing")
  }

  /// Publishes what there is, prints the table, and says with its exit code whether all went well.
  private func finish(_ result: RunResult, _ environment: Environment) throws {
    if result.rows.isEmpty {
      if case .files(let files, _) = destination { files.discard() }
      if result.wasInterrupted { throw ExitCode(128 + SIGINT) }
      throw Complaint(.software, "no cell gave a number; nothing was written")
    }
    if case .files(let files, _) = destination { try files.publish(environment: try environment.json()) }
    let summary = Summary(
      result.rows, plan: plan, reference: Self.reference, excluding: result.excluded, failures: result.failures)
    let table = Table(summary, plan: plan, failures: result.failures).text(
      reference: Self.reference, subjects: columns)
    switch destination {
    case .files(_, let name):
      try ResultFiles.write("\n" + table, to: STDOUT_FILENO, name: "standard output")
      progress.say("wrote \(name) and its .env.json")
    case .standardOutput: try ResultFiles.write("\n" + table, to: STDERR_FILENO, name: "standard error")
    }
    warn(result, environment.outcome)
    if result.wasInterrupted { throw ExitCode(128 + SIGINT) }
    // A reference that fails is worth a line, which has been printed; the run is about the others.
    let failed = result.failures.keys.filter { !SubjectRegistry.references.contains($0.arm.subject) }.count
    if failed > 0 {
      throw Complaint(
        .software, "\(failed) \(failed == 1 ? "cell has" : "cells have") no number; the lines above say why")
    }
  }

  /// What each column is.
  private var columns: [(name: String, summary: String)] {
    let shown = Set(plan.scenarios.flatMap(\.arms).map(\.subject))
    return SubjectRegistry.all.filter { shown.contains($0.name) }.map { ($0.name, "\($0.role.words): \($0.summary)") }
  }

  static let reference = "foundation"

  private func write(_ text: String) throws {
    switch destination {
    case .files(let files, _): try files.append(text)
    case .standardOutput: try ResultFiles.write(text, to: STDOUT_FILENO, name: "standard output")
    }
  }

  private func announce() {
    for warning in MachineWarnings.before() { progress.say(warning) }
    if let advice = PerfAvailability().advice { progress.say(advice) }
    if jemalloc == nil, !plan.countings.isEmpty { progress.say(Jemalloc.advice) }
    if !earlier.rows.isEmpty {
      progress.say("going on with \(earlier.rows.count) rows of run \(runID)")
    }
    let processes = plan.steps.count - (jemalloc == nil ? plan.countings.count : 0)
    if let trace { announce(trace) }
    let rest = earlier.rows.isEmpty ? "" : " in all, less what is finished"
    progress.say(
      "\(plan.effort) a process: \(processes) processes, about \(Progress.duration(plan.estimatedSeconds))\(rest)")
  }

  private func announce(_ trace: TraceOutput) {
    let limit = TraceRequest.operationLimit(cells: plan.tracings.count)
    let others = Set(plan.scenarios.flatMap(\.arms).map(\.subject)).subtracting(plan.traced).sorted()
    let without = others.isEmpty ? "" : "; of \(others.joined(separator: ", ")), which are not ours, there is none"
    progress.say(
      "a trace of \(plan.tracings.count) cells, each at most \(limit) operations, goes to \(trace.path)\(without)")
  }

  /// In plain words what disturbed the run, and what would help.
  private func warn(_ result: RunResult, _ outcome: RunOutcome) {
    if result.wasInterrupted {
      progress.say("interrupted: the table and the CSV hold what was finished; the same command with --resume goes on")
    }
    for warning in MachineWarnings.after(result, outcome) { progress.say(warning) }
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
}
