import ArgumentParser
import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// `run`: each benchmark in many processes, with intervals.
struct ProgramRun<Program: BenchmarkProgram>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "run", abstract: "Measure the benchmarks: medians over processes, with intervals.",
      discussion: """
        Every benchmark of every block runs in a process of its own. The CSV goes to --output (with its environment beside it as \
        .env.json), to standard output for a file or a program, and to local-results/ on a terminal; the help of --output \
        says where it goes in a log.
        """)
  }

  @Option(
    help:
      "Only benchmarks whose family/name, or family/name and parameters as list prints them, match this regular expression.",
    completion: .custom { _, _, _ in SuiteCompletions.benchmarks(ProgramSuite<Program>.suite) })
  var benchmark: String?

  @OptionGroup var options: RunOptions

  func run() throws {
    try options.prepare()
    let effort = options.effort(
      full: .full.with(blocks: 20), quick: .quick.with(blocks: Effort.fewestBlocks),
      usualSeconds: nil)
    let arm = Arm(subject: Program.name, workers: 1)
    let plan = Plan(
      scenarios: try planned(arm), effort: effort, seed: options.seed, allocator: try options.chosenAllocator(),
      startup: RecordedRun.startupSeconds())
    try PlannedRun(ProgramSuite<Program>.suite, plan).run(options)
  }

  /// The chosen benchmarks as the plan has them.
  func planned(_ arm: Arm) throws -> [PlannedScenario] {
    try chosen().map { chosen in
      PlannedScenario(
        scenario: chosen.scenario, arms: [arm], incapable: [], repeats: .calibrated(seconds: chosen.expectedSeconds),
        headlines: Metric.cost + chosen.ownMetrics + (chosen.countsAllocations ? Metric.allocation : []),
        countsAllocations: chosen.countsAllocations,
        notes: [])
    }
  }

  func chosen() throws -> [Benchmark] {
    guard let benchmark else { return Program.benchmarks }
    let expression = try NamePattern.read(benchmark, of: "--benchmark")
    let chosen = Program.benchmarks.filter {
      "\($0.name)".contains(expression) || "\($0.scenario)".contains(expression)
    }
    guard !chosen.isEmpty else {
      let words = Suggestion.words(
        forBenchmark: benchmark, among: Program.benchmarks.map(\.name),
        sets: Program.benchmarks.map { "\($0.scenario)" })
      throw Complaint(.usage, "no benchmark matches '\(benchmark)'\(words)")
    }
    return chosen
  }
}
