import ArgumentParser
import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessStatistics
import HarnessWords
import Laboratory
import Simulation
import Subjects
import Workloads

/// `opbench explain`: where the time of a benchmark goes, and what each part of the scheduler is worth.
struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say where the time of a benchmark goes, and what a cheaper part of the scheduler would give.",
    discussion: """
      First the time of the backend's threads, by what they do. Then what each part is worth: delays of a known size are \
      injected where the part stands, in processes of their own, and the makespan's change is measured in paired blocks. What a \
      delay costs, an equal saving gives, as long as the schedule stays the same (Curtsinger and Berger, Coz, SOSP 2015). For \
      graphs of dependencies/graph the simulator says the same of its model.

      Exit code 0: all is explained. 64: the command line is wrong. 70: a process failed. 73, 74: the output cannot be \
      written. 130: interrupted.
      """)

  @Argument(
    help: "A benchmark with its parameters, as a regular expression that one line of list matches.",
    completion: .custom { _, _, _ in SuiteCompletions.benchmarks(OpbenchSuite()) })
  var benchmark: String

  @Option(help: "The backend, with or without a strategy: stealing, threadpool or dispatch.")
  var backend = "stealing"

  @Option(
    parsing: .unconditional, help: "The number of workers (default: the CPUs this process may use).",
    transform: OptionNumber.count(in: 1...1_024))
  var workers: Int?

  @Option(
    parsing: .unconditional, help: "Blocks: processes of each part, in turns.",
    transform: OptionNumber.count(in: Effort.fewestBlocks...1_000))
  var blocks = 20

  @Option(
    help: "The costs of the simulator, as calibrate-model writes them (default: a built-in model).",
    completion: .file(extensions: ["json"]))
  var model: String?

  @Option(parsing: .unconditional, help: "The seed of every random choice.", transform: OptionNumber.seed)
  var seed: UInt64 = 1

  @Option(help: "Where to write the numbers as CSV.", completion: .file(extensions: ["csv"]))
  var output: String?

  @Flag(help: "Replace the file of --output.")
  var overwrite = false

  func run() throws {
    if let output {
      try ResultFiles.checkPlace(output, mayReplace: overwrite, holding: "holds a finished result")
    }
    let model = try self.model.map(CostModel.read) ?? .builtIn
    let cell = try cell()
    Interrupt.install()
    let progress = Progress()
    for warning in MachineWarnings.before() { progress.say(warning) }
    let study = try Study(cell, seed: seed, blocks: blocks, progress)
    let explanation = Explanation(study, Forecast(cell, study, model, seed: seed))
    let width = TextWidth.columns(of: STDOUT_FILENO)
    try DescriptorOutput.write(explanation.text(width: width), to: STDOUT_FILENO, name: "standard output")
    if let output { try ResultFiles.replace(output, with: explanation.csv, syncs: true) }
  }

  /// The one cell that the user means.
  private func cell() throws -> CellKey {
    let variant = try SubjectVariant(backend)
    let own = OwnBackends.choices.map { $0.name }
    guard own.contains(variant.subject) else {
      throw Complaint(.usage, "explain looks into our own backends: \(own.joined(separator: ", ")); not \(backend)")
    }
    let choices = try BenchmarkChoice.all(Catalogue(graphs: [], seed: seed), matching: benchmark, option: "explain")
    let all = choices.flatMap { choice in
      (choice.parameterSets + choice.variants).map { (workload: choice.workload, parameters: $0) }
    }
    guard all.count == 1, let only = all.first else {
      let names = all.prefix(3).map { "'\($0.workload.name) \($0.parameters)'" }.joined(separator: ", ")
      throw Complaint(
        .usage,
        "explain takes one benchmark with one set of parameters; '\(benchmark)' matches \(all.count): \(names)\(all.count > 3 ? " …" : "")"
      )
    }
    guard case .calibrated = only.workload.repeats(only.parameters),
      Metric.primaryTime(of: only.workload.metrics) != nil
    else {
      throw Complaint(.usage, "\(only.workload.name) has no time of its own to explain, only samples or counts")
    }
    return CellKey(
      Scenario(only.workload.name, only.parameters), Arm(subject: backend, workers: workers ?? CPUs.available))
  }
}

/// The processes of an explanation, and what they found.
struct Study {
  let cell: CellKey
  /// The delay of each part, in nanoseconds.
  let delays: [StudiedPart: Int]
  /// The medians of each process without a delay, by metric.
  let plain: [[Metric: Double]]
  let time: Metric
  /// By part, the logarithm of the ratio to the process without a delay of the same block.
  let ratios: [StudiedPart: [Double]]
  /// The ratios of a process that is studied to one that is not.
  let ofProbes: [Double]
  let repeats: Int

