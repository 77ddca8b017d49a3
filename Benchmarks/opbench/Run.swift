import ArgumentParser
import Glibc
import Harness
import Subjects
import Workloads

/// `opbench run`: the main job.
struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure backends beside the references, print a table, write CSV.",
    discussion: """
      Every cell of every block runs in a process of its own. The CSV goes to --output (with its environment beside it as \
      .env.json), to standard output when that is not a terminal, and otherwise to local-results/.
      """)

  @Option(
    help:
      "What to measure, as often as needed or with commas; 'all' for everything. The references always run beside it.",
    completion: .custom(Completions.backends))
  var backend: [String] = ["stealing"]

  @Option(
    help:
      "Only benchmarks whose family/name, or family/name and parameters as list prints them, match this regular expression: 'metg .*pattern=fft'.",
    completion: .custom(Completions.benchmarks))
  var benchmark: String?

  @Option(help: "Worker counts for our backends, with commas (default: the CPUs this process may use).")
  var workers: String?

  @Option(help: "Blocks: fresh processes per cell (default: \(Effort.full.blocks), quick: \(Effort.quick.blocks)).")
  var blocks: Int?

  @Option(help: "Values per process (default: \(Effort.full.values), quick: \(Effort.quick.values)).")
  var values: Int?

  @Flag(
    help: "A look at everything in under two minutes (per backend beside the references); too few blocks for intervals."
  )
  var quick = false

  @Option(help: "The seed of every random choice.")
  var seed: UInt64 = 1

  @Option(
    help: "A WfFormat 1.5 workflow for dependencies/replay, as often as needed.",
    completion: .file(extensions: ["json"]))
  var graph: [String] = []

  @Option(
    help: "What the timed processes allocate from: \(Allocator.allCases.map(\.rawValue).joined(separator: " or ")).",
    completion: .list(Allocator.allCases.map(\.rawValue)))
  var allocator: String = Allocator.system.rawValue

  @Option(help: "Where to write the CSV.", completion: .file(extensions: ["csv"]))
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Where to write a timeline of our backends: each cell runs once more, traced, for Perfetto or chrome://tracing.",
      valueName: "file.json"),
    completion: .file(extensions: ["json"]))
  var trace: String?

  @Flag(help: "Go on with the interrupted run of --output; the other options must be those it was begun with.")
  var resume = false

  @Flag(help: "Say what would run and for how long, and stop.")
  var dryRun = false

  func run() throws {
    if resume, output == nil {
      throw Complaint(.usage, "--resume needs --output: the CSV of the run to go on with")
    }
    if resume, dryRun { throw Complaint(.usage, "--resume and --dry-run contradict each other: leave one out") }
    let catalogue = try Catalogue(graphs: graph, seed: seed)
    let selection = try selection()
    var plan = try selection.plan(catalogue)
    if trace != nil { plan.traced = try tracedSubjects(of: plan) }
    for peer in try selection.missingPeers() {
      try ResultFiles.write(
        "opbench: \(PeerPrograms.advice(peer)); its cells stay empty\n", to: STDERR_FILENO, name: "standard error")
    }
    if dryRun {
      try ResultFiles.write(DryRun(plan).text, to: STDOUT_FILENO, name: "standard output")
      return
    }
    try RunJob(plan, graphs: graph, output: output, peers: selection.peers, trace: trace, resume: resume).run()
  }

  /// Only our queues can be traced.
  private func tracedSubjects(of plan: Plan) throws -> Set<String> {
    let ours = SubjectRegistry.all.filter { $0.role == .backend }.map(\.name)
    let traced = Set(plan.scenarios.flatMap(\.arms).map(\.subject)).intersection(ours)
    guard !traced.isEmpty else {
      throw Complaint(
        .usage, "--trace shows operations of \(ours.joined(separator: ", ")), and this run has none of them")
    }
    return traced
  }

  private func selection() throws -> Selection {
    var effort = quick ? Effort.quick : Effort.full
    if let blocks { effort.blocks = try checked(blocks, "--blocks", 1...1_000) }
    if let values { effort.values = try checked(values, "--values", 1...1_000) }
    guard let allocator = Allocator(rawValue: allocator) else {
      let names = Allocator.allCases.map(\.rawValue).joined(separator: " or ")
      throw Complaint(.usage, "there is no allocator '\(allocator)'; --allocator takes \(names)")
    }
    var selection = Selection(
      backends: backend, benchmark: benchmark, workers: try workers.map(workerCounts), effort: effort,
      seed: seed)
    selection.allocator = allocator
    selection.startup = RunJob.startupSeconds()
    // Whoever names an effort gets it.
    if blocks == nil, values == nil { selection.budget = quick ? Effort.quickBudget : Effort.fullBudget }
    return selection
  }

  private func workerCounts(_ list: String) throws -> [Int] {
    try list.split(separator: ",", omittingEmptySubsequences: false).map { text in
      guard let count = Int(text) else {
        throw Complaint(.usage, "--workers takes counts from 1 to 1024, such as 1,2,4; not '\(list)'")
      }
      return count
    }
  }

  private func checked(_ value: Int, _ option: String, _ range: ClosedRange<Int>) throws -> Int {
    guard range.contains(value) else {
      throw Complaint(.usage, "\(option) takes a count from \(range.lowerBound) to \(range.upperBound), not \(value)")
    }
    return value
  }
}
