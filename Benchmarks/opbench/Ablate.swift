import ArgumentParser
import Glibc
import HarnessComparing
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessWords
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

  /// Where strategies differ: adding, chains and graphs, fork and join, hand-overs between threads, and the family
  /// `strategy`.
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
    if let shard = options.shard, !noPairs {
      throw Complaint(
        .usage, "ablate --shard \(shard) needs --no-pairs: which pairs run depends on the results of all shards")
    }
    let changes = try changes()
    let names = changes.map { "\(backend)(\($0))" }
    let pairsFile = try pairsFile()
    var failures: [Complaint] = []
    let share = pairsFile == nil ? 1 : Self.shareOfSingles
    let result = try measure(names, share: share, options, &failures) { beginPairs(pairsFile) }
    if let pairsFile, let result, !result.wasInterrupted, !Interrupt.isRequested {
      try measurePairs(changes, result, pairsFile, &failures)
    }
    // The first complaint is that of the single changes. All numbers are written.
    if let failure = failures.first { throw failure }
  }

  /// Says where the pairs will go. Pairs of an earlier ablation say nothing of this one, which may have none: they go
  /// away.
  private func beginPairs(_ file: String?) {
    guard !noPairs else { return }
    Progress().say(
      file.map { "a fifth of the time is kept for pairs of the changes that help; they go to \($0)" }
        ?? "no pairs of changes: --output FILE.csv gives them a file beside the first")
    guard let file, options.overwrite, !options.dryRun else { return }
    unlink(file)
    unlink(String(file.dropLast(4)) + ".env.json")
  }

  /// Where the pairs go; nil without a file. Complains at once when that file cannot be replaced.
  private func pairsFile() throws -> String? {
    guard !noPairs, let output = options.output, output != "-" else { return nil }
    let file = (output.hasSuffix(".csv") ? String(output.dropLast(4)) : output) + ".pairs.csv"
    guard access(file, F_OK) == 0, !options.dryRun, !options.resume else { return file }
    guard options.overwrite else {
      throw Complaint(
        .cannotCreate, "\(file) holds a finished result: --overwrite replaces it, --resume goes on with it")
    }
    return file
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

  /// - Parameter begin: called when the plan is made, before anything is measured.
  private func measure(
    _ names: [String], share: Double, _ options: RunOptions, _ failures: inout [Complaint],
    begin: () -> Void = {}
  ) throws -> RunResult? {
    var effort = options.effort(full: .full, quick: .quick, usualSeconds: Self.usualSeconds)
    // A change that makes no difference is known to make none once its interval is that narrow.
    if options.until == nil { effort.goal?.halfWidth = Worth.margin }
    // A block has a few of the changes.
    effort.blocks *= Ablation.turns(changes: names.count)
    effort.goal?.seconds *= share
    var selection = Selection(
      names: [backend] + names, benchmark: benchmark, workers: [workers ?? CPUs.available], effort: effort,
      seed: options.seed)
    selection.allocator = try options.chosenAllocator()
    selection.startup = RecordedRun.startupSeconds()
    selection.isTimeGiven = true
    let plan = try selection.ablation(Catalogue(graphs: [], seed: options.seed))
    var planned = PlannedRun(OpbenchSuite(), plan)
    planned.subjects = try selection.subjects(withReferences: false).map(\.facts)
    planned.reference = backend
    planned.strategies = SubjectVariant.facts(of: names)
    planned.commandOutput = self.options.output
    planned.ending = { [plan] results, width in
      AblationText(AblationTable(AblationRatios(results, plan.arms), seed: plan.seed)).text(width: width)
    }
    begin()
    var failed: [Complaint] = []
    let result = try planned.run(options, onFailure: { failed.append($0) })
    failures += failed
    return result
  }

  /// The pairs of the best changes that helped, each of another decision.
  private func measurePairs(
    _ changes: [String], _ result: RunResult, _ file: String, _ failures: inout [Complaint]
  ) throws {
    let progress = Progress()
    let names = changes.map { "\(backend)(\($0))" }
    let table = AblationTable(AblationRatios(ResultTable(result), arms(names)), seed: options.seed)
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
    rest.output = file
    // An interrupted ablation may not have come to its pairs.
    rest.resume = options.resume && (access(file, F_OK) == 0 || access(file + ".partial", F_OK) == 0)
    progress.say("now the pairs of \(best.joined(separator: ", "))")
    _ = try measure(pairs, share: 1 - Self.shareOfSingles, rest, &failures)
  }

  private func arms(_ names: [String]) -> [Arm] {
    ([backend] + names).map { Arm(subject: $0, workers: workers ?? CPUs.available) }
  }
}
