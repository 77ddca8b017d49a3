import ArgumentParser
import Glibc
import HarnessGate
import HarnessResults
import HarnessWords

/// The options of `gate`, the same in opbench and in programs made with `Laboratory`.
package struct GateOptions: ParsableArguments {
  @Option(help: "The program to compare with: a build of what is there now.", completion: .file())
  package var base: String?

  @Option(help: "The program to judge (default: this one).", completion: .file())
  package var head: String?

  @Option(help: "What the report calls the base (default: its path).")
  package var baseName: String?

  @Option(help: "What the report calls the head (default: its path).")
  package var headName: String?

  @Option(
    help: "Which tiers, with commas: 0 deterministic, 1 low noise, 2 wall clock (default: all). 0 alone needs no base.")
  package var tiers: String?

  @Option(
    help:
      "Only gated benchmarks whose family/name, or family/name and parameters, match this regular expression, as in run."
  )
  package var benchmark: String?

  @Option(help: "The file of thresholds.", completion: .file(extensions: ["json"]))
  package var thresholds: String?

  @Option(help: "The record of allocations and threads.", completion: .file(extensions: ["json"]))
  package var allocations: String?

  @Option(
    help: "The record of the base: the report says where the record of --allocations allows more.",
    completion: .file(extensions: ["json"]))
  package var baseAllocations: String?

  @Flag(
    help: "Fail when the head lacks a benchmark, or a measure of one, that the base has. Without it a note says so.")
  package var allOfBase = false

  @Option(help: "Where to write the report as JSON.", completion: .file(extensions: ["json"]))
  package var json: String?

  @Option(help: "Where to write the report as Markdown, for a pull request.", completion: .file(extensions: ["md"]))
  package var markdown: String?

  @Option(
    parsing: .unconditional,
    help: "Find thresholds from this number of medians of the head against itself; at least 30. Needs --output.",
    transform: OptionNumber.count(in: GateThresholds.fewestMedians...1_000))
  package var calibrate: Int?

  @Option(
    help: "Where --calibrate writes its thresholds; those of other benchmarks in the file stay.",
    completion: .file(extensions: ["json"]))
  package var output: String?

  @Option(
    help: "Write what the head allocates to this record, and stop; what else is in it stays.",
    completion: .file(extensions: ["json"]))
  package var record: String?

  @Option(parsing: .unconditional, help: "The seed of every random choice.", transform: OptionNumber.seed)
  package var seed: UInt64 = 1

  package init() {}

  /// The tiers asked for.
  func chosenTiers() throws -> Set<GatedMetric.Tier> {
    guard let tiers else { return Set(GatedMetric.Tier.allCases) }
    let chosen = tiers.split(separator: ",", omittingEmptySubsequences: false).map {
      Int($0).flatMap(GatedMetric.Tier.init)
    }
    guard !chosen.contains(nil) else {
      throw Complaint(.usage, "--tiers takes 0, 1 and 2 with commas, such as 0,1; not '\(tiers)'")
    }
    return Set(chosen.compactMap { $0 })
  }

  func check() throws {
    let tiers = try chosenTiers()
    if calibrate != nil {
      guard output != nil else {
        throw Complaint(.usage, "--calibrate needs --output: the file of thresholds to write")
      }
    } else if output != nil {
      throw Complaint(.usage, "--output goes with --calibrate; the report goes to --json and --markdown")
    }
    if calibrate != nil, record != nil {
      throw Complaint(.usage, "--calibrate and --record are two tasks: leave one out")
    }
    let isTask = calibrate != nil || record != nil
    if isTask, let option = given(beyond: ["--head"]) {
      throw Complaint(
        .usage, "\(calibrate != nil ? "--calibrate" : "--record") looks at the head alone; leave \(option) out")
    }
    if base == nil, !isTask, tiers != [.deterministic] {
      throw Complaint(
        .usage, "gate needs --base: the program to compare with (or --tiers 0, which compares with a record)")
    }
    if allOfBase, base == nil {
      throw Complaint(.usage, "--all-of-base needs --base: the program that has the benchmarks")
    }
    try checkBenchmark()
  }

  func checkBenchmark() throws {
    if let benchmark { _ = try NamePattern.read(benchmark, of: "--benchmark") }
  }

  /// The places of the reports are two, and can be written.
  func checkReports() throws {
    if let json, json == markdown {
      throw Complaint(.usage, "--json and --markdown name the same file: give each its own")
    }
    for place in [json, markdown] { if let place { try ResultFiles.checkWritable(place) } }
  }

  /// Writes the report everywhere it is to go.
  func publish(_ report: GateReport) throws {
    // An output that cannot be written must not prevent the other outputs.
    let outcomes = [
      Result { try DescriptorOutput.write(GateText(report).text, to: STDOUT_FILENO, name: "standard output") },
      Result { if let json { try ResultFiles.replace(json, with: try report.json()) } },
      Result { if let markdown { try ResultFiles.replace(markdown, with: GateMarkdown(report).text) } },
    ]
    for outcome in outcomes { try outcome.get() }
  }

  /// The first option that the user gave and that commands without a suite have no use for; nil when there is none.
  func givenForSuites() -> String? {
    let tasks = [("--calibrate", calibrate != nil), ("--output", output != nil), ("--record", record != nil)]
    return tasks.first(where: \.1)?.0
      ?? given(beyond: ["--base", "--head", "--base-name", "--head-name", "--all-of-base", "--json", "--markdown"])
  }

  /// The first option that the user gave of those that say what is compared, how, and where the report goes. The
  /// options in `taken` are left out.
  package func given(beyond taken: Set<String> = []) -> String? {
    let options: [(name: String, isGiven: Bool)] = [
      ("--base", base != nil), ("--head", head != nil), ("--base-name", baseName != nil),
      ("--head-name", headName != nil), ("--tiers", self.tiers != nil), ("--thresholds", thresholds != nil),
      ("--allocations", allocations != nil), ("--base-allocations", baseAllocations != nil),
      ("--all-of-base", allOfBase), ("--json", json != nil), ("--markdown", markdown != nil),
    ]
    return options.first { $0.isGiven && !taken.contains($0.name) }?.name
  }

  /// The cells of a suite that `--benchmark` asks for.
  func chosen(_ cells: [GatedCell]) throws -> [GatedCell] {
    let kept = matching(cells)
    guard let benchmark, kept.isEmpty else { return kept }
    var names: [BenchmarkName] = []
    for name in cells.map(\.cell.scenario.name) where !names.contains(name) { names.append(name) }
    var sets: [String] = []
    for set in cells.map({ "\($0.cell.scenario)" }) where !sets.contains(set) { sets.append(set) }
    let words = Suggestion.words(forBenchmark: benchmark, among: names, sets: sets)
    throw Complaint(.usage, "no gated benchmark matches '\(benchmark)'\(words)")
  }

  func matching(_ cells: [GatedCell]) -> [GatedCell] {
    guard let benchmark, let expression = try? Regex(benchmark) else { return cells }
    return cells.filter {
      "\($0.cell.scenario.name)".contains(expression) || "\($0.cell.scenario)".contains(expression)
    }
  }
}
