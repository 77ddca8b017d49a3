import ArgumentParser
import Glibc
import Harness

/// `run`: each benchmark in so many processes, with intervals.
struct ProgramRun<Program: BenchmarkProgram>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "run", abstract: "Measure the benchmarks: medians over processes, with intervals.",
      discussion: "The CSV of --output is that of opbench run: opbench compare reads it.")
  }

  @Option(help: "Only benchmarks whose family/name matches this regular expression.")
  var benchmark: String?

  @Option(help: "Blocks: fresh processes per benchmark. Intervals need six.")
  var blocks: Int = 10

  @Option(help: "Where to write the CSV.", completion: .file(extensions: ["csv"]))
  var output: String?

  @Option(help: "The seed of every random choice.")
  var seed: UInt64 = 1

  func run() throws {
    guard 1...1_000 ~= blocks else { throw Complaint(.usage, "--blocks takes a count from 1 to 1000, not \(blocks)") }
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    let plan = Plan(
      scenarios: try chosen().map { chosen in
        PlannedScenario(
          scenario: Scenario(chosen.name, [:]), arms: [Arm(subject: Program.name, workers: 1)], incapable: [],
          repeats: .calibrated(), headlines: Metric.cost + Metric.allocation, countsAllocations: true, notes: [])
      }, effort: Effort(blocks: blocks, values: 3, warmups: 1, target: 20_000_000), seed: seed)
    let files = try output.map { try ResultFiles(csv: $0) }
    let progress = Progress()
    for warning in MachineWarnings.before() { progress.say(warning) }
    Interrupt.install()
    let result = try measure(plan, files, progress)
    guard !result.rows.isEmpty else {
      files?.discard()
      throw Complaint(.software, "no benchmark gave a number")
    }
    let summary = Summary(
      result.rows, plan: plan, reference: Program.name, excluding: result.excluded, failures: result.failures)
    let table = Table(summary, plan: plan, failures: result.failures).text(
      reference: Program.name, subjects: [(Program.name, "this program")])
    try ResultFiles.write(table, to: STDOUT_FILENO, name: "standard output")
    if result.wasInterrupted { throw ExitCode(128 + SIGINT) }
    guard result.failures.isEmpty else {
      throw Complaint(.software, "\(result.failures.count) benchmarks gave no number; the lines above say why")
    }
  }

  private func chosen() throws -> [Benchmark] {
    guard let benchmark else { return Program.benchmarks }
    guard let expression = try? Regex(benchmark) else {
      throw Complaint(.usage, "--benchmark '\(benchmark)' is not a regular expression")
    }
    let chosen = Program.benchmarks.filter { "\($0.name)".contains(expression) }
    guard !chosen.isEmpty else {
      let names = Program.benchmarks.map { "\($0.name)" }.joined(separator: ", ")
      throw Complaint(.usage, "no benchmark matches '\(benchmark)'; there are \(names)")
    }
    return chosen
  }

  private func measure(_ plan: Plan, _ files: ResultFiles?, _ progress: Progress) throws -> RunResult {
    let start = SystemLoad.read()
    let began = Clock.now()
    let jemalloc = Jemalloc.library()
    let spin = Spin.calibrated()
    var environment = Environment(
      runID: Environment.newRunID(), plan: plan, spin: spin, graphs: [], arguments: CommandLine.arguments,
      jemalloc: jemalloc, source: "./source")
    var writing: (any Error)?
    let world = RunSession.World(
      launch: { ProcessRunner.measure($0, environment: $1, timeout: $2) },
      showProgress: progress.show, say: progress.say,
      record: { rows in
        guard writing == nil else { return }
        do { try files?.append(rows.map(CSV.line).joined()) } catch { writing = error }
      }, isInterrupted: { Interrupt.isRequested || writing != nil },
      countingEnvironment: jemalloc.map(Jemalloc.environment))
    if jemalloc == nil { progress.say(Jemalloc.advice) }
    var session = RunSession(plan, runID: environment.runID, spin: spin, graphs: [], world: world)
    let result = session.run()
    progress.clear()
    if let writing { throw writing }
    environment.outcome = RunOutcome(result)
    environment.outcome.seconds = Double(Clock.now() - began) / 1e9
    environment.outcome.stealShare = SystemLoad.read().stealShare(since: start)
    if !result.rows.isEmpty { try files?.publish(environment: try environment.json()) }
    for warning in MachineWarnings.after(result, environment.outcome) { progress.say(warning) }
    return result
  }
}
