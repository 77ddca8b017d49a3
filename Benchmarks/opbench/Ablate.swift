import ArgumentParser
import Glibc
import Harness
import Laboratory
import Subjects
import Workloads

/// `opbench ablate`: what each decision of a pool's strategy is worth.
struct Ablate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure a pool's default strategy against every single change of it.",
    discussion: """
      Each change runs beside the default, in paired blocks. After six blocks of every change the time goes where the verdict \
      is open. Then the pairs of the changes that helped run, into a second file: X.pairs.csv beside X.csv. \
      opbench report X.csv X.pairs.csv has the page. opbench list stealing has the decisions.

      Exit codes are those of opbench run.
      """)

  @Argument(
    help: "The backend: \(SubjectVariant.subjects.joined(separator: ", ")).",
    completion: .list(SubjectVariant.subjects))
  var backend = "stealing"

  @Option(
    help: ArgumentHelp("Only these decisions, with commas (default: all).", valueName: "names"))
  var decision: String?

  @Option(
    help:
      "Only benchmarks that match this regular expression, as in run (default: those on which strategies differ).",
    completion: .custom { _, _, _ in SuiteCompletions.benchmarks(OpbenchSuite()) })
  var benchmark: String = Ablate.usualBenchmarks

  @Option(
    parsing: .unconditional,
    help: "The number of workers (default: the CPUs this process may use). More than CPUs is an extra of its own.",
    transform: OptionNumber.count(in: 1...1_024))
  var workers: Int?

  @Flag(help: "No pairs of the changes that helped.")
  var noPairs = false

  @OptionGroup var options: RunOptions

  /// Where strategies differ: adding, chains and graphs, fork and join, hand-overs between threads, and the family `strategy`.
  static let usualBenchmarks =
    "^(overhead/(external-add|local-add|external-batch)|dependencies/chain|dependencies/graph .*pattern=stencil_1d"
    + "|forkjoin/(fib|uts)|latency/(ping-pong|wake-idle)|strategy/.*)( |;|$)"

  /// How long an ablation takes when the user does not say, and the share of that which the single changes have.
  private static let usualSeconds = 900.0
  private static let shareOfSingles = 0.8

  /// The most changes that are paired: six pairs.
  private static let mostPaired = 4

  func run() throws {
    try options.prepare()
    if options.quick { throw Complaint(.usage, "ablate has no --quick: --budget 2m takes less time") }
    let changes = try changes()
    let names = changes.map { "\(backend)(\($0))" }
    let result = try measure(names, share: noPairs ? 1 : Self.shareOfSingles, options)
    guard !noPairs, let result, !result.wasInterrupted else { return }
    try measurePairs(changes, result)
  }

  /// Every single change of the decisions that were asked for.
  private func changes() throws -> [String] {
    guard let all = SubjectVariant.changes(of: backend) else {
      throw Complaint(
        .usage, "'\(backend)' has no strategy to choose: \(SubjectVariant.subjects.joined(separator: ", ")) have")
    }
    guard let decision else { return all.map(\.text) }
    let known = all.map(\.decision).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let asked = decision.split(separator: ",").map { String($0.drop { $0 == " " }) }
    for name in asked where !known.contains(name) {
      throw Complaint(
        .usage, "there is no decision '\(name)' of \(backend): there are \(known.joined(separator: ", "))")
    }
    guard !asked.isEmpty else {
      throw Complaint(.usage, "--decision takes names of decisions with commas: \(known.joined(separator: ", "))")
    }
    return all.filter { asked.contains($0.decision) }.map(\.text)
  }

  private func measure(_ names: [String], share: Double, _ options: RunOptions) throws -> RunResult? {
    var effort = options.effort(full: .full, quick: .quick, usualSeconds: Self.usualSeconds)
    // A block has a few of the changes.
    effort.blocks *= Ablation.turns(changes: names.count)
    effort.goal?.seconds *= share
    var selection = Selection(
      names: [backend] + names, benchmark: benchmark, workers: [workers ?? CPUs.available], effort: effort,
      seed: options.seed)
    selection.allocator = try options.chosenAllocator()
    selection.startup = Execution.startupSeconds()
    selection.isTimeGiven = true
    let plan = try selection.ablation(Catalogue(graphs: [], seed: options.seed))
    var work = RunWork(OpbenchSuite(), plan)
    work.subjects = try selection.subjects(withReferences: false).map(\.facts)
    work.reference = backend
    return try work.run(options)
  }

  /// The pairs of the best changes that helped, each of another decision.
  private func measurePairs(_ changes: [String], _ result: RunResult) throws {
    let progress = Progress()
    let names = changes.map { "\(backend)(\($0))" }
    let table = AblationTable(try summary(names, result), arms: arms(names), seed: options.seed)
    var best: [String] = []
    for change in table.helpful where best.count < Self.mostPaired {
      let text = changes[names.firstIndex(of: change.subject)!]
      if !best.contains(where: { SubjectVariant.isSameDecision($0, text) }) { best.append(text) }
    }
    guard best.count > 1 else {
      return progress.say(
        best.isEmpty
          ? "no pairs: no change is surely better anywhere without being surely worse elsewhere"
          : "no pairs: \(best[0]) alone is surely better somewhere and surely worse nowhere")
    }
    let pairs = best.indices.flatMap { first in
      best[(first + 1)...].map { "\(backend)(\(best[first]);\($0))" }
    }
    var rest = options
    rest.output = options.output.flatMap { $0 == "-" ? nil : Self.pairsFile($0) }
    guard rest.output != nil else {
      return progress.say(
        "no pairs: --output FILE.csv gives them a file beside the first; \(best.joined(separator: ", ")) helped")
    }
    progress.say("now the pairs of \(best.joined(separator: ", "))")
    _ = try measure(pairs, share: 1 - Self.shareOfSingles, rest)
  }

  private static func pairsFile(_ file: String) -> String {
    (file.hasSuffix(".csv") ? String(file.dropLast(4)) : file) + ".pairs.csv"
  }

  private func arms(_ names: [String]) -> [Arm] {
    ([backend] + names).map { Arm(subject: $0, workers: workers ?? CPUs.available) }
  }

  private func summary(_ names: [String], _ result: RunResult) throws -> Summary {
    let selection = Selection(
      names: [backend] + names, benchmark: benchmark, workers: [workers ?? CPUs.available], effort: .full,
      seed: options.seed)
    let plan = try selection.ablation(Catalogue(graphs: [], seed: options.seed))
    return Summary(
      result.rows, plan: plan, reference: backend, excluding: result.excluded, failures: result.failures)
  }
}
