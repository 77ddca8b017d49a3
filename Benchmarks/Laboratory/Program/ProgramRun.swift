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

  @Option(
    help: "The subjects to measure, with commas between them; all by default.",
    completion: .custom { _, _, prefix in SuiteCompletions.subjects(ProgramSuite<Program>.suite, prefix: prefix) })
  var subject: String?

  @OptionGroup var options: RunOptions

  func run() throws {
    try options.prepare()
    let effort = options.effort(
      full: .full.with(blocks: 20), quick: .quick.with(blocks: Effort.fewestBlocks),
      usualSeconds: nil)
    let plan = Plan(
      scenarios: try planned(), effort: effort, seed: options.seed, allocator: try options.chosenAllocator(),
      startup: RecordedRun.startupSeconds())
    try PlannedRun(ProgramSuite<Program>.suite, plan).run(options)
  }

  /// The chosen benchmarks as the plan has them.
  func planned() throws -> [PlannedScenario] {
    ProgramSuite<Program>.planned(try chosen())
  }

  func chosen() throws -> [Benchmark] {
    let subjects = try chosenSubjects()
    let all = Program.benchmarks.filter { subjects.contains($0.arm(in: Program.name).subject) }
    guard let benchmark else { return all }
    let expression = try NamePattern.read(benchmark, of: "--benchmark")
    func matches(_ benchmark: Benchmark) -> Bool {
      "\(benchmark.name)".contains(expression) || "\(benchmark.scenario)".contains(expression)
    }
    let chosen = all.filter(matches)
    guard !chosen.isEmpty else {
      let matching = Program.benchmarks.filter(matches)
      guard matching.isEmpty else {
        let others = Benchmark.subjects(of: matching, in: Program.name).joined(separator: ", ")
        let chosen = subjects.joined(separator: ", ")
        throw Complaint(
          .usage, "no benchmark of \(chosen) matches '\(benchmark)'; the subjects that have one are \(others)")
      }
      let words = Suggestion.words(
        forBenchmark: benchmark, among: Program.benchmarks.map(\.name),
        sets: Program.benchmarks.map { "\($0.scenario)" })
      throw Complaint(.usage, "no benchmark matches '\(benchmark)'\(words)")
    }
    return chosen
  }

  private func chosenSubjects() throws -> [String] {
    let all = Program.subjects
    guard let subject else { return all }
    let names = subject.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    for name in names where !all.contains(name) {
      throw Complaint(.usage, "there is no subject '\(name)'\(Suggestion.words(for: name, among: all))")
    }
    return names
  }
}
