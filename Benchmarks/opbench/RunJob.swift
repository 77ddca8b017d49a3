import ArgumentParser
import Glibc
import Harness
import Subjects

/// A run from the first look at the machine to the last line: the harness's parts put together.
struct RunJob {
  private let plan: Plan
  private let graphs: [String]
  private let destination: Destination
  private let progress = Progress()
  private let runID: String

  private enum Destination {
    case files(ResultFiles, name: String)
    case standardOutput
  }

  /// Opens the output first: a run whose result has no place to go does not start.
  init(_ plan: Plan, graphs: [String], output: String?) throws {
    self.plan = plan
    self.graphs = graphs
    runID = Self.newRunID()
    if let output {
      destination = .files(try ResultFiles(csv: output), name: output)
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
    signal(SIGPIPE, SIG_IGN)
    let start = SystemLoad.read()
    let began = Clock.now()
    let jemalloc = Jemalloc.library()
    let spin = Spin.calibrated()
    var environment = Environment(
      runID: runID, seed: plan.seed, effort: plan.effort, spin: spin, arguments: CommandLine.arguments,
      jemalloc: jemalloc,
      source: #filePath)
    announce(jemalloc: jemalloc)
    if case .standardOutput = destination { try write(CSV.line(CSV.header)) }

    var writing: (any Error)?
    let world = RunSession.World(
      launch: { request, environment, timeout in
        ProcessRunner.run(
          Self.thisProgram, ["measure", (try? request.encoded()) ?? ""],
          environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }, timeout: timeout)
      },
      showProgress: progress.show, say: progress.say,
      record: { row in
        do { try write(CSV.line(row)) } catch { writing = writing ?? error }
      },
      isInterrupted: { Interrupt.isRequested || writing != nil },
      countingEnvironment: jemalloc.map(Jemalloc.environment))
    var session = RunSession(plan, runID: runID, spin: spin, graphs: graphs, world: world)
    let result = session.run()
    progress.clear()
    if let writing { throw writing }

    environment.outcome = outcome(result, since: start, began: began)
    try finish(result, environment)
  }

  /// Publishes what there is, prints the table, and says with its exit code whether all went well.
  private func finish(_ result: RunResult, _ environment: Environment) throws {
    if result.rows.isEmpty {
      if case .files(let files, _) = destination { files.discard() }
      if result.wasInterrupted { throw ExitCode(128 + SIGINT) }
      throw Complaint(.software, "no cell gave a number; nothing was written")
    }
    if case .files(let files, _) = destination { try files.publish(environment: try environment.json()) }
    let excluded = result.disturbed.count < result.blocksRun.count ? result.disturbed : []
    let summary = Summary(
      result.rows, plan: plan, reference: Self.reference, excluding: excluded, failures: result.failures)
    let table = Table(summary, plan: plan, failures: result.failures).text(reference: Self.reference)
    switch destination {
    case .files(_, let name):
      try ResultFiles.write("\n" + table, to: STDOUT_FILENO, name: "standard output")
      progress.say("wrote \(name) and its .env.json")
    case .standardOutput: try ResultFiles.write("\n" + table, to: STDERR_FILENO, name: "standard error")
    }
    warn(result)
    if result.wasInterrupted { throw ExitCode(128 + SIGINT) }
    // A reference that fails is worth a line, which has been printed; the run is about the others.
    let failed = result.failures.keys.filter { !SubjectRegistry.references.contains($0.arm.subject) }.count
    if failed > 0 {
      throw Complaint(
        .software, "\(failed) \(failed == 1 ? "cell has" : "cells have") no number; the lines above say why")
    }
  }

  private static let reference = "foundation"
  private static let thisProgram = "/proc/self/exe"

  private func write(_ text: String) throws {
    switch destination {
    case .files(let files, _): try files.append(text)
    case .standardOutput: try ResultFiles.write(text, to: STDOUT_FILENO, name: "standard output")
    }
  }

  private func announce(jemalloc: String?) {
    if let load = SystemLoad.average, load > 0.5 {
      progress.say(
        "other programs are busy (load average \(load)): the numbers will be steadier once they have stopped")
    }
    if !Environment.isOptimised {
      progress.say("this is a debug build, its numbers mean nothing: build with -c release")
    }
    if let advice = PerfAvailability().advice { progress.say(advice) }
    let countings = jemalloc == nil ? [] : plan.countings
    if jemalloc == nil, !plan.countings.isEmpty { progress.say(Jemalloc.advice) }
    let steps = plan.steps.count - plan.countings.count + countings.count
    progress.say("\(steps) processes, about \(Progress.duration(plan.estimatedSeconds))")
  }

  /// In plain words what disturbed the run, and what would help.
  private func warn(_ result: RunResult) {
    if result.wasInterrupted { progress.say("interrupted: the table and the CSV hold what was finished") }
    let share = Double(result.disturbed.count) / Double(max(result.blocksRun.count, 1))
    guard share > 0 else { return }
    let percent = Int((share * 100).rounded(.up))
    let fate =
      result.disturbed.count == result.blocksRun.count ? "all are kept, since no other is left" : "they do not count"
    progress.say(
      "\(result.disturbed.count) of \(result.blocksRun.count) blocks (\(percent) %) lost over 1 % CPU to other guests; "
        + fate
    )
    if share > 0.25 { progress.say("the run is unstable: repeat it when the host is quieter, or with more --blocks") }
  }

  private func outcome(_ result: RunResult, since start: SystemLoad, began: UInt64) -> Environment.Outcome {
    let now = SystemLoad.read()
    var outcome = Environment.Outcome()
    outcome.seconds = Double(Clock.now() - began) / 1e9
    outcome.stealShare = now.stealShare(since: start)
    outcome.cpuPressureSeconds = now.pressureSeconds(since: start)
    for (scenario, count) in result.repeats { outcome.repeats["\(scenario)"] = count }
    outcome.excludedBlocks = result.disturbed.map { "block \($0.block): \($0.scenario)" }.sorted()
    for (cell, reason) in result.failures { outcome.failures["\(cell)"] = reason }
    outcome.wasInterrupted = result.wasInterrupted
    return outcome
  }

  /// The time of day and the process: unique on a machine, and sorted by time.
  private static func newRunID() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let length = strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
    return String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) + "-\(getpid())"
  }
}