  /// A delay is chosen so that the busy threads of all workers would take this share longer.
  private static let share = 0.1
  private static let shortest = 100
  private static let longest = 100_000
  private static let leadIn: UInt64 = 20_000_000
  private static let target: UInt64 = 20_000_000

  init(_ cell: CellKey, seed: UInt64, blocks: Int, _ progress: Progress) throws {
    self.cell = cell
    let suite = OpbenchSuite()
    let spin = Spin.calibrated()
    func launch(_ mode: MeasureRequest.Mode, _ environment: [String: String], _ seed: UInt64) throws -> [ResultLine] {
      try suite.results(of: cell, mode, environment: environment, seed: seed, spin: spin)
    }
    var repeats = 1
    for case .repeats(let count) in try launch(
      .calibrate(target: Self.target, limit: .max, leadIn: Self.leadIn), [:], seed)
    { repeats = max(1, count) }
    self.repeats = repeats
    func numbers(_ environment: [String: String], _ seed: UInt64) throws -> [Metric: Double] {
      var values: [Metric: [Double]] = [:]
      for case .reading(_, let reading) in try launch(
        .time(repeats: repeats, values: 3, leadIn: Self.leadIn), environment, seed)
      { values[reading.metric, default: []].append(reading.value) }
      // Sums stay sums: the numbers of a study are means.
      return Dictionary(
        uniqueKeysWithValues: values.map { metric, own in
          let isStudied = metric.name.hasPrefix("study_")
          return (metric, isStudied ? own.reduce(0, +) / Double(own.count) : Statistics.median(own))
        })
    }
    let first = try numbers(StudiedTrial.environment([:]), seed)
    guard let time = Metric.primaryTime(of: first.keys.filter { !$0.name.hasPrefix("study_") }) else {
      throw Complaint(.software, "\(cell) gave no time")
    }
    self.time = time
    var delays: [StudiedPart: Int] = [:]
    for part in StudiedPart.allCases {
      // A part that hardly comes has no worth that can be measured.
      guard let count = first[part.count], count >= Double(repeats), let elapsed = first[StudiedTrial.elapsed] else {
        continue
      }
      let delay = Self.share * elapsed * Double(cell.arm.workers) / count
      delays[part] = max(Self.shortest, min(Self.longest, Int(delay)))
    }
    self.delays = delays
    var plain: [[Metric: Double]] = []
    var ratios: [StudiedPart: [Double]] = [:]
    var ofProbes: [Double] = []
    let arms: [StudiedPart?] = StudiedPart.allCases.filter { delays[$0] != nil }
    let start = Clock.now()
    for block in 1...blocks {
      var random = SeededGenerator(seed: seed, purpose: "explain-\(block)")
      let own = seed &+ UInt64(block)
      let base = try numbers(StudiedTrial.environment([:]), own)
      let bare = try numbers([:], own)
      plain.append(base)
      if let ratio = Pairing.logarithm(base[time] ?? 0, over: bare[time] ?? 0) { ofProbes.append(ratio) }
      for case let part? in arms.shuffled(using: &random) {
        let delayed = try numbers(StudiedTrial.environment([part: delays[part]!]), own)
        if let ratio = Pairing.logarithm(delayed[time] ?? 0, over: base[time] ?? 0) {
          ratios[part, default: []].append(ratio)
        }
      }
      let elapsed = Double(Clock.now() - start) / 1e9
      progress.show(
        done: block, total: blocks, what: "\(cell)", secondsLeft: elapsed / Double(block) * Double(blocks - block))
    }
    progress.clear()
    (self.plain, self.ratios, self.ofProbes) = (plain, ratios, ofProbes)
  }

  func median(_ metric: Metric) -> Double { Statistics.median(plain.map { $0[metric] ?? 0 }) }

  /// How often a part comes in a repeat.
  func count(_ part: StudiedPart) -> Double { median(part.count) / Double(repeats) }

  /// The time of a repeat, in nanoseconds.
  var elapsed: Double { median(StudiedTrial.elapsed) / Double(repeats) }

  /// By how many per cent the time changes for 100 ns more of the part, with its interval.
  func slope(_ part: StudiedPart) -> Estimate? {
    guard let delay = delays[part], let ratios = ratios[part], !ratios.isEmpty,
      let ratio = Pairing.ratio(ratios)
    else { return nil }
    func per100(_ value: Double) -> Double { 100 * (value - 1) * 100 / Double(delay) }
    return Estimate(
      median: per100(ratio.median), interval: ratio.interval.map { per100($0.lowerBound)...per100($0.upperBound) },
      count: ratio.count)
  }

  /// By how many per cent the time would change if no delay overlapped with anything, and all workers shared it evenly.
  func evenSlope(_ part: StudiedPart) -> Double {
    100 * count(part) * 100 / (elapsed * Double(cell.arm.workers))
  }
}
