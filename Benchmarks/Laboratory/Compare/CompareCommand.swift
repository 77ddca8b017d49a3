import ArgumentParser
import Glibc
import HarnessComparing
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// `compare`: compares one result subject by subject, or a second result with a first cell by cell.
package struct CompareCommand<Program: SuiteProgram>: ParsableCommand {
  package static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "compare",
      abstract: "Ratios with intervals: the subjects of one result, or two results.",
      discussion: """
        With one file every subject is compared with --reference. With two, BEFORE.csv and AFTER.csv, every cell of the \
        second is compared with the same cell of the first: a ratio above 1 says that the second takes more. Blocks \
        that the run excluded are left out, as the .env.json beside each file says. A cell that failed, or that only one \
        of two files has, is a line behind the table; conditions in which two files differ are lines before it. A ratio is the \
        centre of the ratios of paired blocks; its interval is widened for the number of comparisons. Simulated rows are \
        compared with the default strategy.

        With --limits a list in JSON says which numbers and ratios must not exceed what; what the first file does not hold is \
        looked for in the next.

        Exit code 0: a comparison was shown, whatever it says. With --strict, 70: a cell has no ratio; 65: the conditions differ or are \
        not known. \
        With --limits, 70: a limit is missed.
        """)
  }

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table, markdown, csv, json, go
    case githubActionBenchmark = "github-action-benchmark"
  }

  @Argument(
    help: "One result of run, or two: before and after; packed with gzip where the name ends in .gz.",
    completion: .file(extensions: ["csv", "gz"]))
  var files: [String] = []

  @Option(
    help: "With one file: the subject to compare with, such as foundation or stealing@2.",
    completion: .custom { SuiteCompletions.subjects(Program.suite, prefix: $2) })
  var reference: String?

  @Option(
    help: "Only benchmarks whose family/name matches this regular expression.",
    completion: .custom { _, _, _ in SuiteCompletions.benchmarks(Program.suite) })
  var benchmark: String?

  @Option(
    help: "Metrics that match this regular expression, wholly (default: the one time that stands for each benchmark).")
  var metric: String?

  @Option(help: "table, markdown, csv, json, go for benchstat, or github-action-benchmark.")
  var format: Format = .table

  @Option(parsing: .unconditional, help: "The seed of the bootstrap.", transform: OptionNumber.seed)
  var seed: UInt64 = 1

  @Flag(help: "Compare times although they were taken on different allocators.")
  var acrossAllocators = false

  @Flag(
    help:
      "Fail when a cell has no ratio (exit code 70), or when conditions differ or are not known (65).")
  var strict = false

  @Option(
    help: ArgumentHelp(
      "Judge the limits of this list in JSON, by as many results as are needed.", valueName: "file.json"),
    completion: .file(extensions: ["json"]))
  var limits: String?

  @Flag(help: "With --limits: print what run --benchmark must measure for them, and stop.")
  var needs = false

  package init() {}

  package func run() throws {
    if let limits { return try judge(try Limit.read(path: limits)) }
    if needs { throw Complaint(.usage, "--needs is for --limits, whose benchmarks it prints") }
    if try files.contains(where: SimulatedFile.isSimulated) { return try showSimulated() }
    try compare()
  }

  /// Shows what results say of limits; throws when a limit is missed.
  private func judge(_ limits: [Limit]) throws {
    guard reference == nil, benchmark == nil, metric == nil, !strict, format == .table || format == .json else {
      throw Complaint(
        .usage, "--limits names what is compared, so of the other options it takes --format json alone beside it")
    }
    guard !needs else { return try show(Limit.benchmarks(limits) + "\n") }
    guard !files.isEmpty else { throw Complaint(.usage, "--limits takes the results that are to be judged") }
    let sets = try files.map { try ResultSet.read(path: $0) }
    let table = try LimitTable(limits, sets)
    try show(format == .json ? try FactsDocument(table, of: sets).json() : table.text())
    let missed = table.lines.count { $0.verdict == .more }
    guard missed == 0 else {
      throw Complaint(
        .software, "--limits: \(missed) of \(Count.of(limits.count, "limit")) missed, as the lines above say")
    }
  }

  private func showSimulated() throws {
    guard reference == nil, benchmark == nil, metric == nil, !strict, format == .table || format == .json,
      try files.allSatisfy(SimulatedFile.isSimulated)
    else {
      throw Complaint(
        .usage,
        "simulated rows are compared with the default strategy alone: without measured rows beside them, and as table or json"
      )
    }
    let simulated = try files.map { try SimulatedFile(path: $0) }
    try show(
      format == .json
        ? try FactsDocument([], simulated: simulated, reference: nil).json()
        : try SimulatedText(simulated).text(width: TextWidth.columns(of: STDOUT_FILENO)))
  }

  private func compare() throws {
    let reference = reference ?? Program.suite.reference
    guard 1...2 ~= files.count else {
      throw Complaint(.usage, "compare takes one or two CSV files, not \(files.count)")
    }
    let sets = try files.map(read)
    if let complaint = Self.allocatorsDiffer(sets), !acrossAllocators { throw complaint }
    if strict, format == .go || format == .githubActionBenchmark {
      throw Complaint(.usage, "--strict has no meaning for --format \(format.rawValue), which compares nothing")
    }
    if format == .go { return try show(try GoFormat.text(sets)) }
    if format == .githubActionBenchmark {
      guard sets.count == 1 else {
        throw Complaint(
          .usage, "github-action-benchmark takes one CSV file; it compares the results of several runs itself")
      }
      return try show(try GitHubBenchmark.text(sets[0]))
    }
    if let complaint = unknownMetric(sets) { throw complaint }
    let comparison =
      sets.count == 1
      ? try Comparison(sets[0], reference: reference, metrics: try metrics(), seed: seed)
      : try Comparison(before: sets[0], after: sets[1], metrics: try metrics(), seed: seed)
    guard !comparison.lines.isEmpty else {
      throw Complaint(
        .badInput,
        "\(files[0]) has no ratio to show: nothing that --metric asks for was measured both for a subject and for "
          + (sets.count == 1 ? reference : files[1]))
    }
    let report = ComparisonReport(comparison)
    let text =
      switch format {
      case .csv: report.csv()
      case .json: try FactsDocument(comparison, of: sets, reference: self.reference).json()
      case .markdown: report.markdown()
      case .table, .go, .githubActionBenchmark: report.table(width: TextWidth.columns(of: STDOUT_FILENO))
      }
    try show(text)
    for set in sets where set.record == nil {
      Progress().say(
        "\(set.name) has no .env.json beside it: excluded blocks, failures, allocator and conditions are not known")
    }
    if format == .csv {
      for line in comparison.conditions + comparison.apartLines + comparison.missing { Progress().say(line) }
    }
    if strict { try Self.refuse(comparison, of: sets) }
  }

  /// Throws what `--strict` does not let pass.
  static func refuse(_ comparison: Comparison, of sets: [ResultSet]) throws {
    if !comparison.missing.isEmpty {
      throw Complaint(
        .software, "--strict: \(Count.of(comparison.missing.count, "cell")) without a ratio, as the lines above say")
    }
    // What is not known is not equal.
    if let unknown = sets.first(where: { $0.record == nil }) {
      throw Complaint(
        .badInput,
        "--strict: \(unknown.name) has no .env.json beside it, so its failures and its conditions are not known; put the file there"
      )
    }
    if !comparison.conditions.isEmpty {
      throw Complaint(
        .badInput,
        "--strict: the two results differ in their conditions, \(Count.of(comparison.conditions.count, "line")) above")
    }
  }

  /// Names in a result may hold anything, and a terminal would obey what they say.
  private func show(_ text: String) throws {
    let shown = isatty(STDOUT_FILENO) == 1 ? Printable.document(text) : text
    try DescriptorOutput.write(shown, to: STDOUT_FILENO, name: "standard output")
  }

  /// A complaint when no result has a metric that `--metric` matches.
  private func unknownMetric(_ sets: [ResultSet]) -> Complaint? {
    guard let metric, let expression = try? Regex(metric) else { return nil }
    var names: [String] = []
    for name in sets.flatMap(\.rows).map(\.reading.metric.name) where !names.contains(name) { names.append(name) }
    guard !names.contains(where: { (try? expression.wholeMatch(in: $0)) != nil }) else { return nil }
    // A result may have fifty metrics: the names that have the text in them come first.
    let parts = names.filter { $0.contains(metric) }
    let words =
      parts.isEmpty ? Suggestion.words(for: metric, among: names) : "; there are \(parts.joined(separator: ", "))"
    return Complaint(
      .usage, "no metric is '\(metric)' as a whole\(words)\(parts.isEmpty ? "" : "; '.*\(metric).*' is for a part")")
  }

  private func read(_ path: String) throws -> ResultSet {
    let set = try ResultSet.read(path: path)
    guard let benchmark else { return set }
    let expression = try NamePattern.read(benchmark, of: "--benchmark")
    let restricted = set.restricted { $0.contains(expression) }
    guard !restricted.rows.isEmpty else {
      var names: [BenchmarkName] = []
      for name in set.rows.map(\.cell.scenario.name) where !names.contains(name) { names.append(name) }
      throw Complaint(
        .badInput,
        "\(path): no benchmark in it matches '\(benchmark)'\(Suggestion.words(forBenchmark: benchmark, among: names))")
    }
    return restricted
  }

  private func metrics() throws -> Comparison.Metrics {
    guard let metric else { return .primary }
    _ = try NamePattern.read(metric, of: "--metric")
    // A regular expression cannot be shared between threads, but its text can.
    return .matching { name in (try? Regex(metric).wholeMatch(in: name)) != nil }
  }

  /// A complaint when two results have different allocators, because times on different allocators are not the same
  /// measure.
  static func allocatorsDiffer(_ sets: [ResultSet]) -> Complaint? {
    guard sets.count == 2, let first = sets[0].record?.allocatorName, let second = sets[1].record?.allocatorName,
      first != second
    else { return nil }
    return Complaint(
      .badInput,
      "\(sets[0].name) was timed on \(first), \(sets[1].name) on \(second): times are not comparable across allocators; "
        + "--across-allocators compares them all the same")
  }
}
