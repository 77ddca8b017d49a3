import ArgumentParser
import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessStatistics
import HarnessWords
import Laboratory
import Simulation
import VirtualScheduling
import Workloads

/// `opbench simulate`: a task graph on up to 1,024 virtual workers.
struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Simulate a task graph on virtual workers, under any strategy.",
    discussion: """
      One thread runs a pool of virtual workers with a virtual clock. The pool decides with the functions of the real pools. \
      What an operation, an edge, a steal and a wake cost comes from a model: opbench calibrate-model measures one here. \
      Everything that comes out is marked as simulated.

      Exit code 0: everything was simulated. 64: the command line is wrong. 65, 66: a file is wrong, or is not there. 73, 74: \
      the output cannot be written. 130: interrupted; nothing is written.
      """)

  @Option(
    help: ArgumentHelp(
      "The graphs, as often as needed or with commas; a WfFormat file ends in .json.",
      discussion: """
        There are \(GraphChoice.names.map(\.name).joined(separator: ", ")). Sizes stand in parentheses: \
        'stencil_1d(width=4p;steps=64)'. A size that ends in p is for each worker.
        """,
      valueName: "graph"))
  var graph: [String] = ["stencil_1d"]

  @Option(
    help: """
      The pools, as often as needed or with commas: 'stealing,stealing(own=lifo),threadpool'. graph is a graph that is run as \
      a whole on the stealing pool, and has an order: 'graph(order=critical-path)'.
      """,
    completion: .list(SimulateOptions.backends))
  var backend: [String] = ["stealing"]

  @Flag(help: "Also every single change of the pools named without a strategy, as ablate tries them.")
  var changes = false

  @Option(parsing: .unconditional, help: "Worker counts, with commas, from 1 to 1024.")
  var workers = "1,2,4,8,16,32,64,128,256,512,1024"

  @Option(
    parsing: .unconditional,
    help: "The mean work of a task, with commas, such as 10us,100us: from 1ns to 1s (default: 10us).")
  var work: String?

  @Flag(help: "Sweep the work of a task, and show METG: the granularity at which workers are busy half of the time.")
  var metg = false

  @Flag(
    help:
      "What the end of a task makes ready is forked, as by join: a worker keeps a fork until another one wants work.")
  var forks = false

  @Flag(help: "One thread adds all tasks first, and that time counts, as in the makespan of dependencies/graph.")
  var adding = false

  @Option(
    help: "The costs, as calibrate-model writes them (default: published ones of a machine with 128 CPUs).",
    completion: .file(extensions: ["json"]))
  var model: String?

  @Option(
    parsing: .unconditional,
    help: "How many workers share a group of CPUs, within which a steal is cheap (default: what the model says).",
    transform: OptionNumber.count(in: 1...1_024))
  var group: Int?

  @Option(
    parsing: .unconditional, help: "How many workers a socket has: whole groups (default: what the model says).",
    transform: OptionNumber.count(in: 1...1_024))
  var socket: Int?

  @Option(parsing: .unconditional, help: "The first seed of every random choice.", transform: OptionNumber.seed)
  var seed: UInt64 = 1

  @Option(
    parsing: .unconditional, help: "How many seeds each cell is simulated with.",
    transform: OptionNumber.count(in: OptionNumber.efforts))
  var repeats = 3

  @Option(
    help: "Where to write the CSV; - is standard output, and then the table goes to standard error.",
    completion: .file(extensions: ["csv"]))
  var output: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only this part of the plan, as 3/20: some graphs with some worker counts.",
      discussion: "Needs --output FILE.csv. The seed says which cells a shard has; merge puts the shards together.",
      valueName: "k/n"),
    transform: OptionNumber.shard)
  var shard: Shard?

  @Option(
    name: .customLong("plan"), parsing: .unconditional,
    help: ArgumentHelp(
      "With --shard: the file of the campaign's plan, which the shard that begins first writes.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var planFile: String?

  @Flag(help: "Replace the file of --output.")
  var overwrite = false

  @Flag(help: "Say what would be simulated, and stop.")
  var dryRun = false

  func run() throws {
    let plan = try plan()
    let destination = try destination()
    let progress = Progress()
    for remark in plan.graphs.flatMap(\.remarks) { progress.say(remark) }
    if dryRun { return try write(SimulateOptions.description(of: plan), to: STDOUT_FILENO) }
    var record = plan.record(arguments: CommandLine.arguments, source: OpbenchSuite().source)
    if let planFile { try CampaignPlan(record)!.fix(planFile, goingOnWith: nil) }
    Interrupt.install()
    var table = SimulationTable()
    var rows = ""
    var done = 0
    let start = Clock.now()
    try plan.run { cell, seed, result in
      table.add(cell, result)
      rows += SimulationRows.line(cell, seed: seed, model: plan.model.name, result)
      done += 1
      let elapsed = Double(Clock.now() - start) / 1e9
      progress.show(
        done: done, total: plan.runCount, what: "\(cell.graph) \(cell.backend)@\(cell.workers)",
        secondsLeft: elapsed / Double(done) * Double(plan.runCount - done))
      if Interrupt.isRequested {
        progress.clear()
        progress.say("interrupted: nothing is written")
        destination.discard()
        throw ExitCode(128 + SIGINT)
      }
    }
    progress.clear()
    record.outcome.seconds = Double(Clock.now() - start) / 1e9
    record.outcome.rowCount = done
    try destination.write(whole: rows, header: SimulationRows.header, record)
    try write(table.text(model: plan.model, sweeps: metg), to: destination.tableDescriptor)
  }

  /// The place of the rows: nowhere unless the user names one.
  private func destination() throws -> Destination {
    guard let csv = output, csv != Destination.standardOutputName else {
      if overwrite { throw Complaint(.usage, "--overwrite needs --output FILE.csv: the CSV of the result to replace") }
      return output == nil ? .nowhere : .standardOutput
    }
    return .files(try ResultFiles(csv: csv, header: SimulationRows.header, mayReplace: overwrite), name: csv)
  }

  private func write(_ text: String, to descriptor: Int32) throws {
    let name = descriptor == STDERR_FILENO ? "standard error" : "standard output"
    try DescriptorOutput.write(text, to: descriptor, name: name)
  }

  private func plan() throws -> SimulationPlan {
    let graphs = try graph.flatMap(SimulateOptions.names).map { try GraphChoice($0, seed: seed) }
    guard !graphs.isEmpty else { throw Complaint(.usage, "--graph needs a name; opbench simulate --help has them") }
    if let twin = graphs.enumerated().first(where: { graphs[..<$0].contains($1) })?.element {
      throw Complaint(.usage, "--graph has '\(twin)' twice: two lines of the table could not be told apart")
    }
    guard seed <= UInt64.max - UInt64(repeats) else {
      throw Complaint(.usage, "--seed \(seed) leaves no room for \(repeats) seeds")
    }
    if metg, let work {
      throw Complaint(
        .usage, "--metg sweeps the work of a task, so --work \(work) has no place beside it: leave one out")
    }
    let model = try self.model.map(CostModel.read) ?? .manyCPUs
    var plan = SimulationPlan(
      graphs: graphs, works: try SimulateOptions.works(work ?? "10us"),
      backends: try SimulatedBackend.list(backend, withChanges: changes, forks: forks),
      workers: try OptionNumber.workerCounts(workers).sorted(), seeds: (0..<UInt64(repeats)).map { seed + $0 },
      graphSeed: seed, model: model,
      topology: try SimulateOptions.topology(group: group, socket: socket, of: model.machine))
    plan.countsAdding = adding
    plan.forks = forks
    plan.sweeps = metg
    plan.shard = shard
    if planFile != nil, shard == nil || dryRun {
      throw Complaint(
        .usage,
        "--plan needs --shard K/N\(dryRun ? ", and a dry run fixes no plan" : ""): it is what the shards of a campaign share"
      )
    }
    if let shard {
      guard shard.count <= plan.shardedCells else {
        throw Complaint(
          .usage,
          "--shard \(shard): the plan has \(Count.of(plan.shardedCells, "cell")) (graphs by worker counts), so that many shards "
            + "at most")
      }
      guard dryRun || output.map({ $0 != "-" }) == true else {
        throw Complaint(.usage, "--shard \(shard) needs --output FILE.csv, which merge reads")
      }
    }
    return plan
  }
}
