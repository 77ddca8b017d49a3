import ArgumentParser
import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessWords
import Laboratory
import Subjects
import Workloads

/// `opbench load`: which scheduler carries a load that the user describes.
struct Load: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure which backend carries your load, and until where.",
    discussion: """
      The file has a line 'word = value' for each fact:

        rate = 2000                  # requests per second
        service = exponential 400us  # or fixed, bimodal, pareto; or: file times.csv
        arrivals = poisson           # or bursts, fixed
        urgent = 10 % 200us          # the share of urgent requests, and how long one takes
        deadline = 2ms               # of urgent requests
        blocks = 5 % 20ms            # the share of requests that sleep, and for how long
        tail = 10ms                  # what 999 of 1,000 requests are to stay below
        cpus = 2

      rate and service are needed. Without tail, it is ten times the longest of the mean times.

      Exit codes are those of opbench run.
      """)

  @Argument(help: "The file that describes the load.", completion: .file())
  var file: String

  @Option(
    help: "The subjects to measure, as often as needed or with commas.",
    completion: .custom { SuiteCompletions.subjects(OpbenchSuite(), prefix: $2, withAll: true) })
  var backend: [String] = ["stealing", "threadpool", "dispatch"]

  @Option(
    parsing: .unconditional,
    help: "Worker counts, with commas (default: the CPUs; where requests block, also twice as many).")
  var workers: String?

  @OptionGroup var options: RunOptions

  func run() throws {
    try options.prepare()
    let load = try LoadDescription.read(path: file)
    let cpus = try bind(load)
    guard load.load(cpus: cpus) <= LoadDescription.mostLoad else {
      throw Complaint(
        .badInput,
        "\(file): the requests take \(NumberFormat.percent(load.load(cpus: cpus))) of "
          + "\(Count.of(cpus, "CPU")): no scheduler carries more than \(NumberFormat.percent(LoadDescription.mostLoad))"
      )
    }
    var few = Effort.full.with(blocks: Effort.fewestBlocks)
    few.longBlocks = few.blocks
    var effort = options.effort(full: few, quick: few, usualSeconds: nil)
    // What is recorded of the run says so, too.
    (effort.leadIn, effort.values) = (0, 1)
    var selection = Selection(
      names: backend, benchmark: nil, workers: try counts(load, cpus), effort: effort, seed: options.seed)
    selection.allocator = try options.chosenAllocator()
    selection.startup = RecordedRun.startupSeconds()
    let plan = try selection.plan(of: DescribedLoad(load))
    var planned = PlannedRun(OpbenchSuite(), plan, context: try path())
    let subjects = try selection.subjects(withReferences: false)
    planned.subjects = subjects.map(\.facts)
    planned.reference = subjects[0].name
    planned.strategies = SubjectVariant.facts(of: subjects.map(\.name))
    planned.ending = { [plan] results, width in LoadAnswer(load, results, plan, cpus: cpus).text(width: width) }
    try planned.run(options)
  }

  /// Binds this process to as many CPUs as the file says.
  /// - Returns: how many CPUs the load has.
  private func bind(_ load: LoadDescription) throws -> Int {
    let available = CPUs.available
    guard let cpus = load.cpus, cpus != available else { return available }
    guard cpus < available else {
      throw Complaint(
        .badInput,
        "\(file): cpus is \(cpus), and this process may use \(available); a load is measured on no more CPUs than there are"
      )
    }
    try CPUs.stay(onLast: cpus)
    return cpus
  }

  private func counts(_ load: LoadDescription, _ cpus: Int) throws -> [Int] {
    guard let workers else { return load.blocking == nil ? [cpus] : [cpus, 2 * cpus] }
    return try OptionNumber.workerCounts(workers)
  }

  /// The processes that measure have the same folder. A path with another meaning elsewhere would mislead who reads the
  /// results.
  private func path() throws -> String {
    guard let real = realpath(file, nil) else { throw Complaint(.noInput, "\(file): there is no such load file") }
    defer { free(real) }
    return String(cString: real)
  }
}
