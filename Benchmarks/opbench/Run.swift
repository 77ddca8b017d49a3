import ArgumentParser
import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessWords
import Laboratory
import Subjects
import Workloads

/// `opbench run`: measures benchmarks on subjects.
struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure subjects beside the references, print a table, write CSV.",
    discussion: """
      Every cell of every block runs in a process of its own. The CSV goes to --output (with its environment beside it as \
      .env.json), to standard output for a file or a program, and to local-results/ on a terminal; the help of --output \
      says where it goes in a log.

      Exit code 0: every cell has a number. 64: the command line is wrong. 65, 66: a file is wrong, or is not there. 69: \
      something needed is not installed. 70: a cell of what was asked for has no number (it crashed, hung or got a wrong \
      result); the others are written. 73: the output cannot be written there. 74: writing failed. 130: interrupted; \
      what was finished is written, and --resume goes on.
      """)

  @Option(
    help:
      "The subjects to measure, as often as needed or with commas; 'all' for everything. The references always run beside it.",
    completion: .custom { SuiteCompletions.subjects(OpbenchSuite(), prefix: $2, withAll: true) })
  var backend: [String] = ["stealing"]

  @Option(
    help: ArgumentHelp(
      "A program of yours to measure under a name, as often as needed: one that speaks the peer protocol.",
      valueName: "name=program"))
  var peer: [String] = []

  @Option(
    help:
      "Only benchmarks whose family/name, or family/name and parameters as list prints them, match this regular expression: 'metg .*pattern=fft'.",
    completion: .custom { _, _, _ in SuiteCompletions.benchmarks(OpbenchSuite()) })
  var benchmark: String?

  @Flag(help: "Also the larger sizes and other shapes of these benchmarks; the run says how many there are.")
  var variants = false

  @Option(
    parsing: .unconditional,
    help: "Worker counts, with commas, where they can be set (default: the CPUs this process may use).")
  var workers: String?

  @Option(
    help: "A WfFormat 1.5 workflow for dependencies/replay, as often as needed.",
    completion: .file(extensions: ["json"]))
  var graph: [String] = []

  @Option(
    help: ArgumentHelp(
      "Where to write a timeline of our queues: each cell runs once more, traced, for Perfetto or chrome://tracing.",
      valueName: "file.json"),
    completion: .file(extensions: ["json"]))
  var trace: String?

  @OptionGroup var options: RunOptions

  func run() throws {
    try options.prepare()
    if let shard = options.shard, trace != nil {
      throw Complaint(
        .usage,
        "--shard \(shard) and --trace contradict each other: a trace has every cell once; a run without --shard makes it"
      )
    }
    let guests = try peer.map(PeerPrograms.welcome)
    let catalogue = try Catalogue(graphs: graph, seed: options.seed)
    let selection = try selection(with: guests)
    var plan = try selection.plan(catalogue)
    if trace != nil { plan.traced = try tracedSubjects(of: plan) }
    let progress = Progress()
    for peer in try selection.missingPeers() { progress.say("\(PeerPrograms.advice(peer)); its cells stay empty") }
    for line in try selection.leftOut(catalogue) { progress.say(line) }
    var planned = PlannedRun(OpbenchSuite(), plan, context: RunContext(graphs: graph).text)
    let subjects = try selection.subjects()
    // The subjects with strategies stand behind the subjects as they are.
    planned.subjects += subjects.map(\.facts).filter { !planned.subjects.contains($0) }
    planned.strategies = SubjectVariant.facts(of: subjects.map(\.name))
    try planned.run(options, trace: trace)
  }

  /// The subjects to trace: only this library's queues can be traced.
  private func tracedSubjects(of plan: Plan) throws -> Set<String> {
    let ours = SubjectRegistry.all.filter { $0.role == .ours }.map(\.name)
    let all = Set(plan.scenarios.flatMap(\.arms).map(\.subject))
    let traced = try all.filter { ours.contains(try SubjectVariant($0).subject) }
    guard !traced.isEmpty else {
      throw Complaint(
        .usage, "--trace shows operations of \(ours.joined(separator: ", ")), and this run has none of them")
    }
    return traced
  }

  private func selection(with guests: [String]) throws -> Selection {
    var selection = Selection(
      names: backend + guests, benchmark: benchmark, workers: try workers.map { try OptionNumber.workerCounts($0) },
      effort: options.effort(
        full: .full, quick: .quick, usualSeconds: options.quick ? Effort.quickBudget : Effort.fullBudget),
      seed: options.seed)
    selection.allocator = try options.chosenAllocator()
    selection.variants = variants
    selection.startup = RecordedRun.startupSeconds()
    selection.isTimeGiven = options.budget != nil
    return selection
  }
}
